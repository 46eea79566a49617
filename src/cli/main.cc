// tilusc: the command-line tool, written on tilus.h alone.
#include <cstdio>
#include <cstring>
#include <new>

#include "cli/api.h"
#include "cli/cat.h"
#include "cli/tool.h"

namespace tilus::cli {
namespace {

std::string VersionText() {
  const uint32_t version = tilus_version();
  return Cat("tilusc ", version >> 16, ".", version >> 8 & 0xff, ".", version & 0xff, "\n",
             View(tilus_build_info()));
}

void AddCommands(CLI::App* app, Tool* tool) {
  AddCompileCommand(app, tool);
  AddProgramCommands(app, tool);
  AddRunCommand(app, tool);
  CLI::App* layout = AddCommand(app, "layout", "Compute with register layouts", "");
  layout->require_subcommand(1);
  AddLayoutCommands(layout, tool);
  AddViewCommand(layout, tool);
  AddConflictsCommand(layout, tool);
  CLI::App* type = AddCommand(app, "type", "List element types and convert codes", "");
  type->require_subcommand(1);
  AddTypeCommands(type, tool);
  AddPackCommands(app, tool);
  CLI::App* bench = AddCommand(app, "bench", "Measure the compiler", "");
  bench->require_subcommand(1);
  AddBenchCommands(bench, tool);
  AddDisasmCommand(app, tool);
  AddInventoryCommands(app, tool);
}

// "tilusc layout view": as far as the command line was understood.
std::string CommandName(const CLI::App& app) {
  std::string name = "tilusc";
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return name;
}

Exit Report(const Failure& failure, Tool& tool) {
  for (const Finding& finding : failure.findings) tool.findings.Add(finding);
  return failure.exit;
}

Exit ReportUsage(const std::string& message, const CLI::App& app, Tool& tool) {
  try {
    Fail(Exit::kUsage, Id::kUsage, message, Cat("see ", CommandName(app), " --help"));
  } catch (const Failure& failure) {
    return Report(failure, tool);
  }
}

// Reads the command line and does what it says.
Exit Run(int argc, char** argv, CLI::App& app, Tool& tool) {
  try {
    app.parse(argc, argv);
    tool.run();
    FlushAnswer();
    return Exit::kAnswer;
  } catch (const CLI::CallForHelp&) {
    Print(app.help());
    FlushAnswer();
    return Exit::kAnswer;
  } catch (const CLI::CallForVersion& version) {
    PrintLine(version.what());
    FlushAnswer();
    return Exit::kAnswer;
  } catch (const CLI::ParseError& error) {
    return ReportUsage(error.what(), app, tool);
  }
}

Exit Main(int argc, char** argv) {
  Tool tool;
  // Known before the rest is, so that faults of the rest are reported in the form asked for.
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) tool.findings.SetForm(FindingsAs::kJson);
  }
  CLI::App app("Compile, run and inspect tile-level GPU programs.", "tilusc");
  app.set_version_flag("--version", VersionText);
  app.require_subcommand(1);
  // Arguments are named by what they stand for; that they are text says nothing.
  for (const char* word : {"TEXT", "REQUIRED"}) app.get_formatter()->label(word, "");
  app.footer(
      "Exit codes: 0 an answer was given, 1 the input is at fault, 2 the command line is,\n"
      "3 the environment is (file, device, assembler). Files named - are stdin or stdout.");
  AddCommands(&app, &tool);
  Exit exit;
  try {
    exit = Run(argc, argv, app, tool);
  } catch (const Failure& failure) {
    std::fflush(stdout);
    exit = Report(failure, tool);
  } catch (const std::bad_alloc&) {
    std::fputs("error[T0002]: memory could not be allocated\n", stderr);
    exit = Exit::kEnvironment;
  }
  tool.findings.Finish();
  return exit;
}

}  // namespace
}  // namespace tilus::cli

int main(int argc, char** argv) { return static_cast<int>(tilus::cli::Main(argc, argv)); }

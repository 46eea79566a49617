// tilusc verify | print
#include <nlohmann/json.hpp>

#include "cli/cat.h"
#include "cli/files.h"
#include "cli/program_input.h"

namespace tilus::cli {
namespace {

struct VerifyOptions {
  std::string program;
};

Program ReadProgram(const Session& session, const ProgramInput& input) {
  return Make<Program>(tilus_program_read, session.context(), input.buffer(), Text(input.source));
}

void Verify(const VerifyOptions& options, Tool& tool) {
  const Session session(tool);
  const ProgramInput input =
      ReadProgramOnly(session, options.program, "whose program was verified before");
  const Program program = ReadProgram(session, input);
  Check(tilus_program_verify(program.get()));
  if (!tool.json) return;
  std::vector<std::string> kernels;
  for (size_t i = 0; i < tilus_program_kernel_count(program.get()); ++i) {
    kernels.emplace_back(View(tilus_program_kernel_name(program.get(), i)));
  }
  PrintJson({{"valid", true}, {"kernels", kernels}});
}

struct PrintOptions {
  std::string program;
  std::string emit = "text";
  std::string output;
};

struct ProgramForm {
  const char* name;
  tilus_error* (*write)(const tilus_program*, tilus_blob**);
  tilus_image image;
};

constexpr ProgramForm kProgramForms[] = {
    {"text", tilus_program_print, TILUS_IMAGE_TEXT},
    {"proto", tilus_program_encode, TILUS_IMAGE_PROTOBUF},
    {"json", tilus_program_json, TILUS_IMAGE_JSON},
};

const ProgramForm& ProgramFormOf(const std::string& name) {
  for (const ProgramForm& form : kProgramForms) {
    if (name == form.name) return form;
  }
  Fail(Exit::kUsage, Id::kNoSuchForm, Cat("--emit: there is no form \"", name, "\""),
       "the forms are text, proto, json");
}

void PrintProgram(const PrintOptions& options, Tool& tool) {
  const ProgramForm& form = ProgramFormOf(options.emit);
  const Session session(tool);
  const ProgramInput input = ReadProgramInput(session, options.program);
  const std::string output = options.output.empty() ? "-" : options.output;
  if (input.IsModule()) {
    const Module module = ModuleOf(session, input, OptionsFor(input, {}));
    WriteFile(output, ImageOf(module.get(), form.image, ""));
    return;
  }
  const Program program = ReadProgram(session, input);
  WriteFile(output, View(Make<Blob>(form.write, program.get())));
}

}  // namespace

void AddProgramCommands(CLI::App* parent, Tool* tool) {
  auto verify = std::make_shared<VerifyOptions>();
  CLI::App* app =
      AddCommand(parent, "verify", "Check a program and report every fault",
                 "  tilusc verify matmul.tilus\n  tilusc verify --json - < matmul.tilus");
  app->add_option("P", verify->program, "A program, text or protobuf; - for stdin")->required();
  RunWith(tool, app, verify, Verify);

  auto print = std::make_shared<PrintOptions>();
  app = AddCommand(parent, "print", "Print a program as text, protobuf or JSON",
                   "  tilusc print matmul.pb\n"
                   "  tilusc print matmul.tilus --emit proto -o matmul.pb");
  app->add_option("P", print->program, "A program, text or protobuf, or a module; - for stdin")
      ->required();
  app->add_option("--emit", print->emit, "text (default), proto or json")->option_text("FORM");
  app->add_option("-o,--output", print->output, "Write FILE instead of stdout")
      ->option_text("FILE");
  RunWith(tool, app, print, PrintProgram);
}

}  // namespace tilus::cli

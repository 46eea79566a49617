#include "cli/program_input.h"

#include "cli/cat.h"
#include "cli/files.h"

namespace tilus::cli {
namespace {

constexpr std::string_view kModuleMagic = "TILUSMOD";  // tilus.h, section 8

}  // namespace

// The two callbacks are called from C: what they throw must not get out.
void Session::Log(void* user, const tilus_diagnostic* entry) try {
  static_cast<Session*>(user)->tool_.findings.Add(FindingOf(*entry));
} catch (...) {
}

tilus_code Session::Print(void* user, tilus_string text) try {
  auto* session = static_cast<Session*>(user);
  if (session->printed_ == Printed::kKept) {
    session->printed_text_ += View(text);
  } else {
    cli::Print(View(text));
  }
  return TILUS_OK;
} catch (...) {
  return TILUS_RESOURCE_EXHAUSTED;
}

Session::Session(Tool& tool, Printed printed) : tool_(tool), printed_(printed) {
  const ContextOptions options = Make<ContextOptions>(tilus_context_options_create);
  // A command compiles once, and a measurement must not find what an earlier round left.
  Check(tilus_context_options_set_memory_cache(options.get(), 0));
  Check(tilus_context_options_set_log(options.get(), Log, this, nullptr));
  Check(tilus_context_options_set_print(options.get(), Print, this, nullptr));
  context_ = Make<Context>(tilus_context_create, options.get());
}

bool ProgramInput::IsModule() const {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, kModuleMagic.size()) == kModuleMagic;
}

ProgramInput ReadProgramInput(const Session& session, const std::string& path) {
  ProgramInput input;
  input.source = SourceName(path);
  // One byte more than the limit is read, so that the library sees that there are too many; a
  // module may be larger than a program, but is not read in pieces either.
  input.bytes = ReadFile(path, tilus_context_limit(session.context(), TILUS_LIMIT_BYTES));
  if (input.IsModule() && path != "-") input.bytes = ReadFile(path);
  return input;
}

ProgramInput ReadProgramOnly(const Session& session, const std::string& path, const char* why) {
  ProgramInput input = ReadProgramInput(session, path);
  if (input.IsModule()) {
    Fail(Exit::kInput, Id::kModuleInput, Cat("it is a compiled module, ", why),
         "tilusc print gives the program of a module", input.source);
  }
  return input;
}

CompileOptions OptionsFor(const ProgramInput& input, const std::vector<std::string>& targets) {
  CompileOptions options = Make<CompileOptions>(tilus_compile_options_create);
  Check(tilus_compile_options_set_source_name(options.get(), Text(input.source)));
  for (const std::string& target : targets) {
    CheckOr(Exit::kUsage, tilus_compile_options_add_target(options.get(), Text(target)));
  }
  return options;
}

Module ModuleOf(const Session& session, const ProgramInput& input, const CompileOptions& options) {
  if (input.IsModule()) {
    return Make<Module>(tilus_module_restore, session.context(), input.buffer());
  }
  return Make<Module>(tilus_compile_with, session.context(), input.buffer(), options.get());
}

void AddTargetOption(CLI::App* app, std::vector<std::string>* targets) {
  app->add_option("--target", *targets,
                  "Compile for this target (see tilusc targets); may be repeated. By default the "
                  "lowest that the program allows")
      ->option_text("TARGET ...")
      ->allow_extra_args(false)
      ->delimiter(',');
}

std::vector<std::string> KernelNames(const tilus_module* module) {
  std::vector<std::string> names;
  for (size_t i = 0; i < tilus_module_kernel_count(module); ++i) {
    names.emplace_back(View(tilus_module_kernel_name(module, i)));
  }
  return names;
}

std::vector<std::string> TargetNames(const tilus_module* module) {
  std::vector<std::string> names;
  for (size_t i = 0; i < tilus_module_target_count(module); ++i) {
    names.emplace_back(View(tilus_module_target_name(module, i)));
  }
  return names;
}

std::string ImageOf(const tilus_module* module, tilus_image image, std::string_view target) {
  return std::string(View(Make<Blob>(tilus_module_image, module, image, Text(target))));
}

}  // namespace tilus::cli

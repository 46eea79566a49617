// tilusc compile: a program to a module, or to one of the forms that it goes through.
#include <nlohmann/json.hpp>

#include "cli/cat.h"
#include "cli/files.h"
#include "cli/program_input.h"

namespace tilus::cli {
namespace {

struct CompileCommand {
  std::string program;
  std::string output;
  std::vector<std::string> targets;
  std::string emit;
  std::string print_after;
  bool contract = false;
  bool assemble = false;
};

// Whether a module has one form, or one for each target.
enum class Per { kModule, kTarget };

struct Form {
  const char* name;
  tilus_image image;
  Per per;
};

constexpr Form kForms[] = {
    {"ptx", TILUS_IMAGE_PTX, Per::kTarget},
    {"cubin", TILUS_IMAGE_CUBIN, Per::kTarget},
    {"tir", TILUS_IMAGE_THREAD_LEVEL, Per::kTarget},
    {"text", TILUS_IMAGE_TEXT, Per::kModule},
    {"proto", TILUS_IMAGE_PROTOBUF, Per::kModule},
    {"json", TILUS_IMAGE_JSON, Per::kModule},
};

const Form& FormOf(const std::string& name) {
  for (const Form& form : kForms) {
    if (name == form.name) return form;
  }
  std::string names;
  for (const Form& form : kForms) names += Cat(names.empty() ? "" : ", ", form.name);
  Fail(Exit::kUsage, Id::kNoSuchForm, Cat("--emit: there is no form \"", name, "\""),
       Cat("the forms are ", names));
}

constexpr std::string_view kTargetMark = "{target}";

// What each target's file is called: --output with {target} replaced.
std::string FileFor(const std::string& output, const std::string& target) {
  const size_t at = output.find(kTargetMark);
  if (at == std::string::npos) return output;
  return std::string(output).replace(at, kTargetMark.size(), target);
}

// Compiles, while `--print-after` prints.
class Compilation {
 public:
  Compilation(const CompileCommand& command, std::FILE* dump_to, Tool& tool)
      : session_(tool), dump_to_(dump_to) {
    const ProgramInput input = ReadProgramInput(session_, command.program);
    const CompileOptions options = OptionsFor(input, command.targets);
    if (command.contract) Check(tilus_compile_options_allow_contraction(options.get()));
    if (command.assemble) {
      Check(tilus_compile_options_set_assembly(options.get(), TILUS_ASSEMBLY_NOW));
    }
    if (!command.print_after.empty()) {
      CheckOr(Exit::kUsage,
              tilus_compile_options_set_dump(options.get(), Text(command.print_after), Dump, this,
                                             nullptr));
    }
    module_ = ModuleOf(session_, input, options);
  }

  const tilus_module* module() const { return module_.get(); }

 private:
  static tilus_code Dump(void* user, tilus_string kernel, tilus_string pass, tilus_string text) {
    std::FILE* out = static_cast<Compilation*>(user)->dump_to_;
    std::fprintf(out, "; %s after %s\n%s\n", kernel.data, pass.data, text.data);
    return TILUS_OK;
  }

  Session session_;
  std::FILE* dump_to_;
  Module module_;
};

// The targets asked for, each of which the module must have; all of its targets by default.
std::vector<std::string> WantedTargets(const CompileCommand& command, const tilus_module* module) {
  return command.targets.empty() ? TargetNames(module) : command.targets;
}

void WriteForm(const CompileCommand& command, const Form& form, const tilus_module* module) {
  const std::string output = command.output.empty() ? "-" : command.output;
  if (form.per == Per::kModule) {
    WriteFile(output, ImageOf(module, form.image, ""));
    return;
  }
  const std::vector<std::string> targets = WantedTargets(command, module);
  if (targets.size() > 1 && output.find(kTargetMark) == std::string::npos) {
    Fail(Exit::kUsage, Id::kUsage,
         Cat("there are ", targets.size(), " targets, each with its own ", form.name),
         "put {target} into the name after -o, or name one target");
  }
  std::vector<StagedFile> files;
  for (const std::string& target : targets) {
    const std::string image = ImageOf(module, form.image, target);
    if (output == "-") {
      Print(image);
    } else {
      files.emplace_back(FileFor(output, target), image);
    }
  }
  for (StagedFile& file : files) file.Commit();
}

void PrintSummary(const CompileCommand& command, const tilus_module* module) {
  Json stages = Json::object();
  for (size_t i = 0; i < tilus_module_stage_count(module); ++i) {
    auto stage = Sized<tilus_stage>();
    tilus_module_stage(module, i, &stage);
    stages[std::string(View(stage.name))] = stage.microseconds / 1000.0;
  }
  PrintJson({{"output", command.output},
             {"kernels", KernelNames(module)},
             {"targets", TargetNames(module)},
             {"stages", std::move(stages)}});
}

void Compile(const CompileCommand& command, Tool& tool) {
  const Form* form = command.emit.empty() ? nullptr : &FormOf(command.emit);
  const bool answer_on_stdout = command.output.empty() || command.output == "-";
  if (form == nullptr && command.output.empty() && command.print_after.empty()) form = &kForms[0];
  if (form != nullptr && answer_on_stdout && IsTerminal(Stream::kAnswer) &&
      (form->image == TILUS_IMAGE_CUBIN || form->image == TILUS_IMAGE_PROTOBUF)) {
    Fail(Exit::kUsage, Id::kUsage, Cat(form->name, " is binary and is not written to a terminal"),
         "name a file with -o");
  }
  std::FILE* dump_to = form != nullptr && answer_on_stdout ? stderr : stdout;
  const Compilation compilation(command, dump_to, tool);
  if (form != nullptr) {
    WriteForm(command, *form, compilation.module());
  } else if (!command.output.empty()) {
    WriteFile(command.output, View(Make<Blob>(tilus_module_save, compilation.module())));
  }
  if (tool.json && !answer_on_stdout) PrintSummary(command, compilation.module());
}

}  // namespace

void AddCompileCommand(CLI::App* parent, Tool* tool) {
  auto options = std::make_shared<CompileCommand>();
  CLI::App* app = AddCommand(
      parent, "compile", "Compile a program to a module, or to PTX and other forms",
      "  tilusc compile matmul.tilus -o matmul.module --target sm_80 --target sm_90a\n"
      "  tilusc compile matmul.tilus --emit ptx\n"
      "  tilusc compile matmul.tilus --emit cubin -o 'matmul.{target}.cubin' --target sm_86,sm_89\n"
      "  tilusc compile matmul.tilus --print-after all");
  app->add_option("P", options->program, "A program, text or protobuf, or a module; - for stdin")
      ->required();
  app->add_option("-o,--output", options->output,
                  "Write FILE: the module, or what --emit names (- for stdout). Without -o and "
                  "--emit, PTX goes to stdout")
      ->option_text("FILE");
  AddTargetOption(app, &options->targets);
  app->add_option("--emit", options->emit,
                  "ptx, cubin, tir (thread-level code), text, proto or json; to stdout without -o")
      ->option_text("FORM");
  app->add_option("--print-after", options->print_after,
                  "Print what a pass leaves, or each with all; to stderr where --emit prints")
      ->option_text("PASS|all");
  app->add_flag("--assemble", options->assemble,
                "Make the cubins now, and keep them in the module");
  app->add_flag("--contract", options->contract, "Allow a * b + c to become one fused operation");
  RunWith(tool, app, options, Compile);
}

}  // namespace tilus::cli

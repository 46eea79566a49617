// The program that a command works on, and the context that it does so in.
#pragma once

#include <string>
#include <vector>

#include "cli/api.h"
#include "cli/tool.h"

namespace tilus::cli {

// Where the text goes that kernels print.
enum class Printed { kToStdout, kKept };

// A context whose warnings become findings of the tool. The tool outlives it.
class Session {
 public:
  explicit Session(Tool& tool, Printed printed = Printed::kToStdout);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  tilus_context* context() const { return context_.get(); }
  // What kernels have printed, where it is kept.
  const std::string& printed() const { return printed_text_; }

 private:
  static void Log(void* user, const tilus_diagnostic* entry);
  static tilus_code Print(void* user, tilus_string text);

  Tool& tool_;
  Printed printed_;
  std::string printed_text_;
  Context context_;
};

// A file that holds programs as text or protobuf, or a saved module; "-" is stdin.
struct ProgramInput {
  std::string source;  // what findings call it
  std::vector<uint8_t> bytes;

  tilus_buffer buffer() const { return {bytes.data(), bytes.size()}; }
  bool IsModule() const;
};

ProgramInput ReadProgramInput(const Session& session, const std::string& path);
// The same where a module will not do; `why` ends the sentence "it is a compiled module, ...".
ProgramInput ReadProgramOnly(const Session& session, const std::string& path, const char* why);

// Options that name the input as findings are to call it.
CompileOptions OptionsFor(const ProgramInput& input, const std::vector<std::string>& targets);

// The input compiled under the options; a saved module is restored, and the options not looked at.
Module ModuleOf(const Session& session, const ProgramInput& input, const CompileOptions& options);

// --target, repeatable.
void AddTargetOption(CLI::App* app, std::vector<std::string>* targets);

std::vector<std::string> KernelNames(const tilus_module* module);
std::vector<std::string> TargetNames(const tilus_module* module);
std::string ImageOf(const tilus_module* module, tilus_image image, std::string_view target);

}  // namespace tilus::cli

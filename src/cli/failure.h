// What ends a command without an answer.
//
// CLI11 reports by exceptions, so the tool does as well: a command throws a Failure, which main
// alone catches, reports and turns into the exit code. Nothing is thrown through a callback that
// libtilus calls.
#pragma once

#include <tilus.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tilus::cli {

// The exit codes, a promise to scripts.
enum class Exit : int {
  kAnswer = 0,
  kInput = 1,        // a program, expression, type, array or value is at fault
  kUsage = 2,        // the command line is not as --help says
  kEnvironment = 3,  // a file, device or assembler is not there or fails
};

// The findings of the tool itself: rows of 900 to 999 in src/base/diagnostic_ids.def.
enum class Id : int {
  kUsage = 900,
  kFileRead = 901,
  kFileWrite = 902,
  kNpyFormat = 903,
  kArrayType = 904,
  kArrayShape = 905,
  kArgumentName = 906,
  kArgumentValue = 907,
  kTooLargeToPrint = 908,
  kLayoutsDiffer = 909,
  kNoDisassembler = 910,
  kDisassemblerFailed = 911,
  kNoSuchForm = 912,
  kModuleInput = 913,
  kKernelChoice = 914,
};

// One finding, of the library or of the tool. Texts are empty, numbers 0, where not known.
struct Finding {
  tilus_severity severity = TILUS_SEVERITY_ERROR;
  std::string id;
  std::string message;
  std::string hint;
  std::string path;
  std::string source;
  std::string excerpt;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t length = 0;
};

Finding FindingOf(const tilus_diagnostic& diagnostic);

struct Failure {
  Exit exit = Exit::kInput;
  std::vector<Finding> findings;
};

// Throws a Failure of one finding of the tool itself.
[[noreturn]] void Fail(Exit exit, Id id, std::string message, std::string hint = {},
                       std::string source = {});

// Does nothing for NULL; else destroys the error and throws a Failure of its diagnostics, with the
// exit code that its code stands for, or `exit`.
void Check(tilus_error* error);
void CheckOr(Exit exit, tilus_error* error);

}  // namespace tilus::cli

// Diagnostics: what a user is told when something is at fault.
//
// Inside the library an error is an absl::Status. One that a user can mend carries one or more
// Diagnostics, each with a stable id from diagnostic_ids.def, the path of the instruction at
// fault, one sentence, and a hint. Passes that can go on after an error collect into a
// DiagnosticList and turn it into one Status at the end, so all errors are reported.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tilus {

// The stable kinds of error. The numeric part of an id is frozen once released: "T0210".
enum class DiagId : uint16_t {
#define TILUS_DIAGNOSTIC(number, name, code, summary) name = number,
#include "base/diagnostic_ids.def"
#undef TILUS_DIAGNOSTIC
};

// The position of a text in its source: lines and columns count from 1, 0 = not known.
struct SourceSpan {
  int line = 0;
  int column = 0;
  int length = 0;
};

enum class Severity : uint8_t { kError, kWarning, kNote };

struct Diagnostic {
  DiagId id{};
  Severity severity = Severity::kError;
  std::string path;     // "matmul.body[3].for.body[1]", or empty
  std::string message;  // one sentence, no trailing period
  std::string hint;     // one suggestion, or empty
  std::string excerpt;  // the instruction or source line it is about, or empty
  SourceSpan span;      // where in the text, when the program came from text
};

// "T0210"
std::string DiagIdText(DiagId id);
// The one-line meaning of an id, from the table.
absl::string_view DiagIdSummary(DiagId id);
// The status code that an error of this id maps to.
absl::StatusCode DiagIdCode(DiagId id);
// Every id in the table, in order.
std::vector<DiagId> AllDiagIds();

// "file:14:8: error[T0210]: message\n  excerpt\n  at path\n  help: hint"; `file` may be empty.
std::string FormatDiagnostic(const Diagnostic& diagnostic, absl::string_view file);

// A status with one diagnostic.
absl::Status MakeError(Diagnostic diagnostic);
absl::Status MakeError(DiagId id, absl::string_view message, absl::string_view hint = {},
                       absl::string_view path = {});

// A status with all of `diagnostics`: OK when none is an error. Code and message are those of the
// first error.
absl::Status MakeStatus(std::vector<Diagnostic> diagnostics);

// The diagnostics of a status; for a bare status one made of its code and message (kInternal...),
// empty for OK.
std::vector<Diagnostic> DiagnosticsOf(const absl::Status& status);

// The same status with `prefix` put before the path of each diagnostic.
absl::Status PrefixPath(const absl::Status& status, absl::string_view prefix);

// Collects diagnostics up to a limit (a hostile program must not yield millions).
class DiagnosticList {
 public:
  static constexpr size_t kMaxDiagnostics = 100;

  void Add(Diagnostic diagnostic);
  void Add(DiagId id, absl::string_view path, absl::string_view message,
           absl::string_view hint = {});
  // Adds every diagnostic of `status` (nothing when OK).
  void Add(const absl::Status& status);

  bool has_errors() const { return errors_ > 0; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  absl::Status ToStatus() const { return MakeStatus(diagnostics_); }

 private:
  std::vector<Diagnostic> diagnostics_;
  size_t errors_ = 0;
};

}  // namespace tilus

#include "cli/failure.h"

#include <cstdio>
#include <utility>

#include "cli/api.h"

namespace tilus::cli {
namespace {

// Input and environment differ in who can mend it: who wrote the input, or who runs the machine.
Exit ExitOf(tilus_code code, const Finding& first) {
  if (first.id == "T0002") return Exit::kEnvironment;  // memory ran out
  if (first.id >= "T0600" && first.id <= "T0603") return Exit::kEnvironment;  // no assembler for it
  switch (code) {
    case TILUS_PERMISSION_DENIED:
    case TILUS_UNAVAILABLE:
    case TILUS_UNKNOWN:
    case TILUS_INTERNAL:
      return Exit::kEnvironment;
    default:
      return Exit::kInput;
  }
}

std::vector<Finding> FindingsOf(const tilus_error* error) {
  std::vector<Finding> findings;
  for (size_t i = 0; i < tilus_error_diagnostic_count(error); ++i) {
    tilus_diagnostic diagnostic = {};
    diagnostic.struct_size = sizeof diagnostic;
    tilus_error_diagnostic(error, i, &diagnostic);
    findings.push_back(FindingOf(diagnostic));
  }
  return findings;
}

}  // namespace

Finding FindingOf(const tilus_diagnostic& diagnostic) {
  Finding finding;
  finding.severity = diagnostic.severity;
  finding.id = View(diagnostic.id);
  finding.message = View(diagnostic.message);
  finding.hint = View(diagnostic.hint);
  finding.path = View(diagnostic.path);
  finding.source = View(diagnostic.source);
  finding.excerpt = View(diagnostic.excerpt);
  finding.line = diagnostic.line;
  finding.column = diagnostic.column;
  finding.length = diagnostic.length;
  return finding;
}

void Fail(Exit exit, Id id, std::string message, std::string hint, std::string source) {
  char text[16];
  std::snprintf(text, sizeof text, "T%04d", static_cast<int>(id));
  Finding finding;
  finding.id = text;
  finding.message = std::move(message);
  finding.hint = std::move(hint);
  finding.source = std::move(source);
  throw Failure{exit, {std::move(finding)}};
}

void Check(tilus_error* error) {
  if (error == nullptr) return;
  const ErrorHandle owner(error);
  std::vector<Finding> findings = FindingsOf(error);
  const Exit exit = ExitOf(tilus_error_code(error), findings.empty() ? Finding{} : findings[0]);
  throw Failure{exit, std::move(findings)};
}

void CheckOr(Exit exit, tilus_error* error) {
  if (error == nullptr) return;
  const ErrorHandle owner(error);
  throw Failure{exit, FindingsOf(error)};
}

}  // namespace tilus::cli

#include "modes.h"

#include "absl/strings/str_cat.h"
#include "ir/text.h"

namespace tilus::filetests {
namespace {

// The errors of reading, resolving and verifying are those that the file expects, each on its line.
// A file without errors must keep its text when it is printed, resolved or not.
absl::Status RunVerify(const TestFile& file, Expectation) {
  const absl::StatusOr<ir::Module> module = ir::LoadText(file.text, ir::Limits());
  if (absl::Status errors = CompareErrors(file, DiagnosticsOf(module.status())); !errors.ok()) {
    return errors;
  }
  if (!module.ok()) return absl::OkStatus();
  const absl::StatusOr<ir::Module> unresolved = ir::ParseText(file.text, ir::Limits());
  const std::string once = ir::PrintText(*module);
  const absl::StatusOr<ir::Module> again = ir::LoadText(once, ir::Limits());
  if (!again.ok()) {
    return absl::InternalError(
        absl::StrCat("the printed text does not verify:\n", once, "\n", again.status().message()));
  }
  if (ir::PrintText(*again) != once) {
    return absl::InternalError(
        absl::StrCat("printing twice differs:\n", once, "\n", ir::PrintText(*again)));
  }
  const std::string plain = ir::PrintText(*unresolved);
  const absl::StatusOr<ir::Module> replain = ir::ParseText(plain, ir::Limits());
  if (!replain.ok() || ir::PrintText(*replain) != plain) {
    return absl::InternalError(absl::StrCat("the unresolved text is not kept:\n", plain));
  }
  return absl::OkStatus();
}

// The canonical text is the block of expected output.
absl::Status RunPrint(const TestFile& file, Expectation expectation) {
  const absl::StatusOr<ir::Module> module = ir::ParseText(file.text, ir::Limits());
  if (!module.ok()) return module.status();
  const std::string printed = ir::PrintText(*module);
  if (expectation == Expectation::kBless) return WriteExpected(file, printed);
  if (printed != file.expected) {
    return absl::FailedPreconditionError(
        absl::StrCat("printed:\n", printed, "expected:\n", file.expected));
  }
  const absl::StatusOr<ir::Module> again = ir::ParseText(printed, ir::Limits());
  if (!again.ok() || ir::PrintText(*again) != printed) {
    return absl::InternalError("the canonical text does not print as itself");
  }
  return absl::OkStatus();
}

constexpr Mode kModes[] = {
    {"verify", RunVerify},
    {"print", RunPrint},
};

}  // namespace

absl::Span<const Mode> AllModes() { return kModes; }

}  // namespace tilus::filetests

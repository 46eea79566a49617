#include "ir/report.h"

#include "absl/strings/str_cat.h"
#include "ir/text.h"

namespace tilus::ir {
namespace {

constexpr size_t kLongestExcerpt = 400;

// The statement as printed, indented so that the word at `span.column` stands there: the name of an
// instruction, the first word of another statement.
std::string Excerpt(const Program& program, const Stmt& stmt) {
  std::string text = PrintStatementHead(program, stmt);
  if (text.size() > kLongestExcerpt) return "";
  if (stmt.span.column <= 0) return text;
  size_t word = 0;
  if (const Instruction* in = std::get_if<Instruction>(&stmt.node)) {
    if (in->result != kNoTensor || !in->index_results.empty()) word = text.find(" = ") + 3;
  }
  const size_t column = static_cast<size_t>(stmt.span.column) - 1;
  if (column < word || column > kLongestExcerpt) return text;
  return absl::StrCat(std::string(column - word, ' '), text);
}

}  // namespace

void Reporter::Add(Diagnostic diagnostic) {
  if (full()) return;
  if (stmt_ != nullptr) {
    diagnostic.path = path_->ToString(program_.name);
    diagnostic.span = stmt_->span;
    diagnostic.excerpt = Excerpt(program_, *stmt_);
  } else if (diagnostic.path.empty()) {
    diagnostic.path = program_.name;
    diagnostic.span = program_.span;
  }
  diagnostics_->Add(std::move(diagnostic));
}

void Reporter::Report(DiagId id, absl::string_view message, absl::string_view hint) {
  Diagnostic d;
  d.id = id;
  d.message = std::string(message);
  d.hint = std::string(hint);
  Add(std::move(d));
}

void Reporter::Report(const absl::Status& status) {
  for (Diagnostic& d : DiagnosticsOf(status)) Add(std::move(d));
}

}  // namespace tilus::ir

#include "base/diagnostic.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tilus {
namespace {

constexpr char kPayloadUrl[] = "tilus.diagnostics";

struct DiagRow {
  DiagId id;
  absl::StatusCode code;
  const char* summary;
};

constexpr DiagRow kRows[] = {
#define TILUS_DIAGNOSTIC(number, name, code, summary) \
  {DiagId::name, absl::StatusCode::code, summary},
#include "base/diagnostic_ids.def"
#undef TILUS_DIAGNOSTIC
};

const DiagRow& RowOf(DiagId id) {
  for (const DiagRow& row : kRows) {
    if (row.id == id) return row;
  }
  return kRows[0];
}

// The payload: for each diagnostic its numbers, then each string as length:bytes.
void AppendNumber(std::string& out, int64_t value) { absl::StrAppend(&out, value, ":"); }
void AppendString(std::string& out, const std::string& value) {
  AppendNumber(out, static_cast<int64_t>(value.size()));
  out += value;
}

class PayloadReader {
 public:
  explicit PayloadReader(const std::string& data) : data_(data) {}
  bool done() const { return position_ >= data_.size(); }
  int64_t Number() {
    int64_t value = 0;
    while (!done() && data_[position_] != ':') value = value * 10 + (data_[position_++] - '0');
    ++position_;
    return value;
  }
  std::string String() {
    const size_t size = static_cast<size_t>(Number());
    std::string value = data_.substr(position_, size);
    position_ += size;
    return value;
  }

 private:
  const std::string& data_;
  size_t position_ = 0;
};

std::string EncodeDiagnostics(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    AppendNumber(out, static_cast<int64_t>(d.id));
    AppendNumber(out, static_cast<int64_t>(d.severity));
    AppendNumber(out, d.span.line);
    AppendNumber(out, d.span.column);
    AppendNumber(out, d.span.length);
    for (const std::string* text : {&d.path, &d.message, &d.hint, &d.excerpt}) {
      AppendString(out, *text);
    }
  }
  return out;
}

std::vector<Diagnostic> DecodeDiagnostics(const std::string& data) {
  std::vector<Diagnostic> diagnostics;
  PayloadReader reader(data);
  while (!reader.done()) {
    Diagnostic& d = diagnostics.emplace_back();
    d.id = static_cast<DiagId>(reader.Number());
    d.severity = static_cast<Severity>(reader.Number());
    d.span.line = static_cast<int>(reader.Number());
    d.span.column = static_cast<int>(reader.Number());
    d.span.length = static_cast<int>(reader.Number());
    for (std::string* text : {&d.path, &d.message, &d.hint, &d.excerpt}) *text = reader.String();
  }
  return diagnostics;
}

const char* SeverityText(Severity severity) {
  switch (severity) {
    case Severity::kError: return "error";
    case Severity::kWarning: return "warning";
    case Severity::kNote: return "note";
  }
  return "error";
}

}  // namespace

std::string DiagIdText(DiagId id) { return absl::StrFormat("T%04d", static_cast<int>(id)); }
absl::string_view DiagIdSummary(DiagId id) { return RowOf(id).summary; }
absl::StatusCode DiagIdCode(DiagId id) { return RowOf(id).code; }

std::vector<DiagId> AllDiagIds() {
  std::vector<DiagId> ids;
  for (const DiagRow& row : kRows) ids.push_back(row.id);
  return ids;
}

std::string FormatDiagnostic(const Diagnostic& d, absl::string_view file) {
  std::string out;
  if (!file.empty()) absl::StrAppend(&out, file, ":");
  if (d.span.line > 0) absl::StrAppend(&out, d.span.line, ":", d.span.column, ":");
  if (!out.empty()) out += ' ';
  absl::StrAppend(&out, SeverityText(d.severity), "[", DiagIdText(d.id), "]: ", d.message);
  if (!d.excerpt.empty()) {
    absl::StrAppend(&out, "\n   ", d.excerpt);
    if (d.span.column > 0) {
      const size_t indent = static_cast<size_t>(d.span.column - 1);
      const size_t width = static_cast<size_t>(d.span.length > 0 ? d.span.length : 1);
      absl::StrAppend(&out, "\n   ", std::string(indent, ' '), "^", std::string(width - 1, '~'));
    }
  }
  if (!d.path.empty()) absl::StrAppend(&out, "\n   at ", d.path);
  if (!d.hint.empty()) absl::StrAppend(&out, "\n   help: ", d.hint);
  return out;
}

absl::Status MakeError(Diagnostic diagnostic) {
  std::vector<Diagnostic> list;
  list.push_back(std::move(diagnostic));
  return MakeStatus(std::move(list));
}

absl::Status MakeError(DiagId id, absl::string_view message, absl::string_view hint,
                       absl::string_view path) {
  Diagnostic d;
  d.id = id;
  d.message = std::string(message);
  d.hint = std::string(hint);
  d.path = std::string(path);
  return MakeError(std::move(d));
}

absl::Status MakeStatus(std::vector<Diagnostic> diagnostics) {
  for (const Diagnostic& d : diagnostics) {
    if (d.severity != Severity::kError) continue;
    absl::Status status(DiagIdCode(d.id), d.message);
    status.SetPayload(kPayloadUrl, absl::Cord(EncodeDiagnostics(diagnostics)));
    return status;
  }
  return absl::OkStatus();
}

std::vector<Diagnostic> DiagnosticsOf(const absl::Status& status) {
  if (status.ok()) return {};
  if (auto payload = status.GetPayload(kPayloadUrl)) return DecodeDiagnostics(std::string(*payload));
  Diagnostic d;
  d.id = status.code() == absl::StatusCode::kCancelled ? DiagId::kCancelled : DiagId::kInternal;
  d.message = std::string(status.message());
  return {d};
}

absl::Status PrefixPath(const absl::Status& status, absl::string_view prefix) {
  std::vector<Diagnostic> diagnostics = DiagnosticsOf(status);
  for (Diagnostic& d : diagnostics) {
    d.path = d.path.empty() ? std::string(prefix) : absl::StrCat(prefix, ".", d.path);
  }
  return MakeStatus(std::move(diagnostics));
}

void DiagnosticList::Add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::kError) ++errors_;
  if (diagnostics_.size() < kMaxDiagnostics) diagnostics_.push_back(std::move(diagnostic));
}

void DiagnosticList::Add(DiagId id, absl::string_view path, absl::string_view message,
                         absl::string_view hint) {
  Diagnostic d;
  d.id = id;
  d.path = std::string(path);
  d.message = std::string(message);
  d.hint = std::string(hint);
  Add(std::move(d));
}

void DiagnosticList::Add(const absl::Status& status) {
  for (Diagnostic& d : DiagnosticsOf(status)) Add(std::move(d));
}

}  // namespace tilus

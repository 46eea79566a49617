#include "cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/cat.h"

namespace tilus::cli {
namespace {

const char* SeverityName(tilus_severity severity) {
  switch (severity) {
    case TILUS_SEVERITY_WARNING: return "warning";
    case TILUS_SEVERITY_NOTE: return "note";
    default: return "error";
  }
}

struct Style {
  const char* place;
  const char* severity;
  const char* caret;
  const char* help;
  const char* end;
};

Style StyleOf(tilus_severity severity, Color color) {
  if (color == Color::kNever) return {"", "", "", "", ""};
  const char* tone = severity == TILUS_SEVERITY_ERROR     ? "\x1b[1;31m"
                     : severity == TILUS_SEVERITY_WARNING ? "\x1b[1;35m"
                                                          : "\x1b[1;36m";
  return {"\x1b[1m", tone, "\x1b[1;32m", "\x1b[36m", "\x1b[0m"};
}

// Blanks as wide as the excerpt's first `count` bytes: a tab stays a tab, a character of several
// bytes is one column.
std::string Blanks(std::string_view excerpt, size_t count) {
  std::string blanks;
  for (size_t i = 0; i < count; ++i) {
    const unsigned char byte = i < excerpt.size() ? static_cast<unsigned char>(excerpt[i]) : ' ';
    if (byte == '\t') {
      blanks += '\t';
    } else if ((byte & 0xc0) != 0x80) {
      blanks += ' ';
    }
  }
  return blanks;
}

// "^~~~", no longer than the rest of the excerpt.
std::string Caret(const Finding& finding) {
  const size_t from = finding.column - 1;
  const size_t rest = finding.excerpt.size() > from ? finding.excerpt.size() - from : 1;
  const size_t length = std::clamp<size_t>(finding.length, 1, rest);
  std::string caret = "^";
  caret.append(length - 1, '~');
  return caret;
}

constexpr char kIndent[] = "   ";

bool HasCaret(const Finding& finding) {
  return !finding.excerpt.empty() && finding.column > 0 &&
         finding.column <= finding.excerpt.size() + 1;
}

// "file:14:8: "
std::string PlaceText(const Finding& finding, const Style& style) {
  if (finding.source.empty() && finding.line == 0) return "";
  const std::string file = finding.source.empty() ? "" : Cat(finding.source, ":");
  const std::string place = finding.line == 0 ? "" : Cat(finding.line, ":", finding.column, ":");
  return Cat(style.place, file, place, style.end, " ");
}

std::string ExcerptText(const Finding& finding, const Style& style) {
  if (!HasCaret(finding)) return Cat(kIndent, finding.excerpt, "\n");
  const std::string path = finding.path.empty() ? "" : Cat(" at ", finding.path);
  return Cat(kIndent, finding.excerpt, "\n", kIndent, Blanks(finding.excerpt, finding.column - 1),
             style.caret, Caret(finding), style.end, path, "\n");
}

Json JsonOf(const Finding& finding) {
  return {{"severity", SeverityName(finding.severity)},
          {"id", finding.id},
          {"message", finding.message},
          {"hint", finding.hint},
          {"source", finding.source},
          {"line", finding.line},
          {"column", finding.column},
          {"length", finding.length},
          {"path", finding.path},
          {"excerpt", finding.excerpt}};
}

}  // namespace

void Print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void PrintLine(std::string_view text) {
  Print(text);
  Print("\n");
}

std::string JsonText(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void PrintJson(const Json& value) { PrintLine(JsonText(value)); }

void FlushAnswer() {
  errno = 0;
  const int flushed = std::fflush(stdout);
  if (flushed != 0 || std::ferror(stdout) != 0) {
    Fail(Exit::kEnvironment, Id::kFileWrite,
         Cat("the answer could not be written to stdout",
             errno != 0 ? Cat(": ", std::strerror(errno)) : ""));
  }
}

bool IsTerminal(Stream stream) {
  return isatty(stream == Stream::kAnswer ? STDOUT_FILENO : STDERR_FILENO) != 0;
}

bool WantsColor(Stream stream) {
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && IsTerminal(stream);
}

std::string FindingText(const Finding& finding, Color color) {
  const Style style = StyleOf(finding.severity, color);
  std::string out = PlaceText(finding, style);
  out += Cat(style.severity, SeverityName(finding.severity), "[", finding.id, "]", style.end, ": ",
             finding.message, "\n");
  if (!finding.excerpt.empty()) out += ExcerptText(finding, style);
  if (!finding.path.empty() && !HasCaret(finding)) out += Cat(kIndent, "at ", finding.path, "\n");
  if (!finding.hint.empty()) {
    out += Cat(kIndent, style.help, "help: ", style.end, finding.hint, "\n");
  }
  return out;
}

void Findings::Add(Finding finding) {
  if (form_ == FindingsAs::kJson) {
    waiting_.push_back(std::move(finding));
    return;
  }
  const Color color = WantsColor(Stream::kFindings) ? Color::kAlways : Color::kNever;
  const std::string text = FindingText(finding, color);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void Findings::Finish() {
  if (waiting_.empty()) return;
  Json array = Json::array();
  for (const Finding& finding : waiting_) array.push_back(JsonOf(finding));
  const std::string text = JsonText(array) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
  waiting_.clear();
}

}  // namespace tilus::cli

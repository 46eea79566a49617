#include "ir/lexer.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"

namespace tilus::ir {
namespace {

constexpr size_t kLongestExcerpt = 400;

bool IsNameStart(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }

// The length of the punctuation at the start of `text`, 0 when there is none.
size_t PunctLength(absl::string_view text) {
  constexpr absl::string_view kPairs[] = {"->", "..", "<=", ">=", "==", "!=", "<<", ">>"};
  for (absl::string_view pair : kPairs) {
    if (text.substr(0, 2) == pair) return 2;
  }
  constexpr absl::string_view kSingles = "()[]{},:=+-*/%<>&|^#.";
  return kSingles.find(text[0]) != absl::string_view::npos ? 1 : 0;
}

}  // namespace

Token Lexer::Finish(Token token, TokenKind kind, size_t length) {
  token.kind = kind;
  token.text = source_.substr(position_, length);
  position_ += length;
  return token;
}

Token Lexer::Bad(Token token, size_t length, const char* problem) {
  token.problem = problem;
  return Finish(std::move(token), TokenKind::kBad, length);
}

void Lexer::SkipBlanks() {
  while (position_ < source_.size()) {
    const char c = source_[position_];
    if (c == ' ' || c == '\t' || c == '\r') {
      ++position_;
    } else if (c == ';') {
      position_ = std::min(source_.find('\n', position_), source_.size());
    } else if (c == '\n' && after_comma_) {
      ++position_;
      ++line_;
      line_start_ = position_;
    } else {
      return;
    }
  }
}

Token Lexer::Next() {
  SkipBlanks();
  Token token;
  token.offset = position_;
  token.line = line_;
  token.column = static_cast<int>(position_ - line_start_) + 1;
  if (position_ >= source_.size()) return token;
  const char c = source_[position_];
  after_comma_ = c == ',';
  if (c == '\n') {
    token = Finish(std::move(token), TokenKind::kNewline, 1);
    ++line_;
    line_start_ = position_;
    return token;
  }
  if (IsNameStart(c)) {
    size_t length = 1;
    while (IsNamePart(Peek(length))) ++length;
    return Finish(std::move(token), TokenKind::kName, length);
  }
  if (IsDigit(c)) return Number(std::move(token));
  if (c == '"') return String(std::move(token));
  if (const size_t length = PunctLength(source_.substr(position_)); length > 0) {
    return Finish(std::move(token), TokenKind::kPunct, length);
  }
  return Bad(std::move(token), 1, "this character is not part of the language");
}

Token Lexer::Number(Token token) {
  size_t length = 1;
  bool is_float = false;
  const bool hex = Peek() == '0' && (Peek(1) == 'x' || Peek(1) == 'X');
  if (hex) ++length;
  while (IsNamePart(Peek(length)) || Peek(length) == '.') {
    // "0..8" is a range; "1e-3" has a sign inside.
    if (Peek(length) == '.') {
      if (Peek(length + 1) == '.' || hex) break;
      is_float = true;
    }
    const bool exponent = !hex && (Peek(length) == 'e' || Peek(length) == 'E');
    if (exponent) {
      is_float = true;
      if (Peek(length + 1) == '-' || Peek(length + 1) == '+') ++length;
    }
    ++length;
  }
  const char* begin = source_.data() + position_;
  const char* end = begin + length;
  std::from_chars_result read{};
  if (is_float) {
    read = std::from_chars(begin, end, token.real);
  } else {
    read = std::from_chars(hex ? begin + 2 : begin, end, token.integer, hex ? 16 : 10);
  }
  if (read.ec == std::errc::result_out_of_range) {
    return Bad(std::move(token), length, "this number is out of range");
  }
  if (read.ec != std::errc() || read.ptr != end) {
    return Bad(std::move(token), length, "this is not a number");
  }
  return Finish(std::move(token), is_float ? TokenKind::kFloat : TokenKind::kInt, length);
}

Token Lexer::String(Token token) {
  size_t length = 1;
  while (position_ + length < source_.size() && Peek(length) != '"' && Peek(length) != '\n') {
    length += Peek(length) == '\\' && Peek(length + 1) != '\n' ? 2 : 1;
  }
  length = std::min(length, source_.size() - position_);
  if (Peek(length) != '"') return Bad(std::move(token), length, "this string has no end");
  if (!absl::CUnescape(source_.substr(position_ + 1, length - 1), &token.string)) {
    return Bad(std::move(token), length + 1, "this string has an escape that is not known");
  }
  return Finish(std::move(token), TokenKind::kString, length + 1);
}

absl::string_view Lexer::RestOfLine(size_t offset) const {
  const size_t end = std::min(source_.find_first_of("\n;", offset), source_.size());
  return source_.substr(offset, end - offset);
}

std::string Lexer::LineText(size_t offset) const {
  size_t start = offset == 0 ? absl::string_view::npos : source_.rfind('\n', offset - 1);
  start = start == absl::string_view::npos ? 0 : start + 1;
  const size_t end = std::min(source_.find('\n', start), source_.size());
  if (end - start > kLongestExcerpt) return "";
  std::string line(source_.substr(start, end - start));
  while (!line.empty() && line.back() == '\r') line.pop_back();
  for (char& c : line) {
    if (c == '\t') c = ' ';
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  return line;
}

std::string Lexer::LineTextOf(int line) const {
  size_t start = 0;
  for (int i = 1; i < line; ++i) {
    const size_t end = source_.find('\n', start);
    if (end == absl::string_view::npos) break;
    start = end + 1;
  }
  return LineText(start);
}

}  // namespace tilus::ir

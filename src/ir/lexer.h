// Tokens of .tilus text, read on demand.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "base/diagnostic.h"

namespace tilus::ir {

enum class TokenKind : uint8_t {
  kEnd,
  kNewline,
  kName,    // identifiers and words
  kInt,     // 12, 0x1f
  kFloat,   // 1.5, 2e-3
  kString,  // "text", escapes as in C
  kPunct,   // ( ) [ ] { } , : = + - * / % < > <= >= == != << >> & | ^ # .. ->
  kBad,     // not a token; Token::problem says why
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  absl::string_view text;  // as in the source
  size_t offset = 0;       // of text, in bytes
  int line = 1;
  int column = 1;
  uint64_t integer = 0;      // kInt
  double real = 0;           // kFloat
  std::string string;        // kString, unescaped
  const char* problem = "";  // kBad

  bool Is(absl::string_view word) const {
    return (kind == TokenKind::kName || kind == TokenKind::kPunct) && text == word;
  }
  SourceSpan span() const { return {line, column, static_cast<int>(text.size())}; }
};

class Lexer {
 public:
  explicit Lexer(absl::string_view source) : source_(source) {}

  // The next token. Comments vanish; a line end after a comma does too.
  Token Next();

  // What is left of the line that `offset` is in, without comment: for texts with their own reader.
  absl::string_view RestOfLine(size_t offset) const;
  // Continues after `offset`, which must be in the current line.
  void SkipTo(size_t offset) { position_ = offset; }

  // The whole line around `offset`, printable ASCII; empty when it is too long to show.
  std::string LineText(size_t offset) const;
  // The same by number, counted from 1.
  std::string LineTextOf(int line) const;

 private:
  Token Number(Token token);
  Token String(Token token);
  void SkipBlanks();
  char Peek(size_t ahead = 0) const {
    return position_ + ahead < source_.size() ? source_[position_ + ahead] : '\0';
  }
  Token Finish(Token token, TokenKind kind, size_t length);
  Token Bad(Token token, size_t length, const char* problem);

  absl::string_view source_;
  size_t position_ = 0;
  size_t line_start_ = 0;
  int line_ = 1;
  bool after_comma_ = false;
};

}  // namespace tilus::ir

#pragma once

#include "absl/strings/str_cat.h"
#include "ir/parser.h"

namespace tilus::ir {

// One level of recursion of the parser, against the limit of depth.
class Parser::Nesting {
 public:
  explicit Nesting(Parser* parser) : parser_(parser) {
    ok_ = ++parser_->depth_ <= kLevelsPerDepth * parser_->limits_.max_depth;
    if (ok_) return;
    parser_->Fail(
        DiagId::kLimitDepth, parser_->token_.span(),
        absl::StrCat("this is nested deeper than ", parser_->limits_.max_depth, " levels"));
  }
  ~Nesting() { --parser_->depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

  bool ok() const { return ok_; }

 private:
  // Every level of an expression costs a prefix operator and a primary.
  static constexpr int kLevelsPerDepth = 2;

  Parser* parser_;
  bool ok_ = false;
};

}  // namespace tilus::ir

#include <cmath>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ir/parser.h"
#include "ir/parser_nesting.h"
#include "types/codec.h"

namespace tilus::ir {
namespace {

const ExprOpInfo* FindOp(const Token& token, ExprForm form) {
  if (token.kind != TokenKind::kPunct && token.kind != TokenKind::kName) return nullptr;
  for (const ExprOpInfo& info : AllExprOps()) {
    if (info.form == form && token.text == info.spelling) return &info;
  }
  return nullptr;
}

}  // namespace

Parser::Parsed Parser::Checked(ExprPtr expr, bool flexible, SourceSpan span) {
  if (!Count(1)) return {};
  if (expr->depth > limits_.max_depth) {
    Fail(DiagId::kLimitDepth, span,
         absl::StrCat("this expression is nested deeper than ", limits_.max_depth, " levels"),
         "give parts of it names with let");
    return {};
  }
  return {std::move(expr), flexible};
}

// A float literal that nothing has typed becomes f32.
ExprPtr Parser::Settle(const Parsed& parsed, SourceSpan span) {
  if (!parsed || !parsed.flexible || !parsed.expr->type.is_float()) return parsed.expr;
  const double value = DecodeToDouble(kF64, parsed.expr->code);
  ExprPtr settled = FloatLiteral(value, kF32);
  if (std::isinf(DecodeToDouble(kF32, settled->code)) && !std::isinf(value)) {
    Fail(DiagId::kLiteralRange, span, "this literal is beyond the range of f32",
         "give it a type: f64(...)");
    return nullptr;
  }
  return settled;
}

ExprPtr Parser::ParseExpr() {
  const SourceSpan span = token_.span();
  return Settle(ParseFlexible(), span);
}

ExprPtr Parser::ParseExprAs(DataType type) {
  const SourceSpan span = token_.span();
  const Parsed parsed = ParseFlexible();
  if (!parsed) return nullptr;
  absl::StatusOr<ExprPtr> coerced = CoerceTo(type, parsed.expr);
  if (!coerced.ok()) {
    Fail(coerced.status(), span);
    return nullptr;
  }
  return *std::move(coerced);
}

Parser::Parsed Parser::ParseFlexible(int least_precedence) {
  Parsed left = ParseUnary();
  while (left) {
    const ExprOpInfo* info = FindOp(token_, ExprForm::kInfix);
    if (info == nullptr || info->precedence < least_precedence) break;
    const SourceSpan span = token_.span();
    Advance();
    Parsed right = ParseFlexible(info->precedence + 1);
    if (!right) return {};
    left = Make(info->op, {std::move(left), std::move(right)}, span);
  }
  return left;
}

Parser::Parsed Parser::Make(ExprOp op, std::vector<Parsed> args, SourceSpan span) {
  bool settle = true;
  for (const Parsed& arg : args) settle = settle && (arg.flexible || arg.expr->type.is_bool());
  std::vector<ExprPtr> exprs;
  for (const Parsed& arg : args) {
    exprs.push_back(settle ? Settle(arg, span) : arg.expr);
    if (exprs.back() == nullptr) return {};
  }
  absl::StatusOr<ExprPtr> made = MakeOp(op, std::move(exprs));
  if (!made.ok()) {
    Fail(made.status(), span);
    return {};
  }
  return Checked(*std::move(made), false, span);
}

Parser::Parsed Parser::ParseUnary() {
  const ExprOpInfo* info = FindOp(token_, ExprForm::kPrefix);
  if (info == nullptr) return ParsePrimary();
  const Nesting nesting(this);
  if (!nesting.ok()) return {};
  const SourceSpan span = token_.span();
  Advance();
  if (info->op == ExprOp::kNeg &&
      (token_.kind == TokenKind::kInt || token_.kind == TokenKind::kFloat || token_.Is("inf"))) {
    return ParseNumber(true);
  }
  Parsed operand = ParseUnary();
  if (!operand) return {};
  return Make(info->op, {std::move(operand)}, span);
}

Parser::Parsed Parser::ParsePrimary() {
  const Nesting nesting(this);
  if (!nesting.ok()) return {};
  switch (token_.kind) {
    case TokenKind::kInt:
    case TokenKind::kFloat:
      return ParseNumber(false);
    case TokenKind::kName:
      return ParseNamed();
    default:
      break;
  }
  if (token_.Is("#")) return ParseIndex();
  if (Accept("(")) {
    Parsed inner = ParseFlexible();
    if (!inner || !Expect(")", "after the expression")) return {};
    return inner;
  }
  Unexpected("an expression");
  return {};
}

Parser::Parsed Parser::ParseNumber(bool negative) {
  const Token number = token_;
  Advance();
  if (number.kind != TokenKind::kInt) {
    const double value = number.Is("inf") ? std::numeric_limits<double>::infinity() : number.real;
    return Checked(FloatLiteral(negative ? -value : value, kF64), true, number.span());
  }
  const uint64_t limit = uint64_t{1} << 63;
  if (negative && number.integer > limit) {
    Fail(DiagId::kLiteralRange, number.span(), "this number is below the range of i64");
    return {};
  }
  if (!negative && number.integer >= limit) {
    return Checked(Literal(kU64, number.integer), true, number.span());
  }
  const int64_t value = static_cast<int64_t>(negative ? 0 - number.integer : number.integer);
  const bool narrow = value >= INT32_MIN && value <= INT32_MAX;
  return Checked(IntLiteral(value, narrow ? kI32 : kI64), true, number.span());
}

Parser::Parsed Parser::ParseNamed() {
  const Token name = token_;
  if (name.Is("inf")) return ParseNumber(false);
  if (name.Is("true") || name.Is("false") || name.Is("nan")) {
    Advance();
    if (name.Is("nan")) return Checked(Literal(kF64, NanCode(kF64)), true, name.span());
    return Checked(Literal(kBool, name.Is("true") ? 1 : 0), false, name.span());
  }
  if (Peek().Is("(")) {
    if (IsTypeName(name.text)) return ParseCast(*ParseDataType(name.text));
    if (const ExprOpInfo* info = FindOp(name, ExprForm::kCall)) return ParseCall(info->op);
    Fail(DiagId::kTextUnknownName, name.span(),
         absl::StrCat("there is no function or type '", name.text, "'"),
         "functions are min, max, ceil_div and select, and every type");
    return {};
  }
  Advance();
  const Symbol* symbol = Find(name.text);
  if (symbol == nullptr) {
    FailUnknown(name);
    return {};
  }
  if (symbol->kind == Symbol::kPoison) return {};
  if (symbol->kind != Symbol::kVar) {
    const bool tensor = symbol->kind == Symbol::kTensor;
    Fail(DiagId::kTextOperand, name.span(),
         absl::StrCat("'", name.text, "' is a ", tensor ? "tensor" : "layout",
                      ", not a scalar value"),
         tensor ? "compute on tensors with instructions: add, mul, ..." : "");
    return {};
  }
  const Var& var = program_->vars[static_cast<size_t>(symbol->id)];
  return Checked(var.is_pointer ? PointerRef(symbol->id, var.type) : VarRef(symbol->id, var.type),
                 false, name.span());
}

Parser::Parsed Parser::ParseCast(DataType type) {
  const SourceSpan span = token_.span();
  Advance();
  Advance();
  const Parsed arg = ParseFlexible();
  if (!arg || !Expect(")", "after the value to convert")) return {};
  // Under a type, a float literal is of that type; anything else is converted.
  const bool literal = arg.flexible && arg.expr->type.is_float() && type.is_float();
  absl::StatusOr<ExprPtr> made = literal ? CoerceTo(type, arg.expr) : MakeCast(type, arg.expr);
  if (!made.ok()) {
    Fail(made.status(), span);
    return {};
  }
  return Checked(*std::move(made), false, span);
}

Parser::Parsed Parser::ParseCall(ExprOp op) {
  const SourceSpan span = token_.span();
  Advance();
  std::vector<Parsed> args;
  do {
    Advance();  // "(" or ","
    if (token_.Is(")")) break;
    args.push_back(ParseFlexible());
    if (!args.back()) return {};
  } while (token_.Is(","));
  if (!Expect(")", "after the operands")) return {};
  return Make(op, std::move(args), span);
}

Parser::Parsed Parser::ParseIndex() {
  const SourceSpan span = token_.span();
  Advance();
  int64_t dim = 0;
  if (!ParseInt(&dim)) return {};
  if (dim >= limits_.max_rank) {
    Fail(DiagId::kElementIndex, span,
         absl::StrCat("#", dim, " is beyond the dimensions of a tensor"));
    return {};
  }
  return Checked(IndexRef(static_cast<int>(dim)), false, span);
}

bool Parser::ParseList(absl::string_view close, std::vector<ExprPtr>* list) {
  while (!token_.Is(close)) {
    ExprPtr item = ParseExpr();
    if (item == nullptr) return false;
    list->push_back(std::move(item));
    if (!Accept(",")) break;
  }
  return Expect(close, "at the end of the list");
}

bool Parser::ParseInt(int64_t* value) {
  const bool negative = Accept("-");
  if (token_.kind != TokenKind::kInt) return Unexpected("an integer");
  if (token_.integer > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return Fail(DiagId::kTextToken, token_.span(), "this number is out of range");
  }
  *value = static_cast<int64_t>(token_.integer);
  if (negative) *value = -*value;
  Advance();
  return true;
}

template <typename Int>
bool Parser::ParseIntList(absl::string_view close, std::vector<Int>* list) {
  while (!token_.Is(close)) {
    const SourceSpan span = token_.span();
    int64_t value = 0;
    if (!Count(1) || !ParseInt(&value)) return false;
    if (value < std::numeric_limits<Int>::min() || value > std::numeric_limits<Int>::max()) {
      return Fail(DiagId::kTextToken, span, "this number is out of range");
    }
    list->push_back(static_cast<Int>(value));
    if (!Accept(",")) break;
  }
  return Expect(close, "at the end of the list");
}
template bool Parser::ParseIntList(absl::string_view, std::vector<int>*);
template bool Parser::ParseIntList(absl::string_view, std::vector<int64_t>*);

bool Parser::ParseType(DataType* type) {
  if (token_.kind != TokenKind::kName) return Unexpected("a type");
  absl::StatusOr<DataType> parsed = ParseDataType(token_.text);
  if (!parsed.ok()) return Fail(parsed.status(), token_.span());
  *type = *parsed;
  Advance();
  return true;
}

bool IsTypeName(absl::string_view word) {
  if (word == "bool") return true;
  const bool plausible = word.size() >= 2 && word.size() <= 8 &&
                         absl::string_view("uifbt").find(word[0]) != absl::string_view::npos &&
                         word.find_first_of("0123456789") != absl::string_view::npos;
  return plausible && ParseDataType(word).ok();
}

}  // namespace tilus::ir

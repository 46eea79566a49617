#include "ir/expr.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "types/codec.h"

namespace tilus::ir {
namespace {

constexpr ExprForm kInfix = ExprForm::kInfix;
constexpr ExprForm kPrefix = ExprForm::kPrefix;
constexpr ExprForm kCall = ExprForm::kCall;

constexpr ExprOpInfo kOps[] = {
#define TILUS_EXPR_OP(name, spelling, form, precedence, arity, wire) \
  {ExprOp::name, spelling, form, precedence, arity, wire},
#include "ir/expr_ops.def"
#undef TILUS_EXPR_OP
};

std::string QuotedType(const Expr& e) {
  return e.is_pointer ? absl::StrCat("*", e.type.name()) : e.type.name();
}

bool IsLiteral(const Expr& e) { return e.kind == ExprKind::kLiteral; }

// Whether the literal's value survives in `type`; any float literal does in a float type.
bool LiteralFits(DataType type, const Expr& literal) {
  const DataType from = literal.type;
  if (from.is_float()) return type.is_float();
  if (!from.is_integer() || type.is_bool()) return false;
  const uint64_t code = ConvertCode(from, type, literal.code);
  if (type.is_integer()) {
    const bool negative = from.is_signed() && DecodeToInt64(from, literal.code) < 0;
    const bool result_negative = type.is_signed() && DecodeToInt64(type, code) < 0;
    return negative == result_negative &&
           DecodeToInt64(type, code) == DecodeToInt64(from, literal.code);
  }
  return ConvertCode(type, from, code) == literal.code &&
         DecodeToDouble(type, code) == DecodeToDouble(from, literal.code);
}

std::string LiteralText(const Expr& literal) {
  return literal.type.is_float() ? absl::StrCat(DecodeToDouble(literal.type, literal.code))
                                 : absl::StrCat(DecodeToInt64(literal.type, literal.code));
}

// The code that a literal has in another type. The conversion, but an infinity stays one where the
// type has it (f8e5m2), which keeps every value of a type expressible.
uint64_t RetypedCode(DataType type, const Expr& literal) {
  const bool infinite =
      literal.type.is_float() && std::isinf(DecodeToDouble(literal.type, literal.code));
  if (!infinite || !type.has_infinity()) return ConvertCode(literal.type, type, literal.code);
  const uint64_t exponent = LowBits(type.exponent_bits());
  const uint64_t sign = DecodeToDouble(literal.type, literal.code) < 0 ? 1 : 0;
  const int mantissa = type == kTF32 ? 23 : type.mantissa_bits();
  return sign << (type.bits() - 1) | exponent << mantissa;
}

ExprPtr MakeNode(Expr e) {
  for (const ExprPtr& arg : e.args) e.depth = std::max(e.depth, arg->depth + 1);
  return std::make_shared<const Expr>(std::move(e));
}

ExprPtr CastNode(DataType type, ExprPtr arg) {
  Expr e;
  e.kind = ExprKind::kCast;
  e.type = type;
  e.args.push_back(std::move(arg));
  return MakeNode(std::move(e));
}

// The one type that two operands take.
absl::StatusOr<DataType> CommonType(absl::string_view what, DataType a, DataType b) {
  if (a == b) return a;
  if (a.is_integer() && b.is_integer() && a.is_signed() == b.is_signed()) {
    return a.bits() > b.bits() ? a : b;
  }
  return MakeError(
      DiagId::kScalarTypes,
      absl::StrCat("'", what, "' takes operands of one type, not ", a.name(), " and ", b.name()),
      absl::StrCat("convert one of them, for instance ", a.name(), "(...)"));
}

// The type that `values` take together: of the operands that are not literals where there are any,
// else of the literals.
absl::StatusOr<DataType> UnifiedType(absl::string_view what, absl::Span<const ExprPtr> values) {
  const bool all_literal =
      std::all_of(values.begin(), values.end(), [](const ExprPtr& v) { return IsLiteral(*v); });
  const bool any_float = std::any_of(values.begin(), values.end(),
                                     [](const ExprPtr& v) { return v->type.is_float(); });
  std::optional<DataType> type;
  for (const ExprPtr& v : values) {
    if (!all_literal && IsLiteral(*v)) continue;
    if (all_literal && any_float && v->type.is_integer()) continue;
    if (!type) {
      type = v->type;
    } else if (all_literal && type->is_float() && v->type.is_float()) {
      if (v->type.bits() > type->bits()) type = v->type;
    } else {
      TILUS_ASSIGN_OR_RETURN(type, CommonType(what, *type, v->type));
    }
  }
  return *type;
}

bool IsDefinedOn(ExprOp op, DataType type) {
  switch (op) {
    case ExprOp::kOr:
    case ExprOp::kAnd:
    case ExprOp::kNot:
      return type.is_bool();
    case ExprOp::kCeilDiv:
      return type.is_integer();
    case ExprOp::kSelect:
      return true;
    default:
      return IsScalarOpAllowed(*ScalarOpOf(op), type);
  }
}

bool IsComparison(ExprOp op) { return op >= ExprOp::kEq && op <= ExprOp::kGe; }

}  // namespace

const ExprOpInfo& InfoOf(ExprOp op) { return kOps[static_cast<size_t>(op)]; }
absl::Span<const ExprOpInfo> AllExprOps() { return kOps; }

ExprPtr Literal(DataType type, uint64_t code) {
  Expr e;
  e.type = type;
  e.code = CanonicalCode(type, code);
  return MakeNode(std::move(e));
}

ExprPtr IntLiteral(int64_t value, DataType type) {
  return Literal(type, EncodeFromInt64(type, value));
}

ExprPtr FloatLiteral(double value, DataType type) {
  return Literal(type, EncodeFromDouble(type, value));
}

ExprPtr VarRef(VarId var, DataType type) {
  Expr e;
  e.kind = ExprKind::kVar;
  e.type = type;
  e.var = var;
  return MakeNode(std::move(e));
}

ExprPtr PointerRef(VarId var, DataType pointee) {
  Expr e;
  e.kind = ExprKind::kVar;
  e.type = pointee;
  e.var = var;
  e.is_pointer = true;
  return MakeNode(std::move(e));
}

ExprPtr IndexRef(int dim) {
  Expr e;
  e.kind = ExprKind::kIndex;
  e.type = kI32;
  e.index = dim;
  return MakeNode(std::move(e));
}

absl::Status UnifyTypes(absl::string_view what, absl::Span<ExprPtr> values) {
  for (const ExprPtr& value : values) {
    if (!value->is_pointer) continue;
    return MakeError(
        DiagId::kPointerValue,
        absl::StrCat("'", what, "' takes values, not a pointer to ", value->type.name()),
        "make a tensor of the pointer with global_view");
  }
  TILUS_ASSIGN_OR_RETURN(const DataType type, UnifiedType(what, values));
  for (ExprPtr& value : values) {
    if (value->type == type) continue;
    if (IsLiteral(*value)) {
      TILUS_ASSIGN_OR_RETURN(value, CoerceTo(type, value));
    } else {
      value = CastNode(type, value);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ExprPtr> MakeOp(ExprOp op, std::vector<ExprPtr> args) {
  const ExprOpInfo& info = InfoOf(op);
  if (static_cast<int>(args.size()) != info.arity) {
    return MakeError(
        DiagId::kScalarOperation,
        absl::StrCat("'", info.spelling, "' takes ", info.arity, " operands, not ", args.size()));
  }
  absl::Span<ExprPtr> values = absl::MakeSpan(args);
  if (op == ExprOp::kSelect) {
    if (!args[0]->type.is_bool() || args[0]->is_pointer) {
      return MakeError(
          DiagId::kScalarTypes,
          absl::StrCat("the first operand of 'select' is a bool, not ", QuotedType(*args[0])));
    }
    values.remove_prefix(1);
  }
  TILUS_RETURN_IF_ERROR(UnifyTypes(info.spelling, values));
  const DataType type = values[0]->type;
  if (!IsDefinedOn(op, type)) {
    return MakeError(DiagId::kScalarOperation,
                     absl::StrCat("'", info.spelling, "' is not defined on ", type.name()));
  }
  Expr e;
  e.kind = ExprKind::kOp;
  e.type = IsComparison(op) ? kBool : type;
  e.op = op;
  e.args = std::move(args);
  return MakeNode(std::move(e));
}

absl::StatusOr<ExprPtr> MakeCast(DataType type, ExprPtr arg) {
  if (arg->is_pointer) {
    return MakeError(DiagId::kPointerValue, absl::StrCat("a pointer to ", arg->type.name(),
                                                         " cannot become ", type.name()));
  }
  if (arg->type == type) return arg;
  if (IsLiteral(*arg)) return Literal(type, ConvertCode(arg->type, type, arg->code));
  return CastNode(type, std::move(arg));
}

absl::StatusOr<ExprPtr> CoerceTo(DataType type, const ExprPtr& arg) {
  if (!arg->is_pointer) {
    if (arg->type == type) return arg;
    if (IsLiteral(*arg) && LiteralFits(type, *arg)) {
      return Literal(type, RetypedCode(type, *arg));
    }
    if (IsLiteral(*arg) && arg->type.is_integer() && !type.is_bool()) {
      return MakeError(DiagId::kLiteralRange,
                       absl::StrCat(LiteralText(*arg), " has no exact value in ", type.name()),
                       absl::StrCat("write ", type.name(), "(", LiteralText(*arg),
                                    ") to convert it all the same"));
    }
  }
  return MakeError(
      arg->is_pointer ? DiagId::kPointerValue : DiagId::kScalarTypes,
      absl::StrCat("a value of type ", type.name(), " is needed here, not ", QuotedType(*arg)),
      arg->is_pointer ? "" : absl::StrCat("convert it: ", type.name(), "(...)"));
}

bool SameExpr(const Expr& a, const Expr& b) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.type != b.type || a.is_pointer != b.is_pointer || a.code != b.code ||
      a.var != b.var || a.index != b.index || a.args.size() != b.args.size()) {
    return false;
  }
  if (a.kind == ExprKind::kOp && a.op != b.op) return false;
  for (size_t i = 0; i < a.args.size(); ++i) {
    if (!SameExpr(*a.args[i], *b.args[i])) return false;
  }
  return true;
}

std::optional<int64_t> LiteralInt(const Expr& e) {
  if (e.kind != ExprKind::kLiteral || e.type.is_float()) return std::nullopt;
  return DecodeToInt64(e.type, e.code);
}

std::optional<ScalarOp> ScalarOpOf(ExprOp op) {
  switch (op) {
    case ExprOp::kOr:
      return ScalarOp::kOr;
    case ExprOp::kAnd:
      return ScalarOp::kAnd;
    case ExprOp::kEq:
      return ScalarOp::kEq;
    case ExprOp::kNe:
      return ScalarOp::kNe;
    case ExprOp::kLt:
      return ScalarOp::kLt;
    case ExprOp::kLe:
      return ScalarOp::kLe;
    case ExprOp::kGt:
      return ScalarOp::kGt;
    case ExprOp::kGe:
      return ScalarOp::kGe;
    case ExprOp::kBitOr:
      return ScalarOp::kOr;
    case ExprOp::kBitXor:
      return ScalarOp::kXor;
    case ExprOp::kBitAnd:
      return ScalarOp::kAnd;
    case ExprOp::kShl:
      return ScalarOp::kShl;
    case ExprOp::kShr:
      return ScalarOp::kShr;
    case ExprOp::kAdd:
      return ScalarOp::kAdd;
    case ExprOp::kSub:
      return ScalarOp::kSub;
    case ExprOp::kMul:
      return ScalarOp::kMul;
    case ExprOp::kDiv:
      return ScalarOp::kDiv;
    case ExprOp::kMod:
      return ScalarOp::kMod;
    case ExprOp::kNeg:
      return ScalarOp::kNeg;
    case ExprOp::kNot:
      return ScalarOp::kNot;
    case ExprOp::kMin:
      return ScalarOp::kMin;
    case ExprOp::kMax:
      return ScalarOp::kMax;
    case ExprOp::kCeilDiv:
    case ExprOp::kSelect:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace tilus::ir

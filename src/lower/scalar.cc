// Scalar expressions: one value for the whole block, computed by every thread alike.
#include <vector>

#include "lower/arithmetic.h"
#include "lower/context.h"

namespace tilus::lower {
namespace {

using ir::ExprOp;

bool IsComparison(ExprOp op) { return op >= ExprOp::kEq && op <= ExprOp::kGe; }

}  // namespace

Operand Context::Scalar(const ir::Expr& expr) {
  const ArithmeticOptions arithmetic{options_.sm, program_.fast};
  switch (expr.kind) {
    case ir::ExprKind::kLiteral: return ComputeImmediate(expr.type, expr.code);
    case ir::ExprKind::kVar: return scalars_[static_cast<size_t>(expr.var)];
    case ir::ExprKind::kIndex: return index_values_[static_cast<size_t>(expr.index)];
    case ir::ExprKind::kCast:
      return EmitConvert(builder_, arithmetic, expr.args[0]->type, expr.type,
                         Scalar(*expr.args[0]));
    case ir::ExprKind::kOp: break;
  }
  if (const std::optional<int64_t> constant = facts_.Constant(expr)) {
    return ComputeImmediate(expr.type, static_cast<uint64_t>(*constant));
  }
  std::vector<Operand> args;
  for (const ir::ExprPtr& arg : expr.args) args.push_back(Scalar(*arg));
  const DataType type = expr.args.back()->type;
  if (const std::optional<ScalarOp> op = ir::ScalarOpOf(expr.op)) {
    return EmitOp(builder_, arithmetic, *op, type, args);
  }
  if (expr.op == ExprOp::kSelect) {
    return Select(builder_, type, ToPredicate(builder_, args[0]), args[1], args[2]);
  }
  // ceil_div, as ir/analysis.h evaluates it: the quotient, one more where the remainder is not 0
  // and has the sign of the divisor.
  const Operand zero = ComputeImmediate(type, 0);
  const Operand quotient = EmitOp(builder_, arithmetic, ScalarOp::kDiv, type, {args[0], args[1]});
  const Operand rest = EmitOp(builder_, arithmetic, ScalarOp::kMod, type, {args[0], args[1]});
  const Operand rest_positive = EmitOp(builder_, arithmetic, ScalarOp::kGt, type, {rest, zero});
  const Operand rest_nonzero = EmitOp(builder_, arithmetic, ScalarOp::kNe, type, {rest, zero});
  const Operand divisor_positive = EmitOp(builder_, arithmetic, ScalarOp::kGt, type, {args[1], zero});
  const Operand divisor_nonzero = EmitOp(builder_, arithmetic, ScalarOp::kNe, type, {args[1], zero});
  const Operand same_sign =
      EmitOp(builder_, arithmetic, ScalarOp::kEq, kBool, {rest_positive, divisor_positive});
  const Operand up = EmitOp(builder_, arithmetic, ScalarOp::kAnd, kBool,
                            {EmitOp(builder_, arithmetic, ScalarOp::kAnd, kBool,
                                    {rest_nonzero, divisor_nonzero}),
                             same_sign});
  return EmitOp(builder_, arithmetic, ScalarOp::kAdd, type,
                {quotient, EmitConvert(builder_, arithmetic, kBool, type, up)});
}

Operand Context::Scalar64(const ir::Expr& expr) {
  const DataType wide = expr.type.is_signed() ? kI64 : kU64;
  return EmitConvert(builder_, ArithmeticOptions{options_.sm, program_.fast}, expr.type, wide,
                     Scalar(expr));
}

Operand Context::Scalar32(const ir::Expr& expr) {
  return EmitConvert(builder_, ArithmeticOptions{options_.sm, program_.fast}, expr.type, kI32,
                     Scalar(expr));
}

Reg Context::Condition(const ir::Expr& expr) {
  Operand predicate;
  if (expr.kind == ir::ExprKind::kOp && IsComparison(expr.op)) {
    predicate = EmitCompare(builder_, *ir::ScalarOpOf(expr.op), expr.args[0]->type,
                            Scalar(*expr.args[0]), Scalar(*expr.args[1]));
  } else {
    predicate = ToPredicate(builder_, Scalar(expr));
  }
  return builder_.Materialize(machine::RegClass::kPred, predicate);
}

void Context::SetIndexValues(absl::Span<const Operand> coordinates) {
  index_values_.assign(coordinates.begin(), coordinates.end());
}

void Context::Define(ir::VarId var, Operand value) { scalars_[static_cast<size_t>(var)] = value; }

Reg Context::DefineVariable(ir::VarId var, Operand value) {
  const DataType type = program_.vars[static_cast<size_t>(var)].type;
  const Reg reg = builder_.Copy(ClassOf(ComputeTypeOf(type)), value);
  scalars_[static_cast<size_t>(var)] = reg;
  return reg;
}

Reg Context::VariableRegister(ir::VarId var) const { return scalars_[static_cast<size_t>(var)].reg(); }

Operand Context::Snapshot(const ir::Expr& expr, Operand value) {
  if (!value.is_reg()) return value;
  for (size_t i = 0; i < program_.vars.size(); ++i) {
    const ir::VarKind kind = program_.vars[i].kind;
    if (kind != ir::VarKind::kMutable && kind != ir::VarKind::kLoop) continue;
    if (scalars_[i].is_reg() && scalars_[i] == value) {
      return builder_.Copy(ClassOf(ComputeTypeOf(expr.type)), value);
    }
  }
  return value;
}

}  // namespace tilus::lower

#include "interpret/scalar.h"

#include <array>

#include "ir/analysis.h"
#include "types/arithmetic.h"
#include "types/codec.h"

namespace tilus::interpret {
Scalars::Scalars(const ir::Program& program) : codes_(program.vars.size(), 0) {
  for (ir::VarId id : program.consts) {
    Set(id, Code(*program.vars[static_cast<size_t>(id)].value));
  }
}

uint64_t Scalars::Code(const ir::Expr& expr, absl::Span<const int32_t> index) const {
  switch (expr.kind) {
    case ir::ExprKind::kLiteral: return expr.code;
    case ir::ExprKind::kVar: return Get(expr.var);
    case ir::ExprKind::kIndex:
      return EncodeFromInt64(expr.type, index[static_cast<size_t>(expr.index)]);
    case ir::ExprKind::kCast:
      return ConvertCode(expr.args[0]->type, expr.type, Code(*expr.args[0], index));
    case ir::ExprKind::kOp: break;
  }
  if (expr.op == ir::ExprOp::kSelect) {
    return Code(*expr.args[Code(*expr.args[0], index) != 0 ? 1 : 2], index);
  }
  const DataType type = expr.args[0]->type;
  const uint64_t a = Code(*expr.args[0], index);
  if (expr.args.size() == 1) return EvaluateUnary(*ir::ScalarOpOf(expr.op), type, a);
  const uint64_t b = Code(*expr.args[1], index);
  if (expr.op == ir::ExprOp::kCeilDiv) {
    const std::array<int64_t, 2> values = {DecodeToInt64(type, a), DecodeToInt64(type, b)};
    return EncodeFromInt64(expr.type, ir::EvaluateIntOp(expr, values).value_or(0));
  }
  return EvaluateBinary(*ir::ScalarOpOf(expr.op), type, a, b);
}

int64_t Scalars::Int(const ir::Expr& expr) const { return DecodeToInt64(expr.type, Code(expr)); }

}  // namespace tilus::interpret

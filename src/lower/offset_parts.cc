#include "lower/offset_parts.h"

#include <utility>
#include <vector>

#include "base/checked.h"
#include "ir/analysis.h"

namespace tilus::lower {
namespace {

using ir::ExprKind;
using ir::ExprOp;

std::optional<int64_t> ValueOfImmediate(DataType type, Operand operand) {
  if (!operand.is_imm()) return std::nullopt;
  switch (ComputeTypeOf(type)) {
    case ComputeType::kS32:
      return static_cast<int32_t>(static_cast<uint32_t>(operand.value));
    case ComputeType::kU32:
      return static_cast<uint32_t>(operand.value);
    case ComputeType::kS64:
      return static_cast<int64_t>(operand.value);
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> KnownValue(Context& ctx, const ir::Expr& e) {
  if (const std::optional<int64_t> constant = ctx.facts().Constant(e)) return constant;
  if (!e.type.is_integer()) return std::nullopt;
  // Reading a variable gives what it was defined as, without code.
  if (e.kind == ExprKind::kVar) return ValueOfImmediate(e.type, ctx.Scalar(e));
  if (e.kind != ExprKind::kOp) return std::nullopt;
  std::vector<int64_t> args;
  for (const ir::ExprPtr& arg : e.args) {
    const std::optional<int64_t> value = KnownValue(ctx, *arg);
    if (!value) return std::nullopt;
    args.push_back(*value);
  }
  return ir::EvaluateIntOp(e, args);
}

OffsetParts Split(Context& ctx, const ir::ExprPtr& e) {
  if (const std::optional<int64_t> value = KnownValue(ctx, *e)) return {nullptr, *value};
  const OffsetParts whole{e, 0};
  if (e->kind != ExprKind::kOp) return whole;
  if (e->op == ExprOp::kAdd) {
    const OffsetParts x = Split(ctx, e->args[0]), y = Split(ctx, e->args[1]);
    const std::optional<int64_t> constant = CheckedAdd(x.constant, y.constant);
    if (!constant || *constant == 0) return whole;
    if (!x.variable || !y.variable) return {x.variable ? x.variable : y.variable, *constant};
    absl::StatusOr<ir::ExprPtr> sum = ir::MakeOp(ExprOp::kAdd, {x.variable, y.variable});
    return sum.ok() ? OffsetParts{*std::move(sum), *constant} : whole;
  }
  if (e->op == ExprOp::kMul) {
    for (const int k : {0, 1}) {
      const ir::ExprPtr& factor = e->args[static_cast<size_t>(k)];
      const std::optional<int64_t> scale = KnownValue(ctx, *factor);
      if (!scale) continue;
      const OffsetParts x = Split(ctx, e->args[static_cast<size_t>(1 - k)]);
      const std::optional<int64_t> constant = CheckedMul(x.constant, *scale);
      if (!x.variable || !constant || *constant == 0) return whole;
      absl::StatusOr<ir::ExprPtr> product = ir::MakeOp(ExprOp::kMul, {x.variable, factor});
      return product.ok() ? OffsetParts{*std::move(product), *constant} : whole;
    }
  }
  return whole;
}

}  // namespace

OffsetParts SplitOffset(Context& ctx, const ir::ExprPtr& offset) {
  OffsetParts parts = Split(ctx, offset);
  const bool may_part = offset->type == kI32 || offset->type == kI64;
  if (parts.variable && (!may_part || parts.variable->type != offset->type || parts.constant < 0 ||
                         parts.constant > kMaxConstantPart)) {
    return {offset, 0};
  }
  return parts;
}

}  // namespace tilus::lower

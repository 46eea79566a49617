// The constant part of an offset.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/expr.h"
#include "lower/context.h"

namespace tilus::lower {

// offset = variable + constant. Constants here are what is constant where the code stands: the
// variable of an unrolled loop too. So the accesses of unrolled copies differ by immediates.
struct OffsetParts {
  ir::ExprPtr variable;  // null: none
  int64_t constant = 0;
};

// Emits nothing. The parts add up to the offset, but where that wraps in its type. Beside a
// variable the constant is not negative and at most kMaxConstantPart, and the type signed with 32
// bits or more: so an offset that wraps is far below 0, and the tile out of range by either
// reckoning.
inline constexpr int64_t kMaxConstantPart = int64_t{1} << 20;
OffsetParts SplitOffset(Context& ctx, const ir::ExprPtr& offset);

}  // namespace tilus::lower

// Default layouts of a dot's operands: mma fragments spread over the warps of the block.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/program.h"
#include "layout/register_layout.h"

namespace tilus::passes {

struct DotLayouts {
  RegisterLayout a, b, c;
};

// For c[m, n] = a[m, k] . b[k, n] + c with the operand type `type`, on `warps` warps.
//
// Where the tile is made of mma.m16n8k16 (or k8) fragments: the warps form a grid wm x wn over the
// fragments of c, chosen so that each warp reads the fewest operand registers; a is replicated over
// the columns of that grid and b over its rows. Otherwise c is spread over the threads and each
// thread holds its rows of a and columns of b. nullopt when the tile does not fit either.
std::optional<DotLayouts> DefaultDotLayouts(int64_t m, int64_t n, int64_t k, DataType type,
                                            int warps);

}  // namespace tilus::passes

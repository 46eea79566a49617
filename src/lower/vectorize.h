// Choosing the width of memory accesses.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "lower/tile_address.h"

namespace tilus::lower {

// A thread's elements in memory accesses of `bytes` each: they come in runs of `run` consecutive
// locals, and each run is a whole number of accesses.
struct VectorPlan {
  int bytes = 1;    // 16, 8, 4, 2 or 1
  int64_t run = 1;  // elements; run * bits is a multiple of 8 * bytes
};

// The widest accesses such that each run is adjacent in memory in the order of the register bits,
// begins at a multiple of the width, and is in range as a whole or not at all. nullopt where not
// even single bytes are: elements that begin inside bytes.
// @pre locals: the local part of every element of the thread
std::optional<VectorPlan> PlanVectors(const TileAddress& address,
                                      absl::Span<const std::vector<int64_t>> locals);

}  // namespace tilus::lower

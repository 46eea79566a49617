// Loading fragments of 8 x 8 matrices from shared memory: ldmatrix.
#pragma once

#include <optional>

#include "lower/context.h"

namespace tilus::lower {

// The result of a load_shared by ldmatrix, where a candidate of the selection table fits the
// layout, the tile's rows are whole and aligned in shared memory, and it takes fewer instructions
// than `other_cost`; nullopt where none does.
std::optional<RegisterFile> LoadByLdmatrix(Context& ctx, const ir::Instruction& instruction,
                                           const RegisterFile& destination, int64_t other_cost);

}  // namespace tilus::lower

// Random kernels for tests of the passes.
#pragma once

#include <cstdint>

#include "machine/kernel.h"

namespace tilus::machine {

// A kernel that verifies: variables and values, ifs, counted and free loops, guards, constants
// where they can be folded, equal expressions, and stores of what it computes. Two parameters, b32 and
// b64. The same for the same seed.
Kernel RandomKernel(uint64_t seed, int size);

}  // namespace tilus::machine

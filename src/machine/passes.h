// Simplification of a kernel. Each pass is one file, keeps the meaning, and leaves a kernel that
// verifies.
#pragma once

#include "absl/types/span.h"
#include "machine/kernel.h"

namespace tilus::machine {

// Replaces reads of a register that holds a constant or a copy, folds what becomes constant, and
// rewrites multiplications, divisions and remainders by constants into cheaper instructions.
void FoldConstants(Kernel* kernel);
// Reuses the answer of an equal pure instruction of the same block.
void EliminateCommonSubexpressions(Kernel* kernel);
// Moves pure instructions out of loops that do not write what they read.
void HoistLoopInvariants(Kernel* kernel);
// Moves constant additions into the offsets of memory instructions.
void FoldAddresses(Kernel* kernel);
// Drops instructions and structure whose results nobody reads.
void EliminateDeadCode(Kernel* kernel);

struct Pass {
  const char* name;  // "fold-constants"
  void (*run)(Kernel* kernel);
};
// All of them in the order in which Optimize runs them.
absl::Span<const Pass> Passes();
void Optimize(Kernel* kernel);

}  // namespace tilus::machine

// Reads of registers that no write is sure to precede.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/kernel.h"

namespace tilus::machine {

struct UndefinedRead {
  uint32_t instr = kNoIndex;  // or kNoIndex: the predicate of an if, break or continue
  Reg reg;
};

// For a kernel whose operands and blocks are well formed. A value written under a guard counts for
// reads under the same guard, and a value written under a guard and its opposite counts everywhere.
// What follows a loop may rely on what every break out of its first round has behind it.
std::vector<UndefinedRead> FindUndefinedReads(const Kernel& kernel);

}  // namespace tilus::machine

// Runs a kernel of pure instructions, parameters, global stores and structure for one thread, and
// records its stores: enough to compare kernels before and after a pass.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/kernel.h"

namespace tilus::machine {

struct Store {
  uint64_t address;
  uint64_t value;
  friend bool operator==(const Store&, const Store&) = default;
};

// Registers start with a pattern of their own. Stops after `limit` instructions.
std::vector<Store> RunThread(const Kernel& kernel, const std::vector<uint64_t>& params,
                             int limit = 100000);

}  // namespace tilus::machine

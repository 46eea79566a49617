// Lowering: a tile program to the thread-level IR of one target.
//
// What enters: a verified program in which every register tensor has a layout, every shared tensor
// a shared layout and an address, every workspace tensor an address (src/passes sees to that).
// What leaves: one machine::Kernel that agrees with the interpreter (src/interpret).
//
// Each instruction is lowered by a function of a family file (elementwise.cc, cast.cc, memory_*.cc,
// dot.cc, ...) found through one table in lower.cc. Which hardware instruction does the work is
// chosen by tables of candidates: pattern, layout constraint, target, cost.
#pragma once

#include <atomic>

#include "absl/status/statusor.h"
#include "ir/program.h"
#include "machine/kernel.h"

namespace tilus::lower {

// What lowering asks of a target; src/ptx has the table of targets.
struct LowerOptions {
  int sm = 80;                          // 80, 86, 89, 90, 100, 120
  bool arch_specific = false;           // the `a` targets: sm_90a, ...
  int64_t max_shared_bytes = 99 << 10;  // opt-in maximum of a thread block
  ir::Limits limits;
  const std::atomic<bool>* cancelled = nullptr;  // polled at each statement
};

// Parameters of the kernel: those of the program in order, then, when the program has a workspace,
// its pointer. Errors: 500-599 (what the target cannot do; too much shared memory; a dot or copy
// that no candidate fits), limits 15 and 16.
absl::StatusOr<machine::Kernel> Lower(const ir::Program& program, const LowerOptions& options);

}  // namespace tilus::lower

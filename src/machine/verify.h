// Checks that a kernel is well formed.
#pragma once

#include "absl/status/status.h"
#include "machine/kernel.h"

namespace tilus::machine {

// OK when every node, block, register, operand and modifier agrees with the op table, breaks and
// continues stand in loops, and every register is written before it is read on every path (a loop
// body counts as run at least once only for what follows inside it). The status carries one
// diagnostic per fault (at most DiagnosticList::kMaxDiagnostics), each with the path of the tile
// instruction and the printed machine instruction.
absl::Status Verify(const Kernel& kernel);

}  // namespace tilus::machine

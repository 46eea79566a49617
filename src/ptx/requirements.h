// What a kernel needs of a target.
#pragma once

#include "absl/status/status.h"
#include "machine/kernel.h"
#include "ptx/target.h"

namespace tilus::ptx {

// True when `instr` is printed by its expansion for this target.
bool NeedsExpansion(const machine::Instr& instr, const Target& target);

// OK when the target has everything that the kernel needs. One diagnostic for each opcode that it
// lacks.
absl::Status CheckTarget(const machine::Kernel& kernel, const Target& target);

}  // namespace tilus::ptx

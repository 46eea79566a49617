// Prints thread-level IR as PTX.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "machine/kernel.h"
#include "ptx/target.h"

namespace tilus::ptx {

// The PTX of verified kernels for one target. The output depends on the arguments alone. The
// `.version` is the lowest that the target and the instructions need. An instruction that the
// target lacks, and for which there is no expansion, is an error (kTargetLacksInstruction, with
// the path of the tile instruction); so is shared memory beyond the target's.
absl::StatusOr<std::string> PrintPtx(const machine::Kernel& kernel, const Target& target);
absl::StatusOr<std::string> PrintPtx(const machine::Module& module, const Target& target);

// The lowest PTX ISA version (75 = 7.5) that PrintPtx would state.
int RequiredPtxVersion(const machine::Kernel& kernel, const Target& target);

}  // namespace tilus::ptx

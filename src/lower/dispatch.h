// From an instruction to its lowering.
#pragma once

#include "absl/status/status.h"
#include "lower/context.h"

namespace tilus::lower {

absl::Status LowerInstruction(Context& ctx, const ir::Instruction& instruction);

}  // namespace tilus::lower

// The limits on the size of a program, to be checked before anything recurses over it.
#pragma once

#include "absl/status/status.h"
#include "ir/program.h"

namespace tilus::ir {

// Nesting of statements and expressions, and nodes in all: statements, operands, tensors,
// variables, and the nodes of expressions as often as they stand (parts may be shared). An
// expression that is missing (null) is an error too. Time is bounded by the limits, whatever the
// program.
absl::Status CheckLimits(const Program& program, const Limits& limits);

}  // namespace tilus::ir

// Statements: structured control flow of the tile program to that of the machine.
#pragma once

#include "absl/status/status.h"
#include "lower/context.h"

namespace tilus::lower {

// Lowers every statement of the program's body.
absl::Status LowerBody(Context& ctx);

}  // namespace tilus::lower

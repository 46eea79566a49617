// Instructions that an older target does by other instructions, with the same answer.
#pragma once

#include "machine/op.h"

namespace tilus::ptx {

// PTX statements in place of `op`. $N is the N-th operand, {compare} the modifier, @ the place of
// the guard; other names are local to the braces.
struct Expansion {
  machine::Op op;
  const char* text;
};

// The expansion of `op`, usable on every target and PTX version, or nullptr.
const Expansion* FindExpansion(machine::Op op);

}  // namespace tilus::ptx

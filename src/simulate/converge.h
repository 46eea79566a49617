// Checks of instructions that lanes of a warp run together.
#pragma once

#include <cstdint>

#include "simulate/warp.h"

namespace tilus::simulate {

// A finding: lanes that must take part do not. A negative lane: none in particular asks for them.
void ReportMissing(Warp& warp, const Inst& inst, int lane, uint32_t missing);

// All 32 lanes must run it; false, with a finding, otherwise.
bool RequireAllLanes(Warp& warp, const Inst& inst, uint32_t lanes);

// The lanes that run it must be those of the mask that each of them gives.
void RequireMembers(Warp& warp, const Inst& inst, uint32_t lanes, const Place& mask);

// The lanes where an operand that steers the instruction is defined; a finding for the others.
uint32_t DefinedControl(Warp& warp, const Inst& inst, const Place& place, uint32_t lanes);

}  // namespace tilus::simulate

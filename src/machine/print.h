// The readable form of a kernel (`--emit tir`). Stable: the same kernel prints the same text.
#pragma once

#include <string>

#include "machine/kernel.h"

namespace tilus::machine {

std::string Print(const Kernel& kernel);
// One instruction, without indentation or newline: "r12 = AddS32 r3, 4".
std::string PrintInstr(const Kernel& kernel, const Instr& instr);

}  // namespace tilus::machine

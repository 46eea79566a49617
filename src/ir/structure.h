// The shape of an instruction record: operands, result and attributes against its table row. What
// text can only spell one way, a blob or a pass may get wrong.
#pragma once

#include "absl/status/status.h"
#include "ir/program.h"

namespace tilus::ir {

// Checks the number and kinds of operands (scopes included), the kind of result, and that only the
// row's attributes are present. Types are not looked at. After it, operands may be taken apart as
// the table says.
absl::Status CheckStructure(const Program& program, const Instruction& instruction);

// "a register tensor", for an operand letter of instructions.def.
const char* OperandLetterName(char letter);

}  // namespace tilus::ir

// The PTX spelling of an instruction without its operands.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "machine/kernel.h"

namespace tilus::machine {

// "ld.global.nc.v4.b32": the row's mnemonic with the modifiers of `instr`.
void AppendMnemonic(std::string* out, const Instr& instr);

// The operand list of the row ("$0, $1, 4, $2"), or empty when operands follow in order.
absl::string_view OperandTemplate(const OpInfo& info);

}  // namespace tilus::machine

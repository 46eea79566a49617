#include "machine/defs.h"

namespace tilus::machine {

Defs::Defs(const Kernel& kernel) : def_(kernel.regs.size(), kNoIndex) {
  ForEachInstr(kernel, kernel.body, [&](uint32_t index) {
    const Instr& instr = kernel.instrs[index];
    for (const Operand& dst : kernel.Dsts(instr)) {
      uint32_t& def = def_[dst.value];
      def = def == kNoIndex && instr.guard.always() ? index : kMany;
    }
  });
}

}  // namespace tilus::machine

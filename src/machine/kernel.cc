#include "machine/kernel.h"

#include <algorithm>
#include <cstring>

#include "machine/conversion.h"

namespace tilus::machine {

Operand ImmF32(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return Operand::Imm(bits);
}

Operand ImmF64(double v) {
  uint64_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return Operand::Imm(bits);
}

Requirement RequirementOf(const Instr& instr) {
  Requirement need = InfoOf(instr.op).requirement;
  const auto raise = [&need](Requirement other) {
    need.ptx = std::max(need.ptx, other.ptx);
    need.sm = std::max(need.sm, other.sm);
  };
  const Modifiers& mods = instr.mods;
  if (instr.op == Op::kCvt) {
    const Saturation sat = mods.saturate ? Saturation::kYes : Saturation::kNo;
    if (auto cvt = ConversionRequirement(mods.type, mods.from, mods.round, sat)) raise(*cvt);
  }
  if (mods.cache >= Cache::kNoAllocate && mods.cache <= Cache::kEvictLast) raise({74, 80});
  if (mods.scope == Scope::kCluster) raise({78, 90});
  return need;
}

int AccessBytes(const Instr& instr) {
  const OpInfo& info = InfoOf(instr.op);
  if (!info.takes_vector) return 0;
  return BitsOf(instr.mods.type) / 8 * instr.mods.vec;
}

}  // namespace tilus::machine

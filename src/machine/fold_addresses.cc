// [x + c] instead of an addition before each access: unrolled code then shares one base register.
#include <cstdint>

#include "machine/defs.h"
#include "machine/passes.h"

namespace tilus::machine {
namespace {

// Offsets that the machine's load and store instructions take (24 bits and sign).
constexpr int64_t kMaxOffset = (int64_t{1} << 23) - 1;

class AddressFolder {
 public:
  explicit AddressFolder(Kernel* kernel) : kernel_(*kernel), defs_(*kernel) {}

  void Run() {
    ForEachInstr(kernel_, kernel_.body, [this](uint32_t index) {
      const Instr& instr = kernel_.instrs[index];
      if (InfoOf(instr.op).Has(kPure)) return;
      ForEachSource(&kernel_, instr, [this](const OperandSpec& spec, Operand& src) {
        if (spec.kind != OperandKind::kGlobal && spec.kind != OperandKind::kShared) return;
        while (Step(src)) {
        }
      });
    });
  }

 private:
  // Moves one definition of the base into the operand.
  bool Step(Operand& address) const {
    if (!address.is_reg() || !defs_.IsSingle(address.reg())) return false;
    const uint32_t index = defs_.DefOf(address.reg());
    if (index == kNoIndex) return false;
    const Instr& def = kernel_.instrs[index];
    const absl::Span<const Operand> srcs = kernel_.Srcs(def);
    switch (def.op) {
      case Op::kAddS32:
        if (!srcs[1].is_imm()) return false;
        return Replace(address, srcs[0], static_cast<int32_t>(srcs[1].value));
      case Op::kAddS64:
        if (!srcs[1].is_imm()) return false;
        return Replace(address, srcs[0], static_cast<int64_t>(srcs[1].value));
      case Op::kMovB32: case Op::kMovB64:
        if (srcs[0].is_imm() || srcs[0].kind == Operand::Kind::kSpecial) return false;
        return Replace(address, srcs[0], srcs[0].offset);
      default: return false;
    }
  }

  bool Replace(Operand& address, const Operand& base, int64_t offset) const {
    const int64_t sum = offset + address.offset;
    if (base.is_imm() || !defs_.IsConstant(base) || sum > kMaxOffset || sum < -kMaxOffset) {
      return false;
    }
    address = base;
    address.offset = static_cast<int32_t>(sum);
    return true;
  }

  Kernel& kernel_;
  const Defs defs_;
};

}  // namespace

void FoldAddresses(Kernel* kernel) { AddressFolder(kernel).Run(); }

}  // namespace tilus::machine

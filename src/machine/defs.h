// Who writes each register: the base of the passes.
//
// A register is *single* when exactly one instruction of the tree writes it, without a guard. In a
// kernel that verifies, that write comes before every read on every path, so a single register is
// an SSA value: what is known of it at its write holds wherever it is read, and it may be replaced
// by an equal single register.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/kernel.h"

namespace tilus::machine {

class Defs {
 public:
  explicit Defs(const Kernel& kernel);

  bool IsSingle(Reg r) const { return def_[r.id] < kMany; }
  // True for what never changes: immediates, parameters, special registers, single registers.
  bool IsConstant(const Operand& o) const { return !o.is_reg() || IsSingle(o.reg()); }
  // The instruction that writes a single register.
  uint32_t DefOf(Reg r) const { return def_[r.id]; }

 private:
  static constexpr uint32_t kMany = 0xfffffffe;  // several writes, or a guarded one
  std::vector<uint32_t> def_;                    // or kNoIndex: none
};

// Calls visit(index of the instruction) for every instruction under `block`, in order.
template <typename Visit>
void ForEachInstr(const Kernel& kernel, uint32_t block, const Visit& visit) {
  for (const Node& node : kernel.blocks[block].nodes) {
    if (node.kind == Node::Kind::kInstr) {
      visit(node.index);
    } else if (node.kind == Node::Kind::kIf || node.kind == Node::Kind::kLoop) {
      ForEachInstr(kernel, node.index, visit);
      if (node.other != kNoIndex) ForEachInstr(kernel, node.other, visit);
    }
  }
}

// Calls visit(spec, operand) for each source of `instr` with the spec it stands at.
template <typename Visit>
void ForEachSource(Kernel* kernel, const Instr& instr, const Visit& visit) {
  const absl::Span<Operand> srcs = kernel->MutableSrcs(instr);
  size_t at = 0;
  for (const OperandSpec& spec : InfoOf(instr.op).src_specs()) {
    const size_t count = spec.kind == OperandKind::kRest ? srcs.size() - at
                         : spec.count == 0               ? instr.mods.vec
                                                         : spec.count;
    for (size_t i = 0; i < count; ++i) visit(spec, srcs[at++]);
  }
}

}  // namespace tilus::machine

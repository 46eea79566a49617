// Constant folding and copy propagation, in one walk in program order: whatever is known of a
// single register is known before its first read.
#include <array>
#include <utility>
#include <vector>

#include "machine/defs.h"
#include "machine/fold.h"
#include "machine/passes.h"

namespace tilus::machine {
namespace {

bool IsMov(Op op) {
  return op == Op::kMovPred || op == Op::kMovB16 || op == Op::kMovB32 || op == Op::kMovB64;
}

Op MovOf(RegClass c) {
  static constexpr Op kMovs[] = {Op::kMovPred, Op::kMovB16, Op::kMovB32, Op::kMovB64};
  return kMovs[static_cast<int>(c)];
}

class ConstantFolder {
 public:
  explicit ConstantFolder(Kernel* kernel) : kernel_(*kernel), defs_(*kernel) {
    known_.reserve(kernel->regs.size());
    for (uint32_t id = 0; id < kernel->regs.size(); ++id) known_.push_back(Reg{id});
  }

  void Run() { Walk(kernel_.body); }

 private:
  // What becomes of a node.
  enum class Fate : uint8_t { kKeep, kDrop, kThen, kElse };

  void Walk(uint32_t block) {
    std::vector<std::pair<size_t, Fate>> changes;
    for (size_t i = 0; i < kernel_.blocks[block].nodes.size(); ++i) {
      const Fate fate = Visit(kernel_.blocks[block].nodes[i]);
      if (fate != Fate::kKeep) changes.emplace_back(i, fate);
    }
    if (!changes.empty()) Rebuild(block, changes);
  }

  // Drops nodes, and puts the surviving branch of a decided if in its place.
  void Rebuild(uint32_t block, const std::vector<std::pair<size_t, Fate>>& changes) {
    const std::vector<Node> old = std::move(kernel_.blocks[block].nodes);
    std::vector<Node> nodes;
    nodes.reserve(old.size());
    size_t next = 0;
    for (size_t i = 0; i < old.size(); ++i) {
      if (next == changes.size() || changes[next].first != i) {
        nodes.push_back(old[i]);
        continue;
      }
      const Fate fate = changes[next++].second;
      if (fate == Fate::kDrop) continue;
      const uint32_t branch = fate == Fate::kThen ? old[i].index : old[i].other;
      std::vector<Node>& inner = kernel_.blocks[branch].nodes;
      nodes.insert(nodes.end(), inner.begin(), inner.end());
      inner.clear();
    }
    kernel_.blocks[block].nodes = std::move(nodes);
  }

  Fate Visit(Node& node) {
    switch (node.kind) {
      case Node::Kind::kInstr: return VisitInstr(kernel_.instrs[node.index]);
      case Node::Kind::kIf: return VisitIf(node);
      case Node::Kind::kLoop: {
        const auto [body, latch] = std::pair(node.index, node.other);
        Walk(body);
        if (latch != kNoIndex) Walk(latch);
        return Fate::kKeep;
      }
      default: return Decide(node.guard);
    }
  }

  Fate VisitIf(Node& node) {
    Guard guard = node.guard;
    const Fate fate = Decide(guard);
    const auto [then, otherwise] = std::pair(node.index, node.other);
    if (fate == Fate::kDrop) {
      if (otherwise == kNoIndex) return Fate::kDrop;
      Walk(otherwise);
      return Fate::kElse;
    }
    if (guard.always()) {
      Walk(then);
      return Fate::kThen;
    }
    node.guard = guard;
    Walk(then);
    if (otherwise != kNoIndex) Walk(otherwise);
    return Fate::kKeep;
  }

  // Simplifies a guard; kDrop when it never holds.
  Fate Decide(Guard& guard) {
    while (!guard.always()) {
      const Operand& known = known_[guard.pred.id];
      if (known.is_imm()) {
        const bool holds = (known.value & 1) != static_cast<uint64_t>(guard.negated);
        guard = Guard();
        return holds ? Fate::kKeep : Fate::kDrop;
      }
      if (known.reg() != guard.pred) {
        guard.pred = known.reg();
        continue;
      }
      // A negation turns the guard round.
      if (!defs_.IsSingle(guard.pred) || defs_.DefOf(guard.pred) == kNoIndex) break;
      const Instr& def = kernel_.instrs[defs_.DefOf(guard.pred)];
      if (def.op != Op::kNotPred || !defs_.IsConstant(kernel_.Srcs(def)[0])) break;
      guard.pred = kernel_.Srcs(def)[0].reg();
      guard.negated = !guard.negated;
    }
    return Fate::kKeep;
  }

  Fate VisitInstr(Instr& instr) {
    if (Decide(instr.guard) == Fate::kDrop) return Fate::kDrop;
    const OpInfo& info = InfoOf(instr.op);
    const bool foldable = info.Has(kPure) && !info.Has(kConvergent) && instr.num_dst == 1 &&
                          instr.num_src <= 4;
    if (foldable && !IsMov(instr.op) && TryFold(instr)) {
      Learn(instr);
      return Fate::kKeep;
    }
    ForEachSource(&kernel_, instr, [&](const OperandSpec& spec, Operand& src) {
      if (src.is_reg()) Substitute(spec, src);
    });
    if (foldable) Learn(instr);
    return Fate::kKeep;
  }

  void Substitute(const OperandSpec& spec, Operand& src) {
    const Operand& known = known_[src.value];
    if (known.is_reg()) {
      src.value = known.value;
      return;
    }
    const bool takes_constant = !spec.register_only && spec.kind != OperandKind::kGlobal &&
                                spec.kind != OperandKind::kShared &&
                                spec.kind != OperandKind::kRest;
    if (takes_constant) src = known;
  }

  // Folds with all that is known, also where PTX takes no immediate. True when it became a move or
  // a cheaper instruction.
  bool TryFold(Instr& instr) {
    std::array<Operand, 4> srcs;
    size_t count = 0;
    for (const Operand& src : kernel_.Srcs(instr)) {
      srcs[count++] = src.is_reg() ? known_[src.value] : src;
    }
    bool changed = Reassociate(instr.op, srcs);
    for (;;) {
      const Folded folded = Fold(instr.op, instr.mods, absl::MakeConstSpan(srcs.data(), count));
      if (folded.kind == Folded::Kind::kSame) break;
      changed = true;
      instr.mods = Modifiers();
      if (folded.kind == Folded::Kind::kValue) {
        instr.op = MovOf(kernel_.ClassOf(kernel_.Dsts(instr)[0].reg()));
        srcs[0] = folded.value;
        count = 1;
        break;
      }
      instr.op = folded.op;
      count = folded.num_srcs;
      for (size_t i = 0; i < count; ++i) srcs[i] = folded.srcs[i];
      Reassociate(instr.op, srcs);
    }
    if (!changed) return false;
    instr.num_src = static_cast<uint16_t>(count);
    const absl::Span<Operand> out = kernel_.MutableSrcs(instr);
    for (size_t i = 0; i < count; ++i) out[i] = srcs[i];
    return true;
  }

  // (x + c1) + c2 becomes x + (c1 + c2), so that chains of offsets stay one addition deep.
  bool Reassociate(Op op, std::array<Operand, 4>& srcs) const {
    const bool wide = op == Op::kAddS64;
    if ((!wide && op != Op::kAddS32) || !srcs[1].is_imm() || !srcs[0].is_reg()) return false;
    const Reg base = srcs[0].reg();
    if (!defs_.IsSingle(base) || defs_.DefOf(base) == kNoIndex) return false;
    const Instr& def = kernel_.instrs[defs_.DefOf(base)];
    if (def.op != op) return false;
    const absl::Span<const Operand> inner = kernel_.Srcs(def);
    if (!inner[1].is_imm() || !inner[0].is_reg() || !defs_.IsSingle(inner[0].reg())) return false;
    const uint64_t sum = inner[1].value + srcs[1].value;
    srcs[0] = inner[0];
    srcs[1] = Operand::Imm(wide ? sum : static_cast<uint32_t>(sum));
    return true;
  }

  // Remembers the value of a single register that is a constant or a copy of one.
  void Learn(const Instr& instr) {
    if (!IsMov(instr.op) || !instr.guard.always()) return;
    const Reg d = kernel_.Dsts(instr)[0].reg();
    const Operand& src = kernel_.Srcs(instr)[0];
    if (!defs_.IsSingle(d)) return;
    if (src.is_imm() || (src.is_reg() && defs_.IsSingle(src.reg()))) known_[d.id] = src;
  }

  Kernel& kernel_;
  const Defs defs_;
  std::vector<Operand> known_;  // by register: itself, an immediate, or an equal single register
};

}  // namespace

void FoldConstants(Kernel* kernel) { ConstantFolder(kernel).Run(); }

}  // namespace tilus::machine

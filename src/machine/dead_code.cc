// Marks what has an effect and what that needs, then drops the rest: instructions, ifs left empty,
// loops without effects, and what follows an unconditional jump.
#include <utility>
#include <vector>

#include "machine/passes.h"

namespace tilus::machine {
namespace {

class DeadCode {
 public:
  explicit DeadCode(Kernel* kernel)
      : kernel_(*kernel),
        info_(kernel->blocks.size()),
        block_of_(kernel->instrs.size(), kNoIndex),
        live_(kernel->instrs.size(), false),
        needed_(kernel->regs.size(), false),
        first_def_(kernel->regs.size(), kNoIndex) {}

  void Run() {
    Gather(kernel_.body, kNoIndex, kNoIndex);
    MarkBlock(kernel_.body);
    for (uint32_t index : roots_) MarkInstr(index);
    while (!pending_.empty()) {
      const Reg r = pending_.back();
      pending_.pop_back();
      for (uint32_t at = first_def_[r.id]; at != kNoIndex; at = defs_[at].next) {
        MarkInstr(defs_[at].instr);
      }
    }
    Sweep(kernel_.body);
  }

 private:
  struct BlockInfo {
    uint32_t parent = kNoIndex;
    uint32_t loop = kNoIndex;  // the body block of the innermost loop around it, or its own
    Reg pred;                  // of the if that it belongs to
    bool is_live = false;
    std::vector<uint32_t> jumps;  // of a loop's body: blocks that break or continue it
    std::vector<Reg> jump_preds;
  };
  struct Def {
    uint32_t instr;
    uint32_t next;
  };

  static bool HasEffect(const Instr& instr) {
    const OpInfo& info = InfoOf(instr.op);
    constexpr uint16_t kEffects = kWrites | kBarrier | kAsync | kControl | kOutside;
    return (info.flags & kEffects) != 0 || instr.mods.order != Order::kWeak;
  }

  // Notes parents, definitions and roots; cuts off what is not reached.
  void Gather(uint32_t block, uint32_t parent, uint32_t loop) {
    info_[block].parent = parent;
    info_[block].loop = loop;
    for (size_t i = 0; i < kernel_.blocks[block].nodes.size(); ++i) {
      const Node node = kernel_.blocks[block].nodes[i];
      bool ends = false;
      switch (node.kind) {
        case Node::Kind::kInstr: ends = GatherInstr(node.index, block); break;
        case Node::Kind::kIf:
          Gather(node.index, block, loop);
          info_[node.index].pred = node.guard.pred;
          if (node.other == kNoIndex) break;
          Gather(node.other, block, loop);
          info_[node.other].pred = node.guard.pred;
          break;
        case Node::Kind::kLoop:
          Gather(node.index, block, node.index);
          if (node.other != kNoIndex) Gather(node.other, node.index, node.index);
          break;
        default:
          info_[loop].jumps.push_back(block);
          if (!node.guard.always()) info_[loop].jump_preds.push_back(node.guard.pred);
          ends = node.guard.always();
      }
      if (ends) kernel_.blocks[block].nodes.resize(i + 1);
    }
  }

  // True when nothing after it runs.
  bool GatherInstr(uint32_t index, uint32_t block) {
    const Instr& instr = kernel_.instrs[index];
    block_of_[index] = block;
    for (const Operand& dst : kernel_.Dsts(instr)) {
      defs_.push_back({index, first_def_[dst.value]});
      first_def_[dst.value] = static_cast<uint32_t>(defs_.size() - 1);
    }
    if (HasEffect(instr)) roots_.push_back(index);
    return instr.op == Op::kExit && instr.guard.always();
  }

  void Need(Reg r) {
    if (!r.valid() || needed_[r.id]) return;
    needed_[r.id] = true;
    pending_.push_back(r);
  }

  void MarkInstr(uint32_t index) {
    if (live_[index]) return;
    live_[index] = true;
    const Instr& instr = kernel_.instrs[index];
    Need(instr.guard.pred);
    for (const Operand& src : kernel_.Srcs(instr)) {
      if (src.is_reg()) Need(src.reg());
    }
    MarkBlock(block_of_[index]);
  }

  // A block with live code needs the decisions that lead to it, and a live loop its way out.
  void MarkBlock(uint32_t block) {
    for (; block != kNoIndex && !info_[block].is_live; block = info_[block].parent) {
      info_[block].is_live = true;
      Need(info_[block].pred);
      const uint32_t loop = info_[block].loop;
      if (loop == kNoIndex) continue;
      for (Reg r : std::exchange(info_[loop].jump_preds, {})) Need(r);
      for (uint32_t jump : std::exchange(info_[loop].jumps, {})) MarkBlock(jump);
    }
  }

  bool Keep(Node& node) {
    switch (node.kind) {
      case Node::Kind::kInstr: return live_[node.index];
      case Node::Kind::kLoop:
        if (!info_[node.index].is_live) return false;
        Sweep(node.index);
        if (node.other == kNoIndex) return true;
        Sweep(node.other);
        if (kernel_.blocks[node.other].nodes.empty()) node.other = kNoIndex;
        return true;
      case Node::Kind::kIf: return KeepIf(node);
      default: return true;
    }
  }

  bool KeepIf(Node& node) {
    const auto swept_empty = [&](uint32_t block) {
      if (block == kNoIndex || !info_[block].is_live) return true;
      Sweep(block);
      return kernel_.blocks[block].nodes.empty();
    };
    const bool no_then = swept_empty(node.index);
    if (swept_empty(node.other)) node.other = kNoIndex;
    if (!no_then) return true;
    if (node.other == kNoIndex) return false;
    node.index = std::exchange(node.other, kNoIndex);
    node.guard.negated = !node.guard.negated;
    return true;
  }

  void Sweep(uint32_t block) {
    std::vector<Node>& nodes = kernel_.blocks[block].nodes;
    size_t kept = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      Node node = nodes[i];
      if (Keep(node)) nodes[kept++] = node;
    }
    nodes.resize(kept);
  }

  Kernel& kernel_;
  std::vector<BlockInfo> info_;
  std::vector<uint32_t> block_of_;   // by instruction
  std::vector<bool> live_;           // by instruction
  std::vector<bool> needed_;         // by register
  std::vector<uint32_t> first_def_;  // by register: a list in defs_
  std::vector<Def> defs_;
  std::vector<uint32_t> roots_;
  std::vector<Reg> pending_;
};

}  // namespace

void EliminateDeadCode(Kernel* kernel) { DeadCode(kernel).Run(); }

}  // namespace tilus::machine

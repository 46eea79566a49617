#include "evaluator.h"

#include "machine/evaluate.h"

namespace tilus::machine {
namespace {

class Thread {
 public:
  Thread(const Kernel& kernel, const std::vector<uint64_t>& params, int limit)
      : kernel_(kernel), params_(params), limit_(limit), regs_(kernel.regs.size()) {
    for (size_t i = 0; i < regs_.size(); ++i) regs_[i] = 0xdead0000 + i;
  }

  std::vector<Store> Run() {
    Block(kernel_.body);
    return stores_;
  }

 private:
  enum class Next { kGo, kBreak, kContinue, kExit };

  bool Holds(const Guard& guard) const {
    return guard.always() || ((regs_[guard.pred.id] & 1) != 0) != guard.negated;
  }

  Next Block(uint32_t block) {
    for (const Node& node : kernel_.blocks[block].nodes) {
      if (--limit_ < 0) return Next::kExit;
      Next next = Next::kGo;
      switch (node.kind) {
        case Node::Kind::kInstr: next = Instruction(kernel_.instrs[node.index]); break;
        case Node::Kind::kIf:
          if (Holds(node.guard)) {
            next = Block(node.index);
          } else if (node.other != kNoIndex) {
            next = Block(node.other);
          }
          break;
        case Node::Kind::kLoop: next = Loop(node); break;
        case Node::Kind::kBreak: next = Holds(node.guard) ? Next::kBreak : Next::kGo; break;
        case Node::Kind::kContinue: next = Holds(node.guard) ? Next::kContinue : Next::kGo; break;
      }
      if (next != Next::kGo) return next;
    }
    return Next::kGo;
  }

  Next Loop(const Node& node) {
    for (;;) {
      const Next next = Block(node.index);
      if (next == Next::kExit) return next;
      if (next == Next::kBreak) return Next::kGo;
      if (node.other != kNoIndex && Block(node.other) == Next::kExit) return Next::kExit;
      if (--limit_ < 0) return Next::kExit;
    }
  }

  uint64_t Read(const Operand& o) const {
    switch (o.kind) {
      case Operand::Kind::kReg: return regs_[o.value];
      case Operand::Kind::kImm: return o.value;
      case Operand::Kind::kSpecial: return o.value + 3;
      case Operand::Kind::kSharedBase: return static_cast<uint64_t>(o.offset);
      case Operand::Kind::kParam: return params_[o.value];
    }
    return 0;
  }

  Next Instruction(const Instr& instr) {
    if (!Holds(instr.guard)) return Next::kGo;
    const absl::Span<const Operand> srcs = kernel_.Srcs(instr);
    switch (instr.op) {
      case Op::kExit: return Next::kExit;
      case Op::kStGlobal:
        for (size_t i = 1; i < srcs.size(); ++i) {
          stores_.push_back({Read(srcs[0]) + static_cast<uint64_t>(int64_t{srcs[0].offset}) + 4 * i,
                             Read(srcs[i])});
        }
        return Next::kGo;
      case Op::kMovPred: case Op::kMovB16: case Op::kMovB32: case Op::kMovB64: case Op::kLdParam:
        regs_[kernel_.Dsts(instr)[0].value] = Read(srcs[0]);
        return Next::kGo;
      case Op::kUnpackB64: {
        const uint64_t value = Read(srcs[0]);
        regs_[kernel_.Dsts(instr)[0].value] = static_cast<uint32_t>(value);
        regs_[kernel_.Dsts(instr)[1].value] = value >> 32;
        return Next::kGo;
      }
      default: break;
    }
    std::vector<uint64_t> values;
    for (const Operand& src : srcs) values.push_back(Read(src));
    // Division by zero is the target's choice; here it is 77.
    regs_[kernel_.Dsts(instr)[0].value] = Evaluate(instr.op, instr.mods, values).value_or(77);
    return Next::kGo;
  }

  const Kernel& kernel_;
  const std::vector<uint64_t>& params_;
  int limit_;
  std::vector<uint64_t> regs_;
  std::vector<Store> stores_;
};

}  // namespace

std::vector<Store> RunThread(const Kernel& kernel, const std::vector<uint64_t>& params, int limit) {
  return Thread(kernel, params, limit).Run();
}

}  // namespace tilus::machine

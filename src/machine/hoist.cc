// Loop-invariant code motion. Inner loops first, so that what leaves an inner loop can leave the
// outer one too.
#include <vector>

#include "machine/defs.h"
#include "machine/passes.h"

namespace tilus::machine {
namespace {

class Hoister {
 public:
  explicit Hoister(Kernel* kernel)
      : kernel_(*kernel), defs_(*kernel), written_in_(kernel->regs.size(), 0) {}

  void Run() { Walk(kernel_.body); }

 private:
  void Walk(uint32_t block) {
    std::vector<Node> out;
    bool moved = false;
    const size_t size = kernel_.blocks[block].nodes.size();
    for (size_t i = 0; i < size; ++i) {
      const Node node = kernel_.blocks[block].nodes[i];
      if (node.kind == Node::Kind::kIf || node.kind == Node::Kind::kLoop) {
        Walk(node.index);
        if (node.other != kNoIndex) Walk(node.other);
      }
      if (node.kind == Node::Kind::kLoop) {
        const std::vector<Node> invariant = TakeInvariant(node);
        if (!invariant.empty() && !moved) {
          const std::vector<Node>& nodes = kernel_.blocks[block].nodes;
          out.assign(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(i));
          moved = true;
        }
        out.insert(out.end(), invariant.begin(), invariant.end());
      }
      if (moved) out.push_back(node);
    }
    if (moved) kernel_.blocks[block].nodes = std::move(out);
  }

  // Takes out of the loop's body what computes the same in every round.
  std::vector<Node> TakeInvariant(const Node& loop) {
    ++stamp_;
    const auto mark = [&](uint32_t index) {
      for (const Operand& dst : kernel_.Dsts(kernel_.instrs[index])) {
        written_in_[dst.value] = stamp_;
      }
    };
    ForEachInstr(kernel_, loop.index, mark);
    if (loop.other != kNoIndex) ForEachInstr(kernel_, loop.other, mark);

    std::vector<Node> invariant;
    std::vector<Node>& nodes = kernel_.blocks[loop.index].nodes;
    size_t kept = 0;
    for (const Node& node : nodes) {
      if (node.kind == Node::Kind::kInstr && IsInvariant(kernel_.instrs[node.index])) {
        for (const Operand& dst : kernel_.Dsts(kernel_.instrs[node.index])) {
          written_in_[dst.value] = 0;
        }
        invariant.push_back(node);
      } else {
        nodes[kept++] = node;
      }
    }
    nodes.resize(kept);
    return invariant;
  }

  bool IsInvariant(const Instr& instr) const {
    const OpInfo& info = InfoOf(instr.op);
    if (!info.Has(kPure) || info.Has(kConvergent) || !instr.guard.always()) return false;
    for (const Operand& src : kernel_.Srcs(instr)) {
      if (src.is_reg() && written_in_[src.value] == stamp_) return false;
    }
    for (const Operand& dst : kernel_.Dsts(instr)) {
      if (!defs_.IsSingle(dst.reg())) return false;
    }
    return true;
  }

  Kernel& kernel_;
  const Defs defs_;
  std::vector<uint32_t> written_in_;  // by register: the stamp of the loop that writes it
  uint32_t stamp_ = 0;
};

}  // namespace

void HoistLoopInvariants(Kernel* kernel) { Hoister(kernel).Run(); }

}  // namespace tilus::machine

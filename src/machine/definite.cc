#include "machine/definite.h"

#include <algorithm>

namespace tilus::machine {
namespace {

// Registers that are surely written at a point; all of them at a point that is not reached.
class Defined {
 public:
  explicit Defined(size_t regs) : words_((regs + 63) / 64, 0) {}
  bool Has(Reg r) const { return words_[r.id / 64] >> (r.id % 64) & 1; }
  void Add(Reg r) { words_[r.id / 64] |= uint64_t{1} << (r.id % 64); }
  void AddAll() { std::fill(words_.begin(), words_.end(), ~uint64_t{0}); }
  void Intersect(const Defined& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  }

 private:
  std::vector<uint64_t> words_;
};

class Finder {
 public:
  explicit Finder(const Kernel& kernel)
      : kernel_(kernel), defined_(kernel.regs.size()), guarded_(kernel.regs.size()) {}

  std::vector<UndefinedRead> Run() {
    Walk(kernel_.body);
    return std::move(found_);
  }

 private:
  struct Loop {
    Defined at_break;
    Defined at_continue;
  };

  void Walk(uint32_t block) {
    for (const Node& node : kernel_.blocks[block].nodes) {
      switch (node.kind) {
        case Node::Kind::kInstr: Instruction(node.index); break;
        case Node::Kind::kIf: If(node); break;
        case Node::Kind::kLoop: LoopNode(node); break;
        case Node::Kind::kBreak: Jump(node, loops_.back().at_break); break;
        case Node::Kind::kContinue: Jump(node, loops_.back().at_continue); break;
      }
    }
  }

  void Read(uint32_t instr, Reg r, const Guard& guard) {
    if (defined_.Has(r)) return;
    const Guard& written = guarded_[r.id];
    const bool same = !guard.always() && written.pred == guard.pred &&
                      written.negated == guard.negated;
    if (same) return;
    found_.push_back({instr, r});
    defined_.Add(r);  // one report a register
  }

  void Write(Reg r, const Guard& guard) {
    if (guard.always()) return defined_.Add(r);
    Guard& written = guarded_[r.id];
    if (written.pred == guard.pred && written.negated != guard.negated) defined_.Add(r);
    written = guard;
  }

  void Instruction(uint32_t index) {
    const Instr& instr = kernel_.instrs[index];
    if (!instr.guard.always()) Read(index, instr.guard.pred, Guard());
    for (const Operand& src : kernel_.Srcs(instr)) {
      if (src.is_reg()) Read(index, src.reg(), instr.guard);
    }
    for (const Operand& dst : kernel_.Dsts(instr)) Write(dst.reg(), instr.guard);
    if (InfoOf(instr.op).Has(kControl) && instr.guard.always()) defined_.AddAll();
  }

  void If(const Node& node) {
    Read(kNoIndex, node.guard.pred, Guard());
    const Defined before = defined_;
    Walk(node.index);
    Defined after = before;
    std::swap(after, defined_);
    if (node.other != kNoIndex) Walk(node.other);
    defined_.Intersect(after);
  }

  void LoopNode(const Node& node) {
    Loop loop{defined_, defined_};
    loop.at_break.AddAll();
    loop.at_continue.AddAll();
    loops_.push_back(std::move(loop));
    Walk(node.index);
    if (node.other != kNoIndex) {
      defined_.Intersect(loops_.back().at_continue);
      Walk(node.other);
    }
    // The only ways on are the breaks; a loop without one is never left.
    defined_ = loops_.back().at_break;
    loops_.pop_back();
  }

  void Jump(const Node& node, Defined& target) {
    if (!node.guard.always()) Read(kNoIndex, node.guard.pred, Guard());
    target.Intersect(defined_);
    if (node.guard.always()) defined_.AddAll();
  }

  const Kernel& kernel_;
  Defined defined_;
  std::vector<Guard> guarded_;  // the last guard under which a register was written
  std::vector<Loop> loops_;
  std::vector<UndefinedRead> found_;
};

}  // namespace

std::vector<UndefinedRead> FindUndefinedReads(const Kernel& kernel) {
  return Finder(kernel).Run();
}

}  // namespace tilus::machine

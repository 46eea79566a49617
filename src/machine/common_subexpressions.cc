// Value numbering over the tree: an instruction finds equal ones of its own block and of the blocks
// around it, which all run before it.
#include <cstdint>
#include <vector>

#include "machine/defs.h"
#include "machine/passes.h"

namespace tilus::machine {
namespace {

class ValueNumbering {
 public:
  explicit ValueNumbering(Kernel* kernel)
      : kernel_(*kernel), defs_(*kernel), last_write_(kernel->regs.size(), 0) {
    rename_.reserve(kernel->regs.size());
    for (uint32_t id = 0; id < kernel->regs.size(); ++id) rename_.push_back(Reg{id});
    size_t size = 64;
    while (size < 2 * kernel->instrs.size()) size *= 2;
    heads_.assign(size, kNoIndex);
  }

  void Run() { Walk(kernel_.body); }

 private:
  // A seen instruction, and the write clock at its place: its answer stands as long as none of the
  // variables that it read was written later.
  struct Entry {
    uint64_t hash;
    uint32_t instr;
    uint32_t clock;
    uint32_t next;  // of the same bucket
  };

  void Walk(uint32_t block) {
    const size_t scope = entries_.size();
    std::vector<Node>& nodes = kernel_.blocks[block].nodes;
    size_t kept = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      Node node = nodes[i];
      if (!node.guard.always()) node.guard.pred = rename_[node.guard.pred.id];
      if (node.kind == Node::Kind::kInstr && !Keep(node.index)) continue;
      if (node.kind == Node::Kind::kLoop) ForgetWrittenIn(node);
      nodes[kept++] = node;
      if (node.kind == Node::Kind::kIf || node.kind == Node::Kind::kLoop) {
        Walk(node.index);
        if (node.other != kNoIndex) Walk(node.other);
      }
    }
    nodes.resize(kept);
    // What this block found is not known outside it.
    while (entries_.size() > scope) {
      const Entry& entry = entries_.back();
      heads_[entry.hash & (heads_.size() - 1)] = entry.next;
      entries_.pop_back();
    }
  }

  // The body may have run before: values of variables that it writes are not those from outside.
  void ForgetWrittenIn(const Node& loop) {
    ++clock_;
    const auto forget = [&](uint32_t index) {
      for (const Operand& dst : kernel_.Dsts(kernel_.instrs[index])) {
        last_write_[dst.value] = clock_;
      }
    };
    ForEachInstr(kernel_, loop.index, forget);
    if (loop.other != kNoIndex) ForEachInstr(kernel_, loop.other, forget);
  }

  // False when an equal instruction has the answer.
  bool Keep(uint32_t index) {
    Instr& instr = kernel_.instrs[index];
    if (!instr.guard.always()) instr.guard.pred = rename_[instr.guard.pred.id];
    for (Operand& src : kernel_.MutableSrcs(instr)) {
      if (src.is_reg()) src.value = rename_[src.value].id;
    }
    const OpInfo& info = InfoOf(instr.op);
    bool candidate = info.Has(kPure) && !info.Has(kConvergent) && instr.guard.always();
    for (const Operand& dst : kernel_.Dsts(instr)) {
      if (!defs_.IsSingle(dst.reg())) {
        last_write_[dst.value] = ++clock_;
        candidate = false;
      }
    }
    if (!candidate) return true;
    const uint64_t hash = HashOf(instr);
    uint32_t& head = heads_[hash & (heads_.size() - 1)];
    for (uint32_t at = head; at != kNoIndex; at = entries_[at].next) {
      if (entries_[at].hash != hash || !Equal(entries_[at], instr)) continue;
      const absl::Span<const Operand> answers = kernel_.Dsts(kernel_.instrs[entries_[at].instr]);
      const absl::Span<const Operand> dsts = kernel_.Dsts(instr);
      for (size_t i = 0; i < dsts.size(); ++i) rename_[dsts[i].value] = answers[i].reg();
      return false;
    }
    entries_.push_back({hash, index, clock_, head});
    head = static_cast<uint32_t>(entries_.size() - 1);
    return true;
  }

  uint64_t HashOf(const Instr& instr) const {
    const Modifiers& m = instr.mods;
    uint64_t hash = static_cast<uint64_t>(instr.op) | static_cast<uint64_t>(m.type) << 16 |
                    static_cast<uint64_t>(m.from) << 24 | static_cast<uint64_t>(m.compare) << 32 |
                    static_cast<uint64_t>(m.round) << 40;
    for (const Operand& src : kernel_.Srcs(instr)) {
      hash = (hash ^ src.value ^ static_cast<uint64_t>(src.kind) << 56 ^
              static_cast<uint64_t>(static_cast<uint32_t>(src.offset)) << 32) *
             0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
    return hash;
  }

  bool Equal(const Entry& entry, const Instr& instr) const {
    const Instr& other = kernel_.instrs[entry.instr];
    if (other.op != instr.op || other.mods != instr.mods) return false;
    const absl::Span<const Operand> srcs = kernel_.Srcs(instr);
    if (kernel_.Srcs(other) != srcs) return false;
    for (const Operand& src : srcs) {
      if (src.is_reg() && last_write_[src.value] > entry.clock) return false;
    }
    return true;
  }

  Kernel& kernel_;
  const Defs defs_;
  std::vector<Reg> rename_;           // by register: itself, or the equal one that stays
  std::vector<uint32_t> last_write_;  // by register: the clock of its last possible write
  uint32_t clock_ = 0;
  std::vector<Entry> entries_;   // a stack, by scope
  std::vector<uint32_t> heads_;  // buckets: the newest entry, or kNoIndex
};

}  // namespace

void EliminateCommonSubexpressions(Kernel* kernel) { ValueNumbering(kernel).Run(); }

}  // namespace tilus::machine

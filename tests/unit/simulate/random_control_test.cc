// Random structured programs: each lane of a warp ends as a thread that runs alone.
#include <random>

#include "machine/evaluate.h"
#include "run_kernel.h"

namespace tilus::simulate {
namespace {

using machine::Instr;
using machine::kNoIndex;
using machine::Node;

// Runs one thread of a kernel of moves, 32-bit arithmetic, comparisons and exits, node by node.
class OneThread {
 public:
  OneThread(const Kernel& kernel, uint32_t tid) : kernel_(kernel), tid_(tid) {
    regs_.resize(kernel.regs.size());
  }

  enum class Flow { kNext, kBreak, kContinue, kExit };

  Flow Run(uint32_t block) {
    for (const Node& node : kernel_.blocks[block].nodes) {
      const Flow flow = Run(node);
      if (flow != Flow::kNext) return flow;
    }
    return Flow::kNext;
  }

  uint64_t reg(Reg r) const { return regs_[r.id]; }

 private:
  bool Holds(const machine::Guard& guard) const {
    return guard.always() || (regs_[guard.pred.id] != 0) != guard.negated;
  }

  Flow Run(const Node& node) {
    switch (node.kind) {
      case Node::Kind::kInstr:
        return Run(kernel_.instrs[node.index]);
      case Node::Kind::kIf:
        if (Holds(node.guard)) return Run(node.index);
        return node.other == kNoIndex ? Flow::kNext : Run(node.other);
      case Node::Kind::kLoop:
        for (;;) {
          const Flow flow = Run(node.index);
          if (flow == Flow::kExit) return flow;
          if (flow == Flow::kBreak) return Flow::kNext;
          if (node.other != kNoIndex && Run(node.other) == Flow::kExit) return Flow::kExit;
        }
      case Node::Kind::kBreak:
        return Holds(node.guard) ? Flow::kBreak : Flow::kNext;
      case Node::Kind::kContinue:
        return Holds(node.guard) ? Flow::kContinue : Flow::kNext;
    }
    return Flow::kNext;
  }

  Flow Run(const Instr& instr) {
    if (!Holds(instr.guard)) return Flow::kNext;
    if (instr.op == Op::kExit) return Flow::kExit;
    std::vector<uint64_t> srcs;
    for (const Operand& o : kernel_.Srcs(instr)) {
      srcs.push_back(o.is_reg()                          ? regs_[o.value]
                     : o.kind == Operand::Kind::kSpecial ? tid_
                                                         : o.value);
    }
    if (instr.num_dst == 0) return Flow::kNext;  // the stores
    uint64_t& d = regs_[kernel_.Dsts(instr)[0].value];
    const bool move = instr.op == Op::kMovB32 || instr.op == Op::kMovPred;
    if (move) {
      d = srcs[0];
    } else if (const auto value = machine::Evaluate(instr.op, instr.mods, srcs)) {
      d = *value;
    }
    return Flow::kNext;
  }

  const Kernel& kernel_;
  uint32_t tid_;
  std::vector<uint64_t> regs_;
};

// Appends random statements over three variables to a kernel.
class Generator {
 public:
  Generator(TestKernel* k, unsigned seed) : k_(*k), b_(k->b()), random_(seed) {
    tid_ = k_.Tid();
    for (Reg& v : variables_) v = b_.Copy(RegClass::kB32, b_.AddS32(tid_, ImmU32(random_() % 9)));
    pred_ = b_.Copy(RegClass::kPred, Operand::Imm(0));
  }

  void Statements(int depth, int loops) {
    const int count = 1 + static_cast<int>(random_() % 4);
    for (int i = 0; i < count; ++i) Statement(depth, loops);
  }
  Reg variable(size_t i) const { return variables_[i]; }

 private:
  Reg AnyVariable() { return variables_[random_() % 3]; }

  void Arithmetic() {
    const Reg d = AnyVariable(), a = AnyVariable();
    switch (random_() % 4) {
      case 0:
        return b_.AddS32(d, a, ImmU32(random_() % 100));
      case 1:
        return b_.XorB32(d, a, AnyVariable());
      case 2:
        return b_.MulLoS32(d, a, ImmU32(random_() % 7));
      default:
        return b_.SubS32(d, AnyVariable(), tid_);
    }
  }

  // A predicate that differs between lanes.
  machine::Guard Condition() {
    const Operand bits = b_.AndB32(AnyVariable(), ImmU32(1 + random_() % 7));
    b_.SetpU32(pred_, static_cast<Compare>(1 + random_() % 6), bits, ImmU32(random_() % 4));
    return random_() % 2 == 0 ? When(pred_) : Unless(pred_);
  }

  void Statement(int depth, int loops) {
    const unsigned kind = random_() % 10;
    if (depth > 0 && kind < 3) {
      b_.BeginIf(Condition());
      Statements(depth - 1, loops);
      if (random_() % 2 == 0) {
        b_.BeginElse();
        Statements(depth - 1, loops);
      }
      b_.EndIf();
    } else if (depth > 0 && kind < 5) {
      b_.BeginFor(ImmU32(0), b_.AndB32(AnyVariable(), ImmU32(7)), 1);
      Statements(depth - 1, loops + 1);
      b_.EndFor();
    } else if (loops > 0 && kind == 5) {
      b_.Break(Condition());
    } else if (loops > 0 && kind == 6) {
      b_.Continue(Condition());
    } else if (kind == 7 && random_() % 8 == 0) {
      const machine::GuardScope guard(&b_, Condition());
      b_.Exit();
    } else if (kind == 8) {
      const machine::Guard condition = Condition();
      const machine::GuardScope guard(&b_, condition);
      Arithmetic();
    } else {
      Arithmetic();
    }
  }

  TestKernel& k_;
  Builder& b_;
  std::mt19937 random_;
  Operand tid_;
  std::array<Reg, 3> variables_;
  Reg pred_;
};

TEST(RandomControl, EachLaneEndsAsAThreadAlone) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::vector<uint32_t> out(64 * 3, 0xdeadbeef);
    TestKernel k(64);
    const Operand target = k.Buffer(&out);
    Generator generator(&k, seed);
    for (int i = 0; i < 4; ++i) generator.Statements(3, 0);
    for (uint32_t v = 0; v < 3; ++v) {
      k.b().StGlobal(k.At(target, k.Tid(), 12).Plus(static_cast<int32_t>(4 * v)), Type::kB32,
                     {generator.variable(v)});
    }
    k.options().schedule_seed = seed;
    k.RunClean();
    for (uint32_t t = 0; t < 64; ++t) {
      OneThread thread(k.kernel(), t);
      const bool exited = thread.Run(k.kernel().body) == OneThread::Flow::kExit;
      for (uint32_t v = 0; v < 3; ++v) {
        const uint64_t want = exited ? 0xdeadbeef : thread.reg(generator.variable(v));
        ASSERT_EQ(out[t * 3 + v], want) << "seed " << seed << ", thread " << t;
      }
    }
  }
}

}  // namespace
}  // namespace tilus::simulate

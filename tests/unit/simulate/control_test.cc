// Structured control flow with diverging lanes.
#include "run_kernel.h"

namespace tilus::simulate {
namespace {

using ::testing::ElementsAre;

TEST(Control, EveryThreadOfEveryBlockRuns) {
  std::vector<uint32_t> out(3 * 2 * 2 * 64, 0);
  TestKernel k(64);
  const Operand base = k.Buffer(&out);
  Builder& b = k.b();
  const Operand x = b.Read(Special::kCtaidX), y = b.Read(Special::kCtaidY),
                z = b.Read(Special::kCtaidZ);
  const Operand block =
      b.MadLoS32(b.MadLoS32(z, b.Read(Special::kNctaidY), y), b.Read(Special::kNctaidX), x);
  const Operand index = b.MadLoS32(block, b.Read(Special::kNtidX), k.Tid());
  b.StGlobal(k.At(base, index, 4), Type::kB32, {b.AddS32(index, ImmU32(1))});
  k.RunClean({3, 2, 2});
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i + 1);
}

TEST(Control, NestedIfsAndElses) {
  std::vector<uint32_t> out(32);
  TestKernel k;
  const Operand base = k.Buffer(&out);
  Builder& b = k.b();
  const Reg r = b.Copy(RegClass::kB32, ImmU32(0));
  const auto test = [&](uint32_t bit) {
    return b.Materialize(RegClass::kPred,
                         b.SetpU32(Compare::kNe, b.AndB32(k.Tid(), ImmU32(bit)), ImmU32(0)));
  };
  b.BeginIf(When(test(1)));
  {
    b.BeginIf(Unless(test(2)));
    b.AddS32(r, r, ImmU32(10));
    b.BeginElse();
    b.AddS32(r, r, ImmU32(20));
    b.EndIf();
    b.AddS32(r, r, ImmU32(1));
  }
  b.BeginElse();
  {
    b.BeginIf(When(test(4)));
    b.AddS32(r, r, ImmU32(30));
    b.EndIf();
    b.AddS32(r, r, ImmU32(2));
  }
  b.EndIf();
  b.AddS32(r, r, ImmU32(100));
  k.StoreByTid(base, r);
  k.RunClean();
  for (uint32_t t = 0; t < 32; ++t) {
    const uint32_t want = 100 + (t & 1 ? (t & 2 ? 21 : 11) : (t & 4 ? 32 : 2));
    EXPECT_EQ(out[t], want) << t;
  }
}

TEST(Control, LanesLeaveALoopAtTheirOwnRound) {
  std::vector<uint32_t> out(32);
  TestKernel k;
  const Operand base = k.Buffer(&out);
  Builder& b = k.b();
  const Reg sum = b.Copy(RegClass::kB32, ImmU32(0));
  const Reg i = b.BeginFor(ImmU32(0), k.Tid(), 1);
  b.AddS32(sum, sum, i);
  b.EndFor();
  k.StoreByTid(base, sum);
  k.RunClean();
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t * (t - 1) / 2) << t;
}

// sum over i < 10, skipping i == tid, leaving at i == tid / 2 + 6; inner loop of i rounds.
TEST(Control, BreakAndContinueInNestedLoops) {
  std::vector<uint32_t> out(32);
  TestKernel k;
  const Operand base = k.Buffer(&out);
  Builder& b = k.b();
  const Reg sum = b.Copy(RegClass::kB32, ImmU32(0));
  const Operand stop = b.AddS32(b.ShrU32(k.Tid(), ImmU32(1)), ImmU32(6));
  const Reg i = b.BeginFor(ImmU32(0), ImmU32(10), 1);
  b.Break(When(b.Materialize(RegClass::kPred, b.SetpS32(Compare::kEq, i, stop))));
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpS32(Compare::kEq, i, k.Tid()))));
  b.Continue();
  b.EndIf();
  const Reg j = b.BeginFor(ImmU32(0), ImmU32(100), 1);
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpS32(Compare::kGe, j, i))));
  b.Break();
  b.BeginElse();
  b.AddS32(sum, sum, ImmU32(1));
  b.EndIf();
  b.AddS32(sum, sum, ImmU32(100));
  b.EndFor();
  b.AddS32(sum, sum, ImmU32(10000));
  b.EndFor();
  k.StoreByTid(base, sum);
  k.RunClean();
  for (uint32_t t = 0; t < 32; ++t) {
    uint32_t want = 0;
    for (uint32_t n = 0; n < 10; ++n) {
      if (n == t / 2 + 6) break;
      if (n == t) continue;
      for (uint32_t m = 0; m < n; ++m) want += 101;
      want += 10000;
    }
    EXPECT_EQ(out[t], want) << t;
  }
}

TEST(Control, AGuardedInstructionRunsForItsLanes) {
  std::vector<uint32_t> out(32);
  TestKernel k;
  const Operand base = k.Buffer(&out);
  Builder& b = k.b();
  const Reg r = b.Copy(RegClass::kB32, ImmU32(1));
  const Reg p = b.Materialize(RegClass::kPred, b.SetpU32(Compare::kLt, k.Tid(), ImmU32(5)));
  {
    machine::GuardScope g(&b, When(p));
    b.AddS32(r, r, ImmU32(1));
  }
  {
    machine::GuardScope g(&b, Unless(p));
    b.AddS32(r, r, ImmU32(10));
  }
  k.StoreByTid(base, r);
  k.RunClean();
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t < 5 ? 2u : 11u);
}

TEST(Control, ExitEndsThreadsInLoopsAndIfs) {
  std::vector<uint32_t> out(64, 7);
  TestKernel k(64);
  const Operand base = k.Buffer(&out);
  Builder& b = k.b();
  const Operand tid = k.Tid();
  const Reg i = b.BeginFor(ImmU32(0), ImmU32(4), 1);
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpS32(Compare::kEq, i, tid))));
  b.Exit();
  b.EndIf();
  b.EndFor();
  // The whole second warp ends here.
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kGe, k.Tid(), ImmU32(32)))));
  b.Exit();
  b.EndIf();
  k.StoreByTid(base, k.Tid());
  k.RunClean();
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t < 4 || t >= 32 ? 7u : t);
}

TEST(Control, BranchesOfUndefinedPredicatesAreFound) {
  TestKernel k;
  Builder& b = k.b();
  const Reg never = b.NewReg(RegClass::kB32);
  const Reg p = b.NewReg(RegClass::kPred);
  b.SetpS32(p, Compare::kEq, never, ImmU32(0));
  b.BeginIf(When(p));
  b.EndIf();
  EXPECT_THAT(Faults(k.RunUnverified()), ElementsAre(Fault::kUninitialised));
}

TEST(Control, AnEndlessLoopMeetsTheStepLimit) {
  TestKernel k;
  k.b().BeginLoop();
  k.b().EndLoop();
  k.options().max_steps = 1000;
  const Report report = k.RunUnverified();
  EXPECT_THAT(Faults(report), ElementsAre(Fault::kStepLimit));
  EXPECT_EQ(report.instructions, 1000);
}

TEST(Control, CancellationEndsTheRun) {
  TestKernel k;
  k.b().BeginLoop();
  k.b().EndLoop();
  int polls = 0;
  k.options().cancelled = [&] { return ++polls > 3; };
  const auto report = simulate::Run(k.kernel(), {1, 1, 1}, k.arguments(), k.options());
  EXPECT_EQ(report.status().code(), absl::StatusCode::kCancelled);
}

TEST(Control, ATrapStopsTheLaunch) {
  std::vector<uint32_t> out(4, 0);
  TestKernel k;
  const Operand base = k.Buffer(&out);
  Builder& b = k.b();
  const Operand x = b.Read(Special::kCtaidX);
  b.StGlobal(k.At(base, x, 4), Type::kB32, {ImmU32(1)});
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kEq, x, ImmU32(1)))));
  b.Trap();
  b.EndIf();
  EXPECT_THAT(Faults(k.Run({4, 1, 1})), ElementsAre(Fault::kTrap));
  EXPECT_THAT(out, ElementsAre(1, 1, 0, 0));
}

TEST(Launch, BadArgumentsAreErrors) {
  TestKernel k;
  std::vector<uint32_t> out(32);
  k.Buffer(&out);
  EXPECT_EQ(simulate::Run(k.kernel(), {1, 1, 1}, {}, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(simulate::Run(k.kernel(), {-1, 1, 1}, k.arguments(), {}).ok());
  const int64_t huge = int64_t{1} << 40;
  EXPECT_FALSE(simulate::Run(k.kernel(), {huge, huge, 1}, k.arguments(), {}).ok());
  EXPECT_TRUE(simulate::Run(k.kernel(), {0, 1, 1}, k.arguments(), {}).ok());
}

TEST(Launch, ASeedChangesTheOrderOfBlocksOnly) {
  std::vector<uint32_t> order;
  for (uint64_t seed : {0, 1, 2, 3}) {
    std::vector<uint32_t> counter(1, 0), out(10, 99);
    TestKernel k;
    const Operand count = k.Buffer(&counter), base = k.Buffer(&out);
    Builder& b = k.b();
    const Reg p = b.Materialize(RegClass::kPred, b.SetpU32(Compare::kEq, k.Tid(), ImmU32(0)));
    b.BeginIf(When(p));
    const Reg ticket = b.Atom(Op::kAtomGlobalAdd, Type::kU32, count, ImmU32(1));
    b.StGlobal(k.At(base, b.Read(Special::kCtaidX), 4), Type::kB32, {ticket});
    b.EndIf();
    k.options().schedule_seed = seed;
    k.RunClean({10, 1, 1});
    EXPECT_EQ(counter[0], 10u);
    if (seed == 0) order = out;
    if (seed != 0) {
      EXPECT_NE(out, order);
    }
    EXPECT_THAT(out, ::testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  }
}

}  // namespace
}  // namespace tilus::simulate

#include "machine/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "absl/strings/str_split.h"
#include "evaluator.h"
#include "machine/builder.h"
#include "machine/defs.h"
#include "machine/print.h"
#include "machine/verify.h"
#include "random_kernel.h"

namespace tilus::machine {
namespace {

// The body's lines without indentation.
std::vector<std::string> Lines(const Kernel& kernel) {
  std::vector<std::string> lines;
  for (absl::string_view line : absl::StrSplit(Print(kernel), '\n')) {
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    if (!line.empty() && line != "}") lines.emplace_back(line);
  }
  lines.erase(lines.begin());
  return lines;
}

size_t CountInstrs(const Kernel& kernel) {
  size_t count = 0;
  ForEachInstr(kernel, kernel.body, [&](uint32_t) { ++count; });
  return count;
}

// ---- Every pass keeps the meaning of random kernels.

class EachPassTest : public testing::TestWithParam<int> {};

TEST_P(EachPassTest, KeepsStoresOfRandomKernels) {
  const size_t which = static_cast<size_t>(GetParam());
  size_t before = 0, after = 0, stores = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Kernel kernel = RandomKernel(seed, 6 + static_cast<int>(seed % 30));
    ASSERT_TRUE(Verify(kernel).ok()) << Verify(kernel) << Print(kernel);
    const Kernel original = kernel;
    std::vector<std::vector<Store>> expected;
    for (uint64_t n : {0u, 1u, 7u, 0x80000001u}) expected.push_back(RunThread(kernel, {n, 0x1000}));
    before += CountInstrs(kernel);
    if (which < Passes().size()) {
      Passes()[which].run(&kernel);
    } else {
      Optimize(&kernel);
    }
    after += CountInstrs(kernel);
    ASSERT_TRUE(Verify(kernel).ok()) << Verify(kernel) << Print(original) << Print(kernel);
    size_t i = 0;
    for (uint64_t n : {0u, 1u, 7u, 0x80000001u}) {
      stores += expected[i].size();
      ASSERT_EQ(RunThread(kernel, {n, 0x1000}), expected[i++])
          << "seed " << seed << "\n" << Print(original) << Print(kernel);
    }
  }
  EXPECT_LE(after, before);
  EXPECT_GT(stores, 1000u);
}

INSTANTIATE_TEST_SUITE_P(
    Passes, EachPassTest, testing::Range(0, 6), [](const testing::TestParamInfo<int>& info) {
      const size_t i = static_cast<size_t>(info.param);
      std::string name = i < Passes().size() ? Passes()[i].name : "all";
      for (char& c : name) c = c == '-' ? '_' : c;
      return name;
    });

TEST(OptimizeTest, IsDeterministic) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Kernel a = RandomKernel(seed, 30), b = RandomKernel(seed, 30);
    Optimize(&a);
    Optimize(&b);
    EXPECT_EQ(Print(a), Print(b));
  }
}

// ---- What each pass is for.

class PassTest : public testing::Test {
 protected:
  PassTest() : b(&kernel) {
    Param pointer;
    pointer.name = "out";
    pointer.type = Type::kB64;
    pointer.size = pointer.align = 8;
    kernel.params.push_back(pointer);
    out = b.LdParam(0);
    x = b.Read(Special::kTidX);
  }
  // A value without the builder's folding.
  Reg Raw(Op op, std::initializer_list<Operand> srcs) {
    const Reg r = b.NewReg(op == Op::kAddS64 ? RegClass::kB64 : RegClass::kB32);
    b.Emit(op, {r}, srcs);
    return r;
  }

  Kernel kernel;
  Builder b;
  Reg out, x;
};

TEST_F(PassTest, ConstantsAndCopiesReachTheirReads) {
  const Reg four = Raw(Op::kMovB32, {ImmU32(4)});
  const Reg sum = Raw(Op::kAddS32, {four, four});
  const Reg copy = Raw(Op::kMovB32, {x});
  const Reg product = Raw(Op::kMulLoS32, {copy, sum});
  b.StGlobal(out, Type::kB32, {product});
  FoldConstants(&kernel);
  EXPECT_THAT(Lines(kernel), testing::IsSupersetOf({"r5 = shl.b32 r1, 3", "r3 = mov.b32 8"}));
}

TEST_F(PassTest, AdditionsOfConstantsCombine) {
  Reg r = x;
  for (int i = 0; i < 5; ++i) r = Raw(Op::kAddS32, {r, ImmS32(10)});
  b.StGlobal(out, Type::kB32, {r});
  FoldConstants(&kernel);
  EliminateDeadCode(&kernel);
  EXPECT_THAT(Lines(kernel), testing::Contains("r6 = add.s32 r1, 50"));
  EXPECT_EQ(CountInstrs(kernel), 4u);
}

TEST_F(PassTest, VariablesAreNotConstants) {
  const Reg v = b.Copy(RegClass::kB32, ImmU32(1));
  b.BeginLoop();
  b.StGlobal(out, Type::kB32, {v});
  b.AddS32(v, v, ImmU32(1));
  const Operand p = b.SetpU32(Compare::kGt, v, ImmU32(5));
  b.Break(When(p.reg()));
  b.EndLoop();
  const std::string before = Print(kernel);
  FoldConstants(&kernel);
  EXPECT_EQ(Print(kernel), before);
}

TEST_F(PassTest, DecidedBranchesDisappear) {
  const Reg yes = b.Copy(RegClass::kPred, Operand::Imm(1));
  const Reg no = b.NewReg(RegClass::kPred);
  b.NotPred(no, yes);
  b.BeginIf(When(no));
  b.StGlobal(out, Type::kB32, {ImmU32(1)});
  b.BeginElse();
  b.StGlobal(out, Type::kB32, {ImmU32(2)});
  b.EndIf();
  b.SetGuard(When(no));
  b.StGlobal(out, Type::kB32, {ImmU32(3)});
  b.SetGuard(When(yes));
  b.StGlobal(out, Type::kB32, {ImmU32(4)});
  Optimize(&kernel);
  EXPECT_EQ(Lines(kernel), (std::vector<std::string>{
                               "param out: b64 size 8", "d0 = ld.param.b64 [out]",
                               "st.global.b32 [d0], 2", "st.global.b32 [d0], 4"}));
}

TEST_F(PassTest, NegatedPredicatesTurnGuardsRound) {
  const Reg p = b.SetpU32(Compare::kLt, x, ImmU32(5)).reg();
  const Reg q = b.NewReg(RegClass::kPred);
  b.NotPred(q, p);
  b.SetGuard(When(q));
  b.StGlobal(out, Type::kB32, {x});
  Optimize(&kernel);
  EXPECT_THAT(Lines(kernel), testing::Contains("@!p2 st.global.b32 [d0], r1"));
}

TEST_F(PassTest, EqualExpressionsAreComputedOnce) {
  const Reg a = Raw(Op::kMulLoS32, {x, ImmU32(12)});
  const Reg p = b.SetpU32(Compare::kLt, x, ImmU32(5)).reg();
  b.BeginIf(When(p));
  const Reg c = Raw(Op::kMulLoS32, {x, ImmU32(12)});
  b.StGlobal(out, Type::kB32, {a, c});
  b.EndIf();
  EliminateCommonSubexpressions(&kernel);
  EXPECT_THAT(Lines(kernel), testing::Contains("st.global.v2.b32 [d0], {r2,r2}"));
}

TEST_F(PassTest, ExpressionsOfAWrittenVariableAreNotEqual) {
  const Reg v = b.Copy(RegClass::kB32, x);
  const Reg a = Raw(Op::kMulLoS32, {v, ImmU32(12)});
  b.AddS32(v, v, ImmU32(1));
  const Reg c = Raw(Op::kMulLoS32, {v, ImmU32(12)});
  b.StGlobal(out, Type::kB32, {a, c});
  EliminateCommonSubexpressions(&kernel);
  EXPECT_THAT(Lines(kernel), testing::Contains("st.global.v2.b32 [d0], {r3,r4}"));
}

TEST_F(PassTest, ExpressionsBeforeALoopThatWritesTheirVariableAreNotEqual) {
  const Reg v = b.Copy(RegClass::kB32, x);
  const Reg a = Raw(Op::kMulLoS32, {v, ImmU32(12)});
  b.BeginLoop();
  const Reg c = Raw(Op::kMulLoS32, {v, ImmU32(12)});
  b.StGlobal(out, Type::kB32, {a, c});
  b.AddS32(v, v, ImmU32(1));
  b.Break(When(b.SetpU32(Compare::kGt, v, ImmU32(5)).reg()));
  b.EndLoop();
  EliminateCommonSubexpressions(&kernel);
  EXPECT_THAT(Lines(kernel), testing::Contains("st.global.v2.b32 [d0], {r3,r4}"));
}

TEST_F(PassTest, AddressesOfAWrittenVariableStay) {
  const Reg v = b.Copy(RegClass::kB64, out);
  const Reg address = Raw(Op::kAddS64, {v, ImmS64(16)});
  b.AddS64(v, v, ImmS64(4));
  b.StGlobal(address, Type::kB32, {x});
  FoldAddresses(&kernel);
  EXPECT_THAT(Lines(kernel), testing::Contains("st.global.b32 [d3], r1"));
}

TEST_F(PassTest, NegationsOfAWrittenPredicateStay) {
  const Reg p = b.NewReg(RegClass::kPred);
  b.SetpU32(p, Compare::kLt, x, ImmU32(5));
  const Reg q = b.NewReg(RegClass::kPred);
  b.NotPred(q, p);
  b.SetpU32(p, Compare::kLt, x, ImmU32(9));
  b.SetGuard(When(q));
  b.StGlobal(out, Type::kB32, {x});
  FoldConstants(&kernel);
  EXPECT_THAT(Lines(kernel), testing::Contains("@p3 st.global.b32 [d0], r1"));
}

TEST_F(PassTest, InvariantsLeaveNestedLoops) {
  const Reg i = b.BeginFor(ImmS32(0), x, 1);
  b.BeginFor(ImmS32(0), x, 1);
  const Reg invariant = Raw(Op::kMulLoS32, {x, ImmU32(12)});
  const Reg of_outer = Raw(Op::kMulLoS32, {i, ImmU32(12)});
  b.StGlobal(out, Type::kB32, {invariant, of_outer});
  b.EndFor();
  b.EndFor();
  HoistLoopInvariants(&kernel);
  const std::vector<std::string> lines = Lines(kernel);
  const auto at = [&](const std::string& text) {
    for (size_t k = 0; k < lines.size(); ++k) {
      if (lines[k].find(text) != std::string::npos) return static_cast<int>(k);
    }
    return -1;
  };
  const auto first_loop = std::find(lines.begin(), lines.end(), "loop {");
  const auto second_loop = std::find(first_loop + 1, lines.end(), "loop {");
  EXPECT_LT(at("mul.lo.s32 r1, 12"), first_loop - lines.begin());
  EXPECT_GT(at("mul.lo.s32 r2, 12"), first_loop - lines.begin());
  EXPECT_LT(at("mul.lo.s32 r2, 12"), second_loop - lines.begin());
}

TEST_F(PassTest, AdditionsBecomeOffsets) {
  const Reg near = Raw(Op::kAddS64, {out, ImmS64(-64)});
  const Reg far = Raw(Op::kAddS64, {near, ImmS64(256)});
  b.StGlobal(Operand(far).Plus(8), Type::kB32, {x});
  const Reg base = Raw(Op::kMovB32, {Operand::SharedBase()});
  b.StShared(Raw(Op::kAddS32, {base, ImmU32(1024)}), Type::kB32, {x});
  const Reg huge = Raw(Op::kAddS64, {out, ImmS64(int64_t{1} << 40)});
  b.StGlobal(huge, Type::kB32, {x});
  FoldAddresses(&kernel);
  EXPECT_THAT(Lines(kernel), testing::IsSupersetOf({"st.global.b32 [d0+200], r1",
                                                    "st.shared.b32 [shared+1024], r1",
                                                    "st.global.b32 [d6], r1"}));
}

TEST_F(PassTest, DeadCodeGoesWithItsIfsAndLoops) {
  const Reg i = b.BeginFor(ImmS32(0), x, 1);
  const Reg p = b.SetpU32(Compare::kLt, i, ImmU32(5)).reg();
  b.BeginIf(When(p));
  b.LdGlobal(Type::kB32, out);
  b.EndIf();
  b.EndFor();
  b.StGlobal(out, Type::kB32, {x});
  EliminateDeadCode(&kernel);
  EXPECT_EQ(CountInstrs(kernel), 3u);
}

TEST_F(PassTest, EffectsAndOrderedLoadsStay) {
  b.LdGlobal(Type::kB32, out, {Cache::kDefault, Order::kVolatile, Scope::kNone});
  b.Atom(Op::kAtomGlobalAdd, Type::kU32, out, ImmU32(1));
  b.SyncThreads();
  b.CpAsyncCommitGroup();
  b.Exit();
  b.SyncThreads();  // not reached
  const size_t before = CountInstrs(kernel);
  EliminateDeadCode(&kernel);
  // The read of tid.x and what follows the exit.
  EXPECT_EQ(CountInstrs(kernel), before - 2);
}

// ---- Speed: the whole list takes about 2 ms for 10,000 instructions; the bound is for unoptimised
// and sanitized builds on a busy machine.
TEST(OptimizeTest, TakesMilliseconds) {
  Kernel kernel;
  for (uint64_t seed = 0; kernel.instrs.size() < 5000; ++seed) kernel = RandomKernel(seed, 70);
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    Kernel copy = kernel;
    const auto start = std::chrono::steady_clock::now();
    Optimize(&copy);
    const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
    best = std::min(best, ms.count());
  }
  RecordProperty("milliseconds", std::to_string(best));
  EXPECT_LT(best * 10000 / static_cast<double>(kernel.instrs.size()), 100);
}

}  // namespace
}  // namespace tilus::machine

#include "machine/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "machine/builder.h"

namespace tilus::machine {
namespace {

using testing::HasSubstr;

class VerifyTest : public testing::Test {
 protected:
  VerifyTest() : b(&kernel) {
    r = b.Copy(RegClass::kB32, ImmU32(1));
    h = b.Copy(RegClass::kB16, ImmB16(1));
    d = b.Copy(RegClass::kB64, ImmS64(1));
    p = b.Copy(RegClass::kPred, Operand::Imm(1));
    EXPECT_TRUE(Verify(kernel).ok());
  }

  // The message of the first error.
  std::string Message() const {
    const auto diagnostics = DiagnosticsOf(Verify(kernel));
    return diagnostics.empty() ? "" : diagnostics[0].message;
  }
  static Modifiers Of(Type type) {
    Modifiers mods;
    mods.type = type;
    return mods;
  }

  Kernel kernel;
  Builder b;
  Reg r, h, d, p;
};

TEST_F(VerifyTest, RegisterOfAnotherClass) {
  b.SetPath(b.AddPath("k.body[2]"));
  b.Emit(Op::kAddS32, {r}, {r, d});
  const auto diagnostics = DiagnosticsOf(Verify(kernel));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].id, DiagId::kMachineCode);
  EXPECT_EQ(diagnostics[0].path, "k.body[2]");
  EXPECT_EQ(diagnostics[0].excerpt, "r0 = add.s32 r0, d2");
  EXPECT_THAT(diagnostics[0].message, HasSubstr("operand 1 of the sources is not a b32 value"));
}

TEST_F(VerifyTest, DestinationOfAnotherClass) {
  b.Emit(Op::kAddS32, {h}, {r, r});
  EXPECT_THAT(Message(), HasSubstr("destinations"));
}

TEST_F(VerifyTest, RegisterThatDoesNotExist) {
  b.Emit(Op::kNotB32, {r}, {Reg{99}});
  EXPECT_THAT(Message(), HasSubstr("not a b32 value"));
}

TEST_F(VerifyTest, WrongNumberOfOperands) {
  b.Emit(Op::kAddS32, {r}, {r});
  EXPECT_THAT(Message(), HasSubstr("has 1 sources and takes 2"));
}

TEST_F(VerifyTest, ImmediateWiderThanItsPlace) {
  b.Emit(Op::kAddS32, {r}, {r, Operand::Imm(uint64_t{1} << 32)});
  EXPECT_THAT(Message(), HasSubstr("not a b32 value"));
}

TEST_F(VerifyTest, ImmediateWhereThereIsNone) {
  const Instr& instr = b.Emit(Op::kNegF16, {h}, {h});
  kernel.MutableSrcs(instr)[0] = ImmB16(1);
  EXPECT_THAT(Message(), HasSubstr("not a b16 value"));
}

TEST_F(VerifyTest, SpecialRegisterOutsideAMove) {
  b.Emit(Op::kAddS32, {r}, {r, Operand::Of(Special::kTidX)});
  EXPECT_FALSE(Verify(kernel).ok());
}

TEST_F(VerifyTest, ModifiersThatTheRowDoesNotTake) {
  Modifiers mods;
  mods.saturate = true;
  b.Emit(Op::kAddS32, {r}, {r, r}, mods);
  EXPECT_THAT(Message(), HasSubstr("does not take this saturation"));
}

TEST_F(VerifyTest, MissingComparison) {
  b.Emit(Op::kSetpS32, {p}, {r, r});
  EXPECT_THAT(Message(), HasSubstr("does not take this comparison"));
}

TEST_F(VerifyTest, UnorderedIntegerComparison) {
  b.Emit(Op::kSetpU32, {p}, {r, r}, Builder::CompareModifiers(Compare::kNan));
  EXPECT_THAT(Message(), HasSubstr("unordered"));
}

TEST_F(VerifyTest, ConversionThatDoesNotExist) {
  Modifiers mods = Of(Type::kS32);
  mods.from = Type::kF32;
  b.Emit(Op::kCvt, {r}, {r}, mods);  // without rounding
  EXPECT_THAT(Message(), HasSubstr("no such conversion"));
}

TEST_F(VerifyTest, AccessWiderThan16Bytes) {
  Modifiers mods = Of(Type::kB64);
  mods.vec = 4;
  b.Emit(Op::kLdGlobal, {d, d, d, d}, {d}, mods);
  EXPECT_THAT(Message(), HasSubstr("wider than 16 bytes"));
}

TEST_F(VerifyTest, NonCoherentStore) {
  Modifiers mods = Of(Type::kB32);
  mods.cache = Cache::kNonCoherent;
  b.Emit(Op::kStGlobal, {}, {d, r}, mods);
  EXPECT_THAT(Message(), HasSubstr("non-coherent"));
}

TEST_F(VerifyTest, OrderWithoutScopeAndReleaseLoad) {
  Modifiers mods = Of(Type::kB32);
  mods.order = Order::kAcquire;
  b.Emit(Op::kLdGlobal, {r}, {d}, mods);
  EXPECT_THAT(Message(), HasSubstr("go together"));
  kernel.instrs.back().mods.order = Order::kRelease;
  kernel.instrs.back().mods.scope = Scope::kGpu;
  EXPECT_THAT(Message(), HasSubstr("release is not for this access"));
  kernel.instrs.back().mods.order = Order::kAcquire;
  EXPECT_TRUE(Verify(kernel).ok());
}

TEST_F(VerifyTest, ParameterOutOfRange) {
  b.Emit(Op::kLdParam, {r}, {Operand::Param(0)}, Of(Type::kB32));
  EXPECT_FALSE(Verify(kernel).ok());
  kernel.params.emplace_back();
  EXPECT_TRUE(Verify(kernel).ok());
  kernel.instrs.back().mods.type = Type::kB64;
  EXPECT_FALSE(Verify(kernel).ok());
}

TEST_F(VerifyTest, BarrierNumberAndCount) {
  b.BarSync(ImmU32(16), ImmU32(32));
  EXPECT_THAT(Message(), HasSubstr("0 to 15"));
  kernel.MutableSrcs(kernel.instrs.back())[0] = ImmU32(15);
  kernel.MutableSrcs(kernel.instrs.back())[1] = ImmU32(33);
  EXPECT_THAT(Message(), HasSubstr("whole warps"));
}

TEST_F(VerifyTest, GuardThatIsNoPredicate) {
  b.SetGuard(When(r));
  b.Mov(r, r);
  EXPECT_THAT(Message(), HasSubstr("guard is not a predicate"));
}

TEST_F(VerifyTest, BreakOutsideALoop) {
  b.Break();
  EXPECT_THAT(Message(), HasSubstr("outside a loop"));
}

TEST_F(VerifyTest, BreakInALatch) {
  b.BeginLoop();
  b.BeginLatch();
  b.Break(When(p));
  b.EndLoop();
  EXPECT_THAT(Message(), HasSubstr("outside a loop's body"));
}

TEST_F(VerifyTest, BlockUsedTwice) {
  b.BeginIf(When(p));
  b.EndIf();
  kernel.blocks[kernel.body].nodes.back().other = kernel.blocks[kernel.body].nodes.back().index;
  EXPECT_THAT(Message(), HasSubstr("used twice"));
}

TEST_F(VerifyTest, ThreadsAndMissingBody) {
  kernel.num_threads = 33;
  EXPECT_FALSE(Verify(kernel).ok());
  EXPECT_FALSE(Verify(Kernel()).ok());
}

TEST_F(VerifyTest, AllErrorsAreReported) {
  for (int i = 0; i < 5; ++i) b.Emit(Op::kAddS32, {r}, {r});
  EXPECT_EQ(DiagnosticsOf(Verify(kernel)).size(), 5u);
}

// ---- Reads before writes.

TEST_F(VerifyTest, ReadBeforeWrite) {
  const Reg fresh = b.NewReg(RegClass::kB32);
  b.Mov(r, fresh);
  const auto diagnostics = DiagnosticsOf(Verify(kernel));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].id, DiagId::kMachineUndefined);
}

TEST_F(VerifyTest, WriteOnOneSideOfAnIf) {
  const Reg fresh = b.NewReg(RegClass::kB32);
  b.BeginIf(When(p));
  b.Mov(fresh, r);
  b.BeginElse();
  b.EndIf();
  b.Mov(r, fresh);
  EXPECT_FALSE(Verify(kernel).ok());
}

TEST_F(VerifyTest, WriteOnBothSidesOfAnIf) {
  const Reg fresh = b.NewReg(RegClass::kB32);
  b.BeginIf(When(p));
  b.Mov(fresh, r);
  b.BeginElse();
  b.Mov(fresh, ImmU32(3));
  b.EndIf();
  b.Mov(r, fresh);
  EXPECT_TRUE(Verify(kernel).ok()) << Verify(kernel);
}

TEST_F(VerifyTest, OneSideThatLeaves) {
  const Reg fresh = b.NewReg(RegClass::kB32);
  b.BeginIf(When(p));
  b.Mov(fresh, r);
  b.BeginElse();
  b.Exit();
  b.EndIf();
  b.Mov(r, fresh);
  EXPECT_TRUE(Verify(kernel).ok()) << Verify(kernel);
}

TEST_F(VerifyTest, ValuesOfALoopAfterIt) {
  const Reg before = b.NewReg(RegClass::kB32), after = b.NewReg(RegClass::kB32);
  b.BeginLoop();
  b.Mov(before, r);
  b.Break(When(p));
  b.Mov(after, r);
  b.EndLoop();
  b.Mov(r, before);
  EXPECT_TRUE(Verify(kernel).ok()) << Verify(kernel);
  b.Mov(r, after);  // not written when the first round breaks
  EXPECT_FALSE(Verify(kernel).ok());
}

TEST_F(VerifyTest, LatchAfterContinue) {
  const Reg fresh = b.NewReg(RegClass::kB32);
  b.BeginLoop();
  b.Continue(When(p));
  b.Mov(fresh, r);
  b.Break(Unless(p));
  b.BeginLatch();
  b.Mov(r, fresh);
  b.EndLoop();
  EXPECT_FALSE(Verify(kernel).ok());
}

TEST_F(VerifyTest, GuardedWritesCountForTheSameGuard) {
  const Reg fresh = b.NewReg(RegClass::kB32);
  b.SetGuard(When(p));
  b.Mov(fresh, r);
  b.Mov(r, fresh);
  EXPECT_TRUE(Verify(kernel).ok()) << Verify(kernel);
  b.SetGuard({});
  b.Mov(r, fresh);
  EXPECT_FALSE(Verify(kernel).ok());
}

TEST_F(VerifyTest, GuardAndItsOppositeCountEverywhere) {
  const Reg fresh = b.NewReg(RegClass::kB32);
  b.SetGuard(When(p));
  b.Mov(fresh, r);
  b.SetGuard(Unless(p));
  b.Mov(fresh, r);
  b.SetGuard({});
  b.Mov(r, fresh);
  EXPECT_TRUE(Verify(kernel).ok()) << Verify(kernel);
}

}  // namespace
}  // namespace tilus::machine

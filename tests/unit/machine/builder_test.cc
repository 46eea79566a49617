#include "machine/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/print.h"
#include "machine/verify.h"

namespace tilus::machine {
namespace {

class BuilderTest : public testing::Test {
 protected:
  BuilderTest() : b(&kernel), x(b.Read(Special::kTidX)), y(b.Read(Special::kLaneId)) {
    start = kernel.instrs.size();
  }
  size_t emitted() const { return kernel.instrs.size() - start; }
  std::string last() const { return PrintInstr(kernel, kernel.instrs.back()); }

  Kernel kernel;
  Builder b;
  Operand x, y;
  size_t start = 0;
};

TEST_F(BuilderTest, FoldsConstants) {
  EXPECT_EQ(b.AddS32(ImmS32(2), ImmS32(3)), ImmS32(5));
  EXPECT_EQ(b.SetpS32(Compare::kLt, ImmS32(-1), ImmS32(0)), Operand::Imm(1));
  EXPECT_EQ(b.SelpB32(ImmU32(4), ImmU32(5), Operand::Imm(0)), ImmU32(5));
  EXPECT_EQ(b.PackB64(ImmU32(1), ImmU32(2)), Operand::Imm(0x200000001));
  EXPECT_EQ(b.Cvt(Type::kS64, Type::kS32, ImmS32(-1)), ImmS64(-1));
  EXPECT_EQ(b.MulLoS32(x, ImmS32(0)), ImmS32(0));
  EXPECT_EQ(b.FmaF32(ImmF32(2), ImmF32(3), ImmF32(1)), ImmF32(7));
  EXPECT_EQ(emitted(), 0u);
}

TEST_F(BuilderTest, NeutralOperationsGiveTheirOperand) {
  const Operand v = b.AddS32(x, y);
  const size_t before = emitted();
  EXPECT_EQ(b.AddS32(v, ImmS32(0)), v);
  EXPECT_EQ(b.AddS32(ImmS32(0), v), v);
  EXPECT_EQ(b.MulLoS32(v, ImmS32(1)), v);
  EXPECT_EQ(b.AndB32(v, ImmS32(-1)), v);
  EXPECT_EQ(b.OrB32(v, v), v);
  EXPECT_EQ(b.ShlB32(v, ImmU32(0)), v);
  EXPECT_EQ(b.DivU32(v, ImmU32(1)), v);
  EXPECT_EQ(b.SubS32(v, v), ImmS32(0));
  EXPECT_EQ(b.XorB32(v, v), ImmS32(0));
  EXPECT_EQ(b.Cvt(Type::kU32, Type::kS32, v), v);
  EXPECT_EQ(emitted(), before);
}

TEST_F(BuilderTest, PowersOfTwoBecomeShiftsAndMasks) {
  b.MulLoS32(x, ImmS32(8));
  EXPECT_THAT(last(), testing::MatchesRegex("r[0-9]+ = shl.b32 r0, 3"));
  b.DivU32(x, ImmU32(16));
  EXPECT_THAT(last(), testing::MatchesRegex("r[0-9]+ = shr.u32 r0, 4"));
  b.RemU32(x, ImmU32(16));
  EXPECT_THAT(last(), testing::MatchesRegex("r[0-9]+ = and.b32 r0, 15"));
  b.SubS32(x, ImmS32(3));
  EXPECT_THAT(last(), testing::MatchesRegex("r[0-9]+ = add.s32 r0, 0xfffffffd"));
  b.DivS32(x, ImmS32(4));  // negative numbers round toward zero: not a shift
  EXPECT_THAT(last(), testing::HasSubstr("div.s32"));
}

// x + 0 of a variable is its value now, not what it becomes.
TEST_F(BuilderTest, ValueFormsNeverAliasVariables) {
  const Reg variable = b.Copy(RegClass::kB32, x);
  const Operand value = b.AddS32(variable, ImmS32(0));
  EXPECT_NE(value, Operand(variable));
  EXPECT_EQ(b.AddS32(value, ImmS32(0)), value);
}

TEST_F(BuilderTest, ImmediatesGoThroughARegisterWherePtxTakesNone) {
  const Reg h = b.Copy(RegClass::kB16, ImmB16(0x3c00));
  b.AddF16(h, ImmB16(0x4000));
  EXPECT_THAT(last(), testing::MatchesRegex("h[0-9]+ = add.rn.f16 h[0-9]+, h[0-9]+"));
  EXPECT_TRUE(Verify(kernel).ok()) << Verify(kernel);
}

TEST_F(BuilderTest, GuardsApplyToWhatFollows) {
  const Reg p = b.NewReg(RegClass::kPred);
  b.SetpS32(p, Compare::kLt, x, ImmS32(7));
  const Reg r = b.Copy(RegClass::kB32, ImmS32(0));
  {
    GuardScope guard(&b, Unless(p));
    b.Mov(r, ImmS32(1));
    EXPECT_THAT(last(), testing::StartsWith("@!p"));
  }
  b.Mov(r, ImmS32(1));
  EXPECT_THAT(last(), testing::StartsWith("r"));
}

TEST_F(BuilderTest, StructureNestsAndPrints) {
  const Reg sum = b.Copy(RegClass::kB32, ImmS32(0));
  b.SetPath(b.AddPath("k.body[1]"));
  const Reg i = b.BeginFor(ImmS32(0), ImmS32(10), 2);
  const Reg odd = b.NewReg(RegClass::kPred);
  b.SetpS32(odd, Compare::kEq, i, sum);
  b.Continue(When(odd));
  b.BeginIf(Unless(odd));
  b.AddS32(sum, sum, i);
  b.BeginElse();
  b.SubS32(sum, sum, i);
  b.EndIf();
  b.EndFor();
  EXPECT_TRUE(Verify(kernel).ok()) << Verify(kernel);
  kernel.name = "k";
  EXPECT_EQ(Print(kernel), R"(kernel k threads 32 {
  r0 = mov.b32 %tid.x
  r1 = mov.b32 %laneid
  r2 = mov.b32 0
  ; k.body[1]
  r3 = mov.b32 0
  loop {
    p4 = setp.ge.s32 r3, 10
    break if p4
    p5 = setp.eq.s32 r3, r2
    continue if p5
    if !p5 {
      r2 = add.s32 r2, r3
    } else {
      r2 = sub.s32 r2, r3
    }
  } latch {
    r3 = add.s32 r3, 2
  }
}
)");
}

}  // namespace
}  // namespace tilus::machine

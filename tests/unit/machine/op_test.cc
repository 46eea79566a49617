#include "machine/op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "all_ops.h"
#include "machine/mnemonic.h"
#include "machine/passes.h"
#include "machine/print.h"
#include "machine/verify.h"

namespace tilus::machine {
namespace {

TEST(OpTableTest, RowsAreWellFormed) {
  std::set<std::string> names;
  for (int i = 0; i < kNumOps; ++i) {
    const OpInfo& info = InfoOf(static_cast<Op>(i));
    SCOPED_TRACE(info.name);
    EXPECT_EQ(static_cast<int>(info.op), i);
    EXPECT_TRUE(names.insert(info.name).second);
    EXPECT_GE(info.requirement.ptx, 70);
    EXPECT_GE(info.requirement.sm, 80);
    EXPECT_LE(info.num_dst_specs + info.num_src_specs, kMaxSpecs);
    for (const OperandSpec& spec : info.dst_specs()) {
      EXPECT_TRUE(spec.register_only);
      EXPECT_NE(spec.kind, OperandKind::kNone);
    }
    for (const OperandSpec& spec : info.src_specs()) EXPECT_NE(spec.kind, OperandKind::kNone);
    // A pure row answers and does nothing else.
    const uint16_t effects = kReads | kWrites | kBarrier | kAsync | kControl | kOutside;
    EXPECT_EQ(info.Has(kPure), (info.flags & effects) == 0);
    EXPECT_TRUE(!info.Has(kPure) || info.num_dst_specs > 0);
    EXPECT_EQ(info.types != 0, absl::StrContains(info.mnemonic, "{type}"));
    if (info.Has(kCommutative)) {
      ASSERT_GE(info.num_src_specs, 2);
      EXPECT_EQ(info.src_specs()[0].kind, info.src_specs()[1].kind);
    }
  }
}

TEST(OpTableTest, EveryPlaceholderIsAModifier) {
  for (int i = 0; i < kNumOps; ++i) {
    for (const Modifiers& mods : AllOps::ModifiersOf(static_cast<Op>(i))) {
      Instr instr;
      instr.op = static_cast<Op>(i);
      instr.mods = mods;
      std::string text;
      AppendMnemonic(&text, instr);
      EXPECT_THAT(text, testing::MatchesRegex("[a-z][a-z0-9_.:L]*[a-z0-9]")) << text;
      EXPECT_FALSE(absl::StrContains(text, "..")) << text;
    }
  }
}

TEST(OpTableTest, EveryVariantVerifiesAndPrints) {
  Kernel kernel;
  AllOps all(&kernel);
  for (int i = 0; i < kNumOps; ++i) all.EmitAll(static_cast<Op>(i));
  EXPECT_TRUE(Verify(kernel).ok()) << Verify(kernel);
  const std::string text = Print(kernel);
  EXPECT_THAT(text, testing::HasSubstr("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
  EXPECT_EQ(text, Print(kernel));
  Optimize(&kernel);
  EXPECT_TRUE(Verify(kernel).ok()) << Verify(kernel);
}

TEST(OpTableTest, TypesRaiseTheRequirement) {
  Instr instr;
  instr.op = Op::kCvt;
  instr.mods.type = Type::kF32;
  instr.mods.from = Type::kBF16;
  EXPECT_EQ(RequirementOf(instr).ptx, 71);
  instr.mods.type = Type::kBF16;
  instr.mods.from = Type::kS32;
  instr.mods.round = Round::kRn;
  EXPECT_EQ(RequirementOf(instr).sm, 90);
  instr = Instr();
  instr.op = Op::kLdGlobal;
  instr.mods.type = Type::kB32;
  EXPECT_EQ(RequirementOf(instr).ptx, 70);
  instr.mods.cache = Cache::kNoAllocate;
  EXPECT_EQ(RequirementOf(instr).ptx, 74);
}

}  // namespace
}  // namespace tilus::machine

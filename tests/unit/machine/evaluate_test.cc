#include "machine/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "machine/fold.h"

namespace tilus::machine {
namespace {

std::optional<uint64_t> Of(Op op, std::initializer_list<uint64_t> srcs, Modifiers mods = {}) {
  return Evaluate(op, mods, absl::MakeConstSpan(srcs.begin(), srcs.size()));
}

uint64_t F(float v) { return ImmF32(v).value; }
uint64_t D(double v) { return ImmF64(v).value; }

TEST(EvaluateTest, IntegersWrap) {
  EXPECT_EQ(Of(Op::kAddS32, {0xffffffff, 2}), 1u);
  EXPECT_EQ(Of(Op::kAddS64, {~uint64_t{0}, 2}), 1u);
  EXPECT_EQ(Of(Op::kSubS32, {1, 2}), 0xffffffffu);
  EXPECT_EQ(Of(Op::kMulLoS32, {0x10000, 0x10001}), 0x10000u);
  EXPECT_EQ(Of(Op::kNegS32, {0x80000000}), 0x80000000u);
  EXPECT_EQ(Of(Op::kAbsS32, {0xfffffffb}), 5u);
  EXPECT_EQ(Of(Op::kMulHiS32, {0xffffffff, 3}), 0xffffffffu);
  EXPECT_EQ(Of(Op::kMulHiU32, {0xffffffff, 3}), 2u);
  EXPECT_EQ(Of(Op::kMulHiS64, {~uint64_t{0}, 3}), ~uint64_t{0});
  EXPECT_EQ(Of(Op::kMulWideS32, {0xffffffff, 2}), ~uint64_t{1});
  EXPECT_EQ(Of(Op::kMulWideU32, {0xffffffff, 2}), 0x1fffffffeu);
  EXPECT_EQ(Of(Op::kMadWideU32, {3, 4, 5}), 17u);
}

TEST(EvaluateTest, DivisionTruncatesAndLeavesZeroToTheTarget) {
  EXPECT_EQ(Of(Op::kDivS32, {0xfffffff9, 2}), 0xfffffffdu);  // -7 / 2 = -3
  EXPECT_EQ(Of(Op::kRemS32, {0xfffffff9, 2}), 0xffffffffu);
  EXPECT_EQ(Of(Op::kDivS32, {0x80000000, 0xffffffff}), 0x80000000u);
  EXPECT_EQ(Of(Op::kRemS64, {uint64_t{1} << 63, ~uint64_t{0}}), 0u);
  for (Op op : {Op::kDivS32, Op::kDivU32, Op::kRemS64, Op::kRemU64}) {
    EXPECT_EQ(Of(op, {5, 0}), std::nullopt);
  }
}

TEST(EvaluateTest, ShiftsByTheWidthOrMoreGiveZeroOrTheSign) {
  EXPECT_EQ(Of(Op::kShlB32, {1, 31}), 0x80000000u);
  EXPECT_EQ(Of(Op::kShlB32, {1, 32}), 0u);
  EXPECT_EQ(Of(Op::kShlB64, {1, 64}), 0u);
  EXPECT_EQ(Of(Op::kShrU32, {0x80000000, 33}), 0u);
  EXPECT_EQ(Of(Op::kShrS32, {0x80000000, 33}), 0xffffffffu);
  EXPECT_EQ(Of(Op::kShrS64, {uint64_t{1} << 63, 200}), ~uint64_t{0});
}

TEST(EvaluateTest, FunnelsFieldsAndBytesAgreeWithTheirDefinition) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    const uint32_t a = static_cast<uint32_t>(random()), b = static_cast<uint32_t>(random()),
                   c = static_cast<uint32_t>(random());
    const uint32_t n = static_cast<uint32_t>(random() % 70);
    const unsigned __int128 both = static_cast<unsigned __int128>(b) << 32 | a;
    const uint32_t clamped = n > 32 ? 32 : n;
    EXPECT_EQ(Of(Op::kShfLWrapB32, {a, b, n}), static_cast<uint32_t>((both << (n % 32)) >> 32));
    EXPECT_EQ(Of(Op::kShfLClampB32, {a, b, n}), static_cast<uint32_t>((both << clamped) >> 32));
    EXPECT_EQ(Of(Op::kShfRWrapB32, {a, b, n}), static_cast<uint32_t>(both >> (n % 32)));
    EXPECT_EQ(Of(Op::kShfRClampB32, {a, b, n}), static_cast<uint32_t>(both >> clamped));
    EXPECT_EQ(Of(Op::kLop3B32, {a, b, c, 0x96}), a ^ b ^ c);
    EXPECT_EQ(Of(Op::kLop3B32, {a, b, c, 0xEA}), (a & b) | c);
    EXPECT_EQ(Of(Op::kPopcB32, {a}), static_cast<uint64_t>(__builtin_popcount(a)));
    const uint32_t position = n % 32, length = static_cast<uint32_t>(random() % (33 - position));
    const uint64_t mask = (uint64_t{1} << length) - 1;
    EXPECT_EQ(Of(Op::kBfeU32, {a, position, length}), a >> position & mask);
    EXPECT_EQ(Of(Op::kBfiB32, {a, b, position, length}),
              static_cast<uint32_t>((b & ~(mask << position)) | ((a & mask) << position)));
  }
  EXPECT_EQ(Of(Op::kBfeS32, {0xf0, 4, 4}), 0xffffffffu);
  EXPECT_EQ(Of(Op::kBfeS32, {0x80000000, 28, 8}), 0xfffffff8u);  // past the word: the sign
  EXPECT_EQ(Of(Op::kPrmtB32, {0x33221100, 0x77665544, 0x7520}), 0x77552200u);
  EXPECT_EQ(Of(Op::kPrmtB32, {0x80, 0, 0x8884}), 0xffffff00u);  // sign replication
  EXPECT_EQ(Of(Op::kBrevB32, {1}), 0x80000000u);
  EXPECT_EQ(Of(Op::kClzB32, {0}), 32u);
}

TEST(EvaluateTest, FloatsRoundOnceAndNansAreNotFolded) {
  EXPECT_EQ(Of(Op::kAddF32, {F(1.0f), F(0x1p-24f)}), F(1.0f));
  EXPECT_EQ(Of(Op::kFmaF32, {F(0x1.001p0f), F(0x1.001p0f), F(-1.0f)}), F(0x1.0008p-11f));
  EXPECT_EQ(Of(Op::kMulF32, {F(0x1p-100f), F(0x1p-40f)}), F(0x1p-140f));  // subnormals stay
  EXPECT_EQ(Of(Op::kDivRnF32, {F(1.0f), F(0.0f)}), F(INFINITY));
  EXPECT_EQ(Of(Op::kSubF32, {F(INFINITY), F(INFINITY)}), std::nullopt);
  EXPECT_EQ(Of(Op::kMaxF32, {F(NAN), F(1.0f)}), std::nullopt);
  EXPECT_EQ(Of(Op::kNegF64, {D(0.0)}), D(-0.0));
}

TEST(EvaluateTest, ComparisonsWithNan) {
  const auto compare = [](Compare c, float a, float b) {
    Modifiers mods;
    mods.compare = c;
    return Of(Op::kSetpF32, {F(a), F(b)}, mods);
  };
  for (Compare c : {Compare::kEq, Compare::kNe, Compare::kLt, Compare::kGe, Compare::kNum}) {
    EXPECT_EQ(compare(c, NAN, 1.0f), 0u);
  }
  EXPECT_EQ(compare(Compare::kNeu, NAN, 1.0f), 1u);
  EXPECT_EQ(compare(Compare::kNan, NAN, 1.0f), 1u);
  EXPECT_EQ(compare(Compare::kLe, 1.0f, 1.0f), 1u);
}

TEST(EvaluateTest, ConversionsExtendWrapAndSaturate) {
  const auto cvt = [](Type to, Type from, uint64_t bits, Round round = Round::kNone,
                      bool saturate = false) {
    Modifiers mods;
    mods.type = to;
    mods.from = from;
    mods.round = round;
    mods.saturate = saturate;
    return Of(Op::kCvt, {bits}, mods);
  };
  EXPECT_EQ(cvt(Type::kS32, Type::kS8, 0x1ff), 0xffffffffu);
  EXPECT_EQ(cvt(Type::kU32, Type::kU8, 0x1ff), 0xffu);
  EXPECT_EQ(cvt(Type::kS64, Type::kS32, 0x80000000), 0xffffffff80000000u);
  EXPECT_EQ(cvt(Type::kU64, Type::kU32, 0x80000000), 0x80000000u);
  EXPECT_EQ(cvt(Type::kS8, Type::kS32, 200), 0xffffffc8u);  // low bits, sign-extended
  EXPECT_EQ(cvt(Type::kS8, Type::kS32, 200, Round::kNone, true), 127u);
  EXPECT_EQ(cvt(Type::kU8, Type::kS32, 0xffffffff, Round::kNone, true), 0u);
  EXPECT_EQ(cvt(Type::kF32, Type::kU64, ~uint64_t{0}, Round::kRn), F(0x1p64f));
  EXPECT_EQ(cvt(Type::kF32, Type::kS64, 0x8000008000000001u, Round::kRn), F(-0x1.fffffep62f));
  EXPECT_EQ(cvt(Type::kF32, Type::kF64, D(1e300), Round::kRn), F(INFINITY));
  EXPECT_EQ(cvt(Type::kF32, Type::kF64, D(1.0), Round::kRz), std::nullopt);
}

// What Fold says has the value of the instruction, whatever the unknown operands are.
TEST(FoldTest, FoldsKeepTheValue) {
  const Op ops[] = {Op::kAddS32,   Op::kSubS32,  Op::kMulLoS32,    Op::kMadLoS32,    Op::kDivU32,
                    Op::kRemU32,   Op::kDivS32,  Op::kRemS32,      Op::kMinS32,      Op::kMaxU32,
                    Op::kAndB32,   Op::kOrB32,   Op::kXorB32,      Op::kShlB32,      Op::kShrU32,
                    Op::kShrS32,   Op::kPrmtB32, Op::kShfLWrapB32, Op::kShfRClampB32};
  const uint64_t constants[] = {0,  1,          2,          3,          8,     31,    32,
                                64, 0x7fffffff, 0x80000000, 0xffffffff, 0x3210, 0x7654};
  std::mt19937_64 random(2);
  int folded_count = 0;
  for (Op op : ops) {
    const size_t arity = InfoOf(op).num_src_specs;
    for (int round = 0; round < 3000; ++round) {
      // Registers 0 and 1 are unknown.
      const uint64_t unknown[2] = {static_cast<uint32_t>(random()), constants[random() % 13]};
      std::vector<Operand> srcs;
      std::vector<uint64_t> values;
      for (size_t i = 0; i < arity; ++i) {
        const uint64_t pick = random() % 13;
        const bool reg = random() % 2 != 0;
        srcs.push_back(reg ? Operand(Reg{static_cast<uint32_t>(pick % 2)})
                           : Operand::Imm(constants[pick]));
        values.push_back(reg ? unknown[pick % 2] : constants[pick]);
      }
      const Folded folded = Fold(op, {}, srcs);
      if (folded.kind == Folded::Kind::kSame) continue;
      const std::optional<uint64_t> expected = Evaluate(op, {}, values);
      if (!expected.has_value()) continue;
      ++folded_count;
      const auto value_of = [&](const Operand& o) {
        return o.is_reg() ? unknown[o.value] : o.value;
      };
      if (folded.kind == Folded::Kind::kValue) {
        EXPECT_EQ(value_of(folded.value), *expected) << InfoOf(op).name;
        continue;
      }
      std::vector<uint64_t> rewritten;
      for (size_t i = 0; i < folded.num_srcs; ++i) rewritten.push_back(value_of(folded.srcs[i]));
      EXPECT_EQ(Evaluate(folded.op, {}, rewritten), expected) << InfoOf(op).name;
    }
  }
  EXPECT_GT(folded_count, 10000);
}

}  // namespace
}  // namespace tilus::machine

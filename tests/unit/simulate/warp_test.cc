// Instructions of a whole warp: shuffles, votes, matrices, and text that kernels print.
#include <bit>
#include <cmath>
#include <random>

#include "run_kernel.h"
#include "simulate/format.h"
#include "types/codec.h"

namespace tilus::simulate {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- Shuffles: the definition of the PTX manual, transcribed.
uint32_t ShuffleSource(Op op, uint32_t lane, uint32_t b, uint32_t c) {
  const uint32_t bval = b & 31, cval = c & 31, mask = c >> 8 & 31;
  const uint32_t max = (lane & mask) | (cval & ~mask), min = lane & mask;
  int32_t j = 0;
  bool p = false;
  if (op == Op::kShflUp) j = static_cast<int32_t>(lane - bval), p = j >= static_cast<int32_t>(max);
  if (op == Op::kShflDown)
    j = static_cast<int32_t>(lane + bval), p = j <= static_cast<int32_t>(max);
  if (op == Op::kShflBfly)
    j = static_cast<int32_t>(lane ^ bval), p = j <= static_cast<int32_t>(max);
  if (op == Op::kShflIdx)
    j = static_cast<int32_t>(min | (bval & ~mask)), p = j <= static_cast<int32_t>(max);
  return p ? static_cast<uint32_t>(j) : lane;
}

TEST(Shuffles, AllModesSegmentsAndDistances) {
  for (const Op op : {Op::kShflIdx, Op::kShflUp, Op::kShflDown, Op::kShflBfly}) {
    for (const uint32_t width : {32u, 16u, 8u, 4u}) {
      for (uint32_t b : {0u, 1u, 2u, 3u, 5u, 8u, 16u, 31u}) {
        const uint32_t c = (32 - width) << 8 | (op == Op::kShflUp ? 0 : 31);
        std::vector<uint32_t> out(32);
        TestKernel k;
        const Operand target = k.Buffer(&out);
        const Operand value = k.b().AddS32(k.Tid(), ImmU32(100));
        const Reg d = k.b().NewReg(RegClass::kB32);
        k.b().Emit(op, {Operand(d)}, {value, ImmU32(b), ImmU32(c), ImmU32(0xffffffff)});
        k.StoreByTid(target, d);
        k.RunClean();
        for (uint32_t t = 0; t < 32; ++t) {
          ASSERT_EQ(out[t], 100 + ShuffleSource(op, t, b, c)) << width << " " << b << " " << t;
        }
      }
    }
  }
}

TEST(Shuffles, OfADivergedWarpAreFound) {
  TestKernel k;
  Builder& b = k.b();
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kLt, k.Tid(), ImmU32(16)))));
  b.Shfl(Op::kShflIdx, k.Tid(), ImmU32(0));
  b.EndIf();
  EXPECT_THAT(Faults(k.Run()), Contains(Fault::kDivergence));
}

TEST(Shuffles, CarryUndefinedBits) {
  std::vector<uint32_t> out(32);
  TestKernel k(32, 64);
  Builder& b = k.b();
  const Operand target = k.Buffer(&out);
  // Words of lanes 0 to 15 are written.
  const Operand at = k.SharedAt(b.AndB32(k.Tid(), ImmU32(15)), 4);
  const Reg low = b.Materialize(RegClass::kPred, b.SetpU32(Compare::kLt, k.Tid(), ImmU32(8)));
  {
    machine::GuardScope g(&b, When(low));
    b.StShared(at, Type::kB32, {k.Tid()});
  }
  b.SyncWarp();
  const Reg word = k.LoadShared(at);
  k.StoreByTid(target, b.Shfl(Op::kShflIdx, word, ImmU32(3)));
  EXPECT_THAT(Faults(k.Run()), IsEmpty());
  EXPECT_THAT(out, ::testing::Each(3));
  k.StoreByTid(target, b.Shfl(Op::kShflIdx, word, ImmU32(9)));
  EXPECT_THAT(Faults(k.Run()), ElementsAre(Fault::kUninitialised));
}

TEST(Votes, AnyAllBallot) {
  for (const uint32_t limit : {0u, 1u, 7u, 32u}) {
    std::vector<uint32_t> out(96);
    TestKernel k;
    Builder& b = k.b();
    const Operand target = k.Buffer(&out);
    const Operand p = b.SetpU32(Compare::kLt, k.Tid(), ImmU32(limit));
    k.StoreByTid(target, b.VoteBallot(p));
    k.StoreByTid(target.Plus(0), b.VoteBallot(p));
    const auto bit = [&](Reg r) { return b.SelpB32(ImmU32(1), ImmU32(0), r); };
    b.StGlobal(k.At(target, k.Tid(), 4).Plus(128), Type::kB32, {bit(b.VoteAny(p))});
    b.StGlobal(k.At(target, k.Tid(), 4).Plus(256), Type::kB32, {bit(b.VoteAll(p))});
    k.RunClean();
    EXPECT_EQ(out[5], limit == 32 ? 0xffffffff : (1u << limit) - 1);
    EXPECT_EQ(out[32 + 5], limit > 0 ? 1u : 0u);
    EXPECT_EQ(out[64 + 5], limit == 32 ? 1u : 0u);
  }
}

// ---- ldmatrix and stmatrix against plain indexing.

struct MatrixCase {
  Op load, store;
  int matrices;
  bool trans;
};

class Matrices : public ::testing::TestWithParam<MatrixCase> {};

TEST_P(Matrices, FragmentsAreThoseOfTheManual) {
  const MatrixCase& c = GetParam();
  const uint32_t n = static_cast<uint32_t>(c.matrices);
  // Rows of 16 bytes, in a scrambled order; element = its row * 8 + column.
  std::vector<uint16_t> rows(n * 64), back(n * 64);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<uint16_t>(i + 1);
  std::vector<uint32_t> fragments(32 * n);
  TestKernel k(32, n * 128);
  Builder& b = k.b();
  const Operand source = k.Buffer(&rows), target = k.Buffer(&fragments), again = k.Buffer(&back);
  const Operand words = ImmU32(n * 32);
  // Copy in, word by word; lane l gives row (l * 5) % (8 n).
  const auto copy = [&](bool in) {
    const Reg i = b.Copy(RegClass::kB32, k.Tid());
    b.BeginLoop();
    b.Break(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kGe, i, words))));
    if (in) {
      b.StShared(k.SharedAt(i, 4), Type::kB32, {k.LoadGlobal(k.At(source, i, 4))});
    } else {
      b.StGlobal(k.At(again, i, 4), Type::kB32, {k.LoadShared(k.SharedAt(i, 4))});
    }
    b.AddS32(i, i, ImmU32(32));
    b.EndLoop();
  };
  k.Tid();
  copy(true);
  b.SyncThreads();
  const Operand row = b.RemU32(b.MulLoS32(k.Tid(), ImmU32(5)), ImmU32(8 * n));
  std::vector<Reg> d;
  for (uint32_t m = 0; m < n; ++m) d.push_back(b.NewReg(RegClass::kB32));
  const Operand at = k.SharedAt(row, 16);
  b.Ldmatrix(c.load, d, at);
  for (uint32_t m = 0; m < n; ++m) {
    b.StGlobal(k.At(target, k.Tid(), 4 * n).Plus(static_cast<int32_t>(4 * m)), Type::kB32, {d[m]});
  }
  // Written back to the same rows, the region is as before.
  b.SyncThreads();
  const Operand cleared = k.SharedAt(b.AndB32(k.Tid(), ImmU32(7)), 16);
  b.StShared(cleared, Type::kB32, {ImmU32(0)});
  b.SyncThreads();
  b.Stmatrix(c.store, at, d);
  b.SyncThreads();
  copy(false);
  k.RunClean();
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t m = 0; m < n; ++m) {
      for (uint32_t h = 0; h < 2; ++h) {
        const uint32_t slow = lane / 4, fast = lane % 4 * 2 + h;
        const uint32_t r = c.trans ? fast : slow, column = c.trans ? slow : fast;
        const uint32_t giver = m * 8 + r;
        const uint32_t want = rows[giver * 5 % (8 * n) * 8 + column];
        EXPECT_EQ(fragments[lane * n + m] >> (16 * h) & 0xffff, want);
      }
    }
  }
  EXPECT_EQ(rows, back);
}

INSTANTIATE_TEST_SUITE_P(
    Warp, Matrices,
    ::testing::Values(MatrixCase{Op::kLdmatrixX1, Op::kStmatrixX1, 1, false},
                      MatrixCase{Op::kLdmatrixX2, Op::kStmatrixX2, 2, false},
                      MatrixCase{Op::kLdmatrixX4, Op::kStmatrixX4, 4, false},
                      MatrixCase{Op::kLdmatrixX1Trans, Op::kStmatrixX1Trans, 1, true},
                      MatrixCase{Op::kLdmatrixX2Trans, Op::kStmatrixX2Trans, 2, true},
                      MatrixCase{Op::kLdmatrixX4Trans, Op::kStmatrixX4Trans, 4, true}));

TEST(Matrices, ConflictsOfRowsAreCounted) {
  // Rows 128 bytes apart all begin in bank 0; 16 bytes apart they cover all banks.
  for (const uint32_t stride : {16u, 128u}) {
    TestKernel k(32, 4096);
    Builder& b = k.b();
    std::vector<Reg> d;
    for (int m = 0; m < 4; ++m) d.push_back(b.NewReg(RegClass::kB32));
    b.Ldmatrix(Op::kLdmatrixX4, d, k.SharedAt(k.Tid(), stride));
    const Report report = k.Run();
    EXPECT_EQ(report.shared_wavefronts, stride == 16 ? 4 : 32);
    EXPECT_EQ(report.bank_conflicts, stride == 16 ? 0 : 28);
  }
}

TEST(Matrices, ADivergedWarpIsFound) {
  TestKernel k(32, 512);
  Builder& b = k.b();
  const Reg d = b.NewReg(RegClass::kB32);
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kLt, k.Tid(), ImmU32(31)))));
  b.Ldmatrix(Op::kLdmatrixX1, {d}, k.SharedAt(k.Tid(), 16));
  b.EndIf();
  EXPECT_THAT(Faults(k.Run()), ElementsAre(Fault::kDivergence));
}

// ---- mma against a plain product. Fragments are packed by the manual's formulas, per type.

enum class Element { kF16, kBF16, kTF32, kS8, kU8 };

struct MmaCase {
  Op op;
  int k;
  Element a, b;
  bool half_sum;
};

int BitsOfElement(Element e) { return e == Element::kTF32 ? 32 : e >= Element::kS8 ? 8 : 16; }

double ValueOf(Element e, uint64_t code) {
  switch (e) {
    case Element::kF16:
      return DecodeToDouble(kF16, code);
    case Element::kBF16:
      return DecodeToDouble(kBF16, code);
    case Element::kTF32:
      return DecodeToDouble(kTF32, code);
    case Element::kS8:
      return static_cast<int8_t>(code);
    case Element::kU8:
      return static_cast<uint8_t>(code);
  }
  return 0;
}

uint64_t RandomCode(Element e, std::mt19937* random) {
  const double v = std::ldexp(static_cast<double>((*random)() % 4001) - 2000.0, -9);
  switch (e) {
    case Element::kF16:
      return EncodeFromDouble(kF16, v);
    case Element::kBF16:
      return EncodeFromDouble(kBF16, v);
    case Element::kTF32:
      return EncodeFromDouble(kTF32, v) | ((*random)() & 0x1fff);
    default:
      return (*random)() & 0xff;
  }
}

class MmaTest : public ::testing::TestWithParam<MmaCase> {};

TEST_P(MmaTest, IsTheMatrixProduct) {
  const MmaCase& c = GetParam();
  std::mt19937 random(static_cast<unsigned>(c.op));
  const bool integer = c.a >= Element::kS8;
  const int bits = BitsOfElement(c.a), per_register = 32 / bits;
  std::vector<uint64_t> a(static_cast<size_t>(16 * c.k)), b(static_cast<size_t>(c.k * 8)), cc(128);
  for (uint64_t& v : a) v = RandomCode(c.a, &random);
  for (uint64_t& v : b) v = RandomCode(c.b, &random);
  for (uint64_t& v : cc) {
    v = integer      ? random()
        : c.half_sum ? RandomCode(Element::kF16, &random)
                     : std::bit_cast<uint32_t>(static_cast<float>(random() % 1000) / 64 - 5);
  }
  // Index i of a lane's elements, as in the manual: row = g + 8 for every second group of
  // per_register elements (of two for 16 bits), k moves by 4 * per_register every two groups.
  const int na = 16 * c.k / 32, nb = 8 * c.k / 32;
  std::vector<uint32_t> fa(static_cast<size_t>(32 * na / per_register)),
      fb(static_cast<size_t>(32 * nb / per_register));
  std::vector<uint32_t> fc(32 * (c.half_sum ? 2 : 4)), fd(fc.size());
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane >> 2, t = lane & 3;
    for (int i = 0; i < na; ++i) {
      const int group = i / per_register;
      const int row = g + (group & 1 ? 8 : 0);
      const int col = t * per_register + i % per_register + group / 2 * 4 * per_register;
      fa[static_cast<size_t>(lane * na / per_register + group)] |= static_cast<uint32_t>(
          a[static_cast<size_t>(row * c.k + col)] << (bits * (i % per_register)));
    }
    for (int i = 0; i < nb; ++i) {
      const int group = i / per_register;
      const int row = t * per_register + i % per_register + group * 4 * per_register;
      fb[static_cast<size_t>(lane * nb / per_register + group)] |=
          static_cast<uint32_t>(b[static_cast<size_t>(row * 8 + g)] << (bits * (i % per_register)));
    }
    for (int i = 0; i < 4; ++i) {
      const int row = g + (i < 2 ? 0 : 8), col = t * 2 + (i & 1);
      const uint64_t v = cc[static_cast<size_t>(row * 8 + col)];
      if (c.half_sum) {
        fc[static_cast<size_t>(lane * 2 + i / 2)] |= static_cast<uint32_t>(v << (16 * (i & 1)));
      } else {
        fc[static_cast<size_t>(lane * 4 + i)] = static_cast<uint32_t>(v);
      }
    }
  }
  TestKernel k;
  Builder& builder = k.b();
  const auto load = [&](std::vector<uint32_t>* data) {
    const uint32_t n = static_cast<uint32_t>(data->size() / 32);
    const Operand base = k.Buffer(data);
    std::vector<Reg> regs;
    for (uint32_t i = 0; i < n; ++i) {
      regs.push_back(k.LoadGlobal(k.At(base, k.Tid(), 4 * n).Plus(static_cast<int32_t>(4 * i))));
    }
    return regs;
  };
  const auto ra = load(&fa), rb = load(&fb), rc = load(&fc);
  const Operand target = k.Buffer(&fd);
  // In place: D is C.
  builder.Mma(c.op, rc, ra, rb, rc);
  for (uint32_t i = 0; i < rc.size(); ++i) {
    builder.StGlobal(k.At(target, k.Tid(), static_cast<uint32_t>(4 * rc.size()))
                         .Plus(static_cast<int32_t>(4 * i)),
                     Type::kB32, {rc[i]});
  }
  k.RunClean();
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int row = (lane >> 2) + (i < 2 ? 0 : 8), col = (lane & 3) * 2 + (i & 1);
      double exact = 0, size = 0;
      uint64_t wrapped = cc[static_cast<size_t>(row * 8 + col)];
      for (int kk = 0; kk < c.k; ++kk) {
        const double x = ValueOf(c.a, a[static_cast<size_t>(row * c.k + kk)]);
        const double y = ValueOf(c.b, b[static_cast<size_t>(kk * 8 + col)]);
        exact += x * y;
        size += std::fabs(x * y);
        if (integer) wrapped += static_cast<uint64_t>(static_cast<int64_t>(x * y));
      }
      const uint32_t got =
          c.half_sum ? fd[static_cast<size_t>(lane * 2 + i / 2)] >> (16 * (i & 1)) & 0xffff
                     : fd[static_cast<size_t>(lane * 4 + i)];
      if (integer) {
        ASSERT_EQ(got, static_cast<uint32_t>(wrapped));
        continue;
      }
      const uint64_t start = cc[static_cast<size_t>(row * 8 + col)];
      exact += c.half_sum ? DecodeToDouble(kF16, start)
                          : std::bit_cast<float>(static_cast<uint32_t>(start));
      // Rounded once to the accumulator's type (the f64 sum is exact for these values).
      const uint64_t want = c.half_sum ? EncodeFromDouble(kF16, exact)
                                       : std::bit_cast<uint32_t>(static_cast<float>(exact));
      ASSERT_EQ(got, want) << row << " " << col << " " << exact << " " << size;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Warp, MmaTest,
    ::testing::Values(MmaCase{Op::kMmaM16N8K8F32F16, 8, Element::kF16, Element::kF16, false},
                      MmaCase{Op::kMmaM16N8K8F16F16, 8, Element::kF16, Element::kF16, true},
                      MmaCase{Op::kMmaM16N8K8F32BF16, 8, Element::kBF16, Element::kBF16, false},
                      MmaCase{Op::kMmaM16N8K16F32F16, 16, Element::kF16, Element::kF16, false},
                      MmaCase{Op::kMmaM16N8K16F16F16, 16, Element::kF16, Element::kF16, true},
                      MmaCase{Op::kMmaM16N8K16F32BF16, 16, Element::kBF16, Element::kBF16, false},
                      MmaCase{Op::kMmaM16N8K4F32TF32, 4, Element::kTF32, Element::kTF32, false},
                      MmaCase{Op::kMmaM16N8K8F32TF32, 8, Element::kTF32, Element::kTF32, false},
                      MmaCase{Op::kMmaM16N8K16S32S8S8, 16, Element::kS8, Element::kS8, false},
                      MmaCase{Op::kMmaM16N8K32S32S8S8, 32, Element::kS8, Element::kS8, false},
                      MmaCase{Op::kMmaM16N8K32S32S8U8, 32, Element::kS8, Element::kU8, false},
                      MmaCase{Op::kMmaM16N8K32S32U8S8, 32, Element::kU8, Element::kS8, false},
                      MmaCase{Op::kMmaM16N8K32S32U8U8, 32, Element::kU8, Element::kU8, false}));

// Rows of A that nobody wrote spoil their rows of D alone.
TEST(MmaUndefined, GoesByRows) {
  for (const bool upper : {true, false}) {
    std::vector<uint32_t> out(64);
    TestKernel k;
    Builder& b = k.b();
    const Operand target = k.Buffer(&out);
    const Reg zero = b.Copy(RegClass::kB32, ImmU32(0)), never = b.NewReg(RegClass::kB32);
    std::vector<Reg> d;
    for (int i = 0; i < 4; ++i) d.push_back(b.NewReg(RegClass::kB32));
    // Registers 1 and 3 of A hold rows 8 to 15.
    b.Mma(Op::kMmaM16N8K16F32F16, d, {zero, never, zero, never}, {zero, zero},
          {zero, zero, zero, zero});
    k.StoreByTid(target, d[upper ? 0 : 2]);
    EXPECT_EQ(k.RunUnverified().findings.empty(), upper);
  }
}

// ---- Messages.

TEST(Format, FollowsPrintf) {
  const std::vector<std::string> strings = {"zero", "one"};
  const auto f = [&](absl::string_view format, std::vector<uint64_t> values) {
    return FormatPrintf(format, values, strings);
  };
  const auto d = [](double v) { return std::bit_cast<uint64_t>(v); };
  EXPECT_EQ(f("%d %u %x\n", {0xffffffff, 0xffffffff, 255}), "-1 4294967295 ff\n");
  EXPECT_EQ(f("%lld %llu", {~uint64_t{0}, ~uint64_t{0}}), "-1 18446744073709551615");
  EXPECT_EQ(f("%g %f %.3e", {d(0.1), d(2.5), d(1e10)}), "0.1 2.500000 1.000e+10");
  EXPECT_EQ(f("%c%c 100%% [%5d] [%-4u] [%08x]", {'o', 'k', 42, 7, 0xabc}),
            "ok 100% [   42] [7   ] [00000abc]");
  EXPECT_EQ(f("%s and %s", {1, 0}), "one and zero");
  EXPECT_EQ(f("%d", {}), "%d");
  EXPECT_EQ(f("%", {1}), "%");
  EXPECT_EQ(f("%q", {1}), "%q");
  EXPECT_EQ(f("%99999999999999999999d", {1}), "%99999999999999999999d");
}

TEST(Printing, LinesOfALaneComeWhole) {
  TestKernel k;
  Builder& b = k.b();
  std::vector<std::string> lines;
  k.options().print = [&](absl::string_view line) { lines.emplace_back(line); };
  const Operand wide = b.Cvt(Type::kF64, Type::kU32, k.Tid(), machine::Round::kRn);
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kLt, k.Tid(), ImmU32(2)))));
  b.Printf("t = %d,", {k.Tid()});
  b.EndIf();
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kEq, k.Tid(), ImmU32(1)))));
  b.Printf(" as f64 %g\nlast", {wide});
  b.EndIf();
  k.RunClean();
  EXPECT_THAT(lines, ElementsAre("t = 0,t = 1, as f64 1", "last"));
}

TEST(Printing, UndefinedValuesAreFound) {
  TestKernel k;
  k.b().Printf("%d", {k.b().NewReg(RegClass::kB32)});
  EXPECT_THAT(Faults(k.RunUnverified()), ElementsAre(Fault::kUninitialised));
}

}  // namespace
}  // namespace tilus::simulate

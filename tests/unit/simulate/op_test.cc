// Every opcode has a meaning, and the pure ones compute what independent models say, on edge
// values and random ones.
#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "absl/strings/str_cat.h"
#include "machine/evaluate.h"
#include "op_kernels.h"
#include "simulate/semantics.h"
#include "types/codec.h"

namespace tilus::simulate {
namespace {

using machine::InfoOf;
using machine::Modifiers;
using machine::Round;

TEST(Semantics, CoverTheOpTable) {
  for (int i = 0; i < machine::kNumOps; ++i) {
    const Op op = static_cast<Op>(i);
    EXPECT_NE(SemanticsOf(op).run, nullptr) << InfoOf(op).name;
    EXPECT_EQ(SemanticsOf(op).op, op) << InfoOf(op).name;
  }
}

// One instruction on many tuples of sources, through the simulator.
std::vector<uint64_t> RunOp(Op op, Modifiers mods, const std::vector<std::vector<uint64_t>>& srcs) {
  std::vector<uint64_t> in, out;
  TestKernel k;
  const int64_t blocks = BuildOpKernel(&k, op, mods, srcs, &in, &out);
  k.RunClean({blocks, 1, 1});
  return out;
}

double D(uint64_t bits) { return std::bit_cast<double>(bits); }

using Model = std::function<uint64_t(const std::vector<uint64_t>&)>;

// Which NaN an f64 operation gives depends on the order of its operands; Nans has the cases that
// are specified.
enum class Result { kExact, kAnyNan };

void ExpectModel(Op op, Modifiers mods, const Model& model, uint64_t tolerance = 0,
                 Result result = Result::kExact) {
  std::mt19937_64 random(static_cast<uint64_t>(op));
  const auto tuples = Tuples(op, mods, &random);
  const auto got = RunOp(op, mods, tuples);
  int shown = 0;
  for (size_t i = 0; i < tuples.size() && shown < 3; ++i) {
    const uint64_t want = model(tuples[i]);
    if (result == Result::kAnyNan && std::isnan(D(got[i])) && std::isnan(D(want))) continue;
    const uint64_t distance = got[i] > want ? got[i] - want : want - got[i];
    if (distance <= tolerance) continue;
    ++shown;
    std::string text;
    for (const uint64_t s : tuples[i]) absl::StrAppend(&text, " ", absl::Hex(s));
    ADD_FAILURE() << InfoOf(op).name << text << ": " << std::hex << got[i] << " != " << want;
  }
}

// What the constant folder knows, the simulator computes alike.
TEST(Semantics, AgreeWithConstantFolding) {
  for (int i = 0; i < machine::kNumOps; ++i) {
    const Op op = static_cast<Op>(i);
    const machine::OpInfo& info = InfoOf(op);
    if (!info.Has(machine::kPure) || info.Has(machine::kConvergent) || info.num_dst_specs != 1 ||
        info.dst_specs()[0].count != 1 || info.takes_from || op == Op::kLdParam) {
      continue;
    }
    std::vector<Modifiers> variants(1);
    if (info.takes_compare) {
      variants.clear();
      const int last = op <= Op::kSetpU64 ? 6 : 9;
      for (int c = 1; c <= last; ++c) {
        variants.push_back(Builder::CompareModifiers(static_cast<Compare>(c)));
      }
    }
    for (const Modifiers& mods : variants) {
      std::mt19937_64 random(static_cast<uint64_t>(i));
      auto tuples = Tuples(op, mods, &random, 600);
      // A constant operand is the same in all of them.
      if (op == Op::kLop3B32) {
        for (auto& t : tuples) t[3] = 0xe8;
      }
      const auto got = RunOp(op, mods, tuples);
      for (size_t n = 0; n < tuples.size(); ++n) {
        const auto want = machine::Evaluate(op, mods, tuples[n]);
        if (want && *want != got[n]) {
          ADD_FAILURE() << info.name << ": " << std::hex << got[n] << " != " << *want;
          break;
        }
      }
    }
  }
}

// ---- Integers and bits.

int32_t S(uint64_t v) { return static_cast<int32_t>(v); }
uint32_t U(uint64_t v) { return static_cast<uint32_t>(v); }
int64_t SL(uint64_t v) { return static_cast<int64_t>(v); }

TEST(Ops, Integers) {
  using V = const std::vector<uint64_t>&;
  ExpectModel(Op::kAddS32, {}, [](V s) { return U(s[0] + s[1]); });
  ExpectModel(Op::kSubS64, {}, [](V s) { return s[0] - s[1]; });
  ExpectModel(Op::kMulHiS32, {}, [](V s) {
    return uint64_t{U(static_cast<uint64_t>((int64_t{S(s[0])} * S(s[1])) >> 32))};
  });
  ExpectModel(Op::kMulHiU64, {}, [](V s) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(s[0]) * s[1]) >> 64);
  });
  ExpectModel(Op::kMadWideS32, {},
              [](V s) { return static_cast<uint64_t>(int64_t{S(s[0])} * S(s[1])) + s[2]; });
  ExpectModel(Op::kMulWideU32, {}, [](V s) { return uint64_t{U(s[0])} * U(s[1]); });
  ExpectModel(Op::kDivS32, {}, [](V s) -> uint64_t {
    if (S(s[1]) == 0) return 0xffffffff;
    return U(static_cast<uint64_t>(int64_t{S(s[0])} / S(s[1])));
  });
  ExpectModel(Op::kDivU64, {}, [](V s) { return s[1] == 0 ? ~uint64_t{0} : s[0] / s[1]; });
  ExpectModel(Op::kRemS32, {}, [](V s) -> uint64_t {
    if (S(s[1]) == 0) return s[0];
    return U(static_cast<uint64_t>(int64_t{S(s[0])} % S(s[1])));
  });
  ExpectModel(Op::kRemS64, {}, [](V s) -> uint64_t {
    if (s[1] == 0) return s[0];
    return s[1] == ~uint64_t{0} ? 0 : static_cast<uint64_t>(SL(s[0]) % SL(s[1]));
  });
  ExpectModel(Op::kMinS64, {}, [](V s) { return SL(s[0]) < SL(s[1]) ? s[0] : s[1]; });
  ExpectModel(Op::kMaxU32, {}, [](V s) { return std::max(s[0], s[1]); });
  ExpectModel(Op::kAbsS32, {}, [](V s) { return S(s[0]) < 0 ? U(0 - s[0]) : U(s[0]); });
}

TEST(Ops, Bits) {
  using V = const std::vector<uint64_t>&;
  ExpectModel(Op::kShlB32, {}, [](V s) { return s[1] > 31 ? 0 : U(s[0] << s[1]); });
  ExpectModel(Op::kShlB64, {}, [](V s) { return s[1] > 63 ? 0 : s[0] << s[1]; });
  ExpectModel(Op::kShrS32, {},
              [](V s) { return U(static_cast<uint64_t>(S(s[0]) >> (s[1] > 31 ? 31 : s[1]))); });
  ExpectModel(Op::kShrS64, {},
              [](V s) { return static_cast<uint64_t>(SL(s[0]) >> (s[1] > 63 ? 63 : s[1])); });
  ExpectModel(Op::kShrU64, {}, [](V s) { return s[1] > 63 ? 0 : s[0] >> s[1]; });
  // Bit by bit: the source of each bit of the result.
  const auto funnel = [](bool left, bool wrap) {
    return [=](V s) {
      const int n =
          wrap ? static_cast<int>(s[2] & 31) : static_cast<int>(std::min<uint64_t>(s[2], 32));
      uint64_t result = 0;
      for (int i = 0; i < 32; ++i) {
        const int from = left ? 32 + i - n : i + n;
        const uint64_t bit = from < 32 ? s[0] >> from & 1 : s[1] >> (from - 32) & 1;
        result |= bit << i;
      }
      return result;
    };
  };
  ExpectModel(Op::kShfLWrapB32, {}, funnel(true, true));
  ExpectModel(Op::kShfLClampB32, {}, funnel(true, false));
  ExpectModel(Op::kShfRWrapB32, {}, funnel(false, true));
  ExpectModel(Op::kShfRClampB32, {}, funnel(false, false));
  ExpectModel(Op::kPrmtB32, {}, [](V s) {
    uint64_t result = 0;
    for (int i = 0; i < 4; ++i) {
      const int pick = static_cast<int>(s[2] >> (4 * i) & 15);
      const uint64_t byte = ((pick & 7) < 4 ? s[0] : s[1]) >> (8 * (pick & 3)) & 0xff;
      result |= (pick & 8 ? (byte >> 7) * 0xff : byte) << (8 * i);
    }
    return result;
  });
  const auto extract = [](bool sign) {
    return [=](V s) {
      const uint32_t position = s[1] & 255, length = s[2] & 255;
      uint64_t result = 0;
      for (uint32_t i = 0; i < 32; ++i) {
        const uint32_t last = std::min<uint32_t>(position + length - 1, 31);
        const uint64_t fill = sign && length != 0 ? s[0] >> last & 1 : 0;
        const uint64_t bit = i < length && position + i < 32 ? s[0] >> (position + i) & 1 : fill;
        result |= bit << i;
      }
      return result;
    };
  };
  ExpectModel(Op::kBfeU32, {}, extract(false));
  ExpectModel(Op::kBfeS32, {}, extract(true));
  ExpectModel(Op::kBfiB32, {}, [](V s) {
    uint64_t result = s[1];
    for (uint32_t i = 0; i < (s[3] & 255) && (s[2] & 255) + i < 32; ++i) {
      const uint32_t at = static_cast<uint32_t>(s[2] & 255) + i;
      result = (result & ~(uint64_t{1} << at)) | (s[0] >> i & 1) << at;
    }
    return result;
  });
  ExpectModel(Op::kPopcB32, {}, [](V s) { return static_cast<uint64_t>(std::popcount(s[0])); });
  ExpectModel(Op::kClzB32, {},
              [](V s) { return static_cast<uint64_t>(std::countl_zero(U(s[0]))); });
  ExpectModel(Op::kBrevB32, {}, [](V s) {
    uint64_t r = 0;
    for (int i = 0; i < 32; ++i) r |= (s[0] >> i & 1) << (31 - i);
    return r;
  });
  ExpectModel(Op::kPackB64, {}, [](V s) { return s[0] | s[1] << 32; });
  ExpectModel(Op::kSelpB64, {}, [](V s) { return s[2] ? s[0] : s[1]; });
}

TEST(Ops, Lop3ForEveryTable) {
  std::mt19937_64 random(3);
  for (uint64_t table = 0; table < 256; ++table) {
    std::vector<std::vector<uint64_t>> tuples;
    for (int i = 0; i < 32; ++i) tuples.push_back({U(random()), U(random()), U(random()), table});
    const auto got = RunOp(Op::kLop3B32, {}, tuples);
    for (size_t i = 0; i < tuples.size(); ++i) {
      uint64_t want = 0;
      for (int bit = 0; bit < 32; ++bit) {
        const uint64_t row = (tuples[i][0] >> bit & 1) << 2 | (tuples[i][1] >> bit & 1) << 1 |
                             (tuples[i][2] >> bit & 1);
        want |= (table >> row & 1) << bit;
      }
      ASSERT_EQ(got[i], want) << table;
    }
  }
}

// ---- Floats.

float F(uint64_t bits) { return std::bit_cast<float>(U(bits)); }
uint64_t B(float v) { return std::isnan(v) ? 0x7fffffff : std::bit_cast<uint32_t>(v); }
uint64_t B(double v) { return std::isnan(v) ? 0x7ff8000000000000 : std::bit_cast<uint64_t>(v); }

TEST(Ops, Floats) {
  using V = const std::vector<uint64_t>&;
  ExpectModel(Op::kAddF32, {}, [](V s) { return B(F(s[0]) + F(s[1])); });
  ExpectModel(Op::kMulF32, {}, [](V s) { return B(F(s[0]) * F(s[1])); });
  ExpectModel(Op::kFmaF32, {}, [](V s) { return B(std::fma(F(s[0]), F(s[1]), F(s[2]))); });
  ExpectModel(Op::kDivRnF32, {}, [](V s) { return B(F(s[0]) / F(s[1])); });
  ExpectModel(Op::kSqrtRnF32, {}, [](V s) { return B(std::sqrt(F(s[0]))); });
  ExpectModel(
      Op::kSubF64, {}, [](V s) { return B(D(s[0]) - D(s[1])); }, 0, Result::kAnyNan);
  ExpectModel(
      Op::kFmaF64, {}, [](V s) { return B(std::fma(D(s[0]), D(s[1]), D(s[2]))); }, 0,
      Result::kAnyNan);
  ExpectModel(
      Op::kDivRnF64, {}, [](V s) { return B(D(s[0]) / D(s[1])); }, 0, Result::kAnyNan);
  ExpectModel(
      Op::kAbsF64, {}, [](V s) { return B(std::fabs(D(s[0]))); }, 0, Result::kAnyNan);
  ExpectModel(Op::kNegF32, {}, [](V s) { return B(-F(s[0])); });
  const auto extreme = [](bool want_max) {
    return [=](V s) {
      const float a = F(s[0]), b = F(s[1]);
      if (std::isnan(a)) return B(b);
      if (std::isnan(b)) return B(a);
      if (a == 0 && b == 0) return std::signbit(a) != want_max ? s[0] : s[1];
      return B(want_max ? std::fmax(a, b) : std::fmin(a, b));
    };
  };
  ExpectModel(Op::kMinF32, {}, extreme(false));
  ExpectModel(Op::kMaxF32, {}, extreme(true));
}

TEST(Ops, ApproximationsAreCloseToTheFunctions) {
  using V = const std::vector<uint64_t>&;
  ExpectModel(
      Op::kEx2ApproxF32, {}, [](V s) { return B(std::exp2(F(s[0]))); }, 2);
  ExpectModel(
      Op::kRsqrtApproxF32, {}, [](V s) { return B(1 / std::sqrt(F(s[0]))); }, 2);
  ExpectModel(
      Op::kRcpApproxF32, {}, [](V s) { return B(1 / F(s[0])); }, 1);
  ExpectModel(
      Op::kTanhApproxF32, {}, [](V s) { return B(std::tanh(F(s[0]))); }, 2);
  ExpectModel(
      Op::kLg2ApproxF32, {}, [](V s) { return B(std::log2(F(s[0]))); }, 2);
  ExpectModel(
      Op::kSinApproxF32, {}, [](V s) { return B(std::sin(F(s[0]))); }, 2);
}

// Half precision against long double arithmetic, rounded once by bisection over all codes.
uint64_t RoundOnce(DataType type, long double exact) {
  if (std::isnan(exact)) return 0x7fff;
  const uint64_t sign = std::signbit(exact) ? 0x8000 : 0;
  const long double magnitude = std::fabs(exact);
  const uint64_t infinity = type == kF16 ? 0x7c00 : 0x7f80;
  uint64_t low = 0, high = infinity;  // value(low) <= magnitude
  const auto value = [&](uint64_t code) -> long double {
    if (code < infinity) return DecodeToDouble(type, code);
    // Half a unit beyond the largest rounds to infinity.
    return 2 * static_cast<long double>(DecodeToDouble(type, infinity - 1)) -
           DecodeToDouble(type, infinity - 2);
  };
  if (std::isinf(magnitude) || magnitude >= value(infinity)) return sign | infinity;
  while (high - low > 1) {
    const uint64_t middle = (low + high) / 2;
    (value(middle) <= magnitude ? low : high) = middle;
  }
  const long double below = magnitude - value(low), above = value(high) - magnitude;
  const bool up = above < below || (above == below && (low & 1) != 0);
  return sign | (up ? high : low);
}

TEST(Ops, HalvesRoundOnce) {
  using V = const std::vector<uint64_t>&;
  const auto check = [](DataType t, Op add, Op sub, Op mul, Op fma) {
    const auto x = [t](uint64_t code) -> long double { return DecodeToDouble(t, code); };
    ExpectModel(add, {}, [=](V s) { return RoundOnce(t, x(s[0]) + x(s[1])); });
    ExpectModel(sub, {}, [=](V s) { return RoundOnce(t, x(s[0]) - x(s[1])); });
    ExpectModel(mul, {}, [=](V s) { return RoundOnce(t, x(s[0]) * x(s[1])); });
    // What the sum of product and addend loses decides only between the sides of a tie.
    ExpectModel(fma, {}, [=](V s) {
      const long double product = x(s[0]) * x(s[1]), addend = x(s[2]);
      const long double sum = product + addend;
      if (!std::isfinite(sum)) return RoundOnce(t, sum);
      const long double part = sum - product;
      const long double lost = (product - (sum - part)) + (addend - part);
      return RoundOnce(t, lost == 0 ? sum : std::nextafter(sum, lost > 0 ? INFINITY : -INFINITY));
    });
  };
  check(kF16, Op::kAddF16, Op::kSubF16, Op::kMulF16, Op::kFmaF16);
  check(kBF16, Op::kAddBF16, Op::kSubBF16, Op::kMulBF16, Op::kFmaBF16);
}

TEST(Ops, PairsComputeBothHalves) {
  std::mt19937_64 random(5);
  const std::pair<Op, Op> rows[] = {{Op::kAddF16x2, Op::kAddF16},   {Op::kSubF16x2, Op::kSubF16},
                                    {Op::kMulF16x2, Op::kMulF16},   {Op::kFmaF16x2, Op::kFmaF16},
                                    {Op::kMinF16x2, Op::kMinF16},   {Op::kMaxF16x2, Op::kMaxF16},
                                    {Op::kAbsF16x2, Op::kAbsF16},   {Op::kNegF16x2, Op::kNegF16},
                                    {Op::kAddBF16x2, Op::kAddBF16}, {Op::kSubBF16x2, Op::kSubBF16},
                                    {Op::kMulBF16x2, Op::kMulBF16}, {Op::kFmaBF16x2, Op::kFmaBF16},
                                    {Op::kMinBF16x2, Op::kMinBF16}, {Op::kMaxBF16x2, Op::kMaxBF16},
                                    {Op::kAbsBF16x2, Op::kAbsBF16}, {Op::kNegBF16x2, Op::kNegBF16}};
  for (const auto& [pair, half] : rows) {
    const auto tuples = Tuples(pair, {}, &random, 500);
    auto low = tuples, high = tuples;
    for (size_t i = 0; i < tuples.size(); ++i) {
      for (size_t s = 0; s < tuples[i].size(); ++s) {
        low[i][s] &= 0xffff;
        high[i][s] >>= 16;
      }
    }
    const auto got = RunOp(pair, {}, tuples);
    const auto want_low = RunOp(half, {}, low), want_high = RunOp(half, {}, high);
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i], want_low[i] | want_high[i] << 16) << InfoOf(pair).name;
    }
  }
}

// ---- Conversions.

Modifiers Conversion(Type to, Type from, Round round = Round::kNone, bool saturate = false) {
  Modifiers mods;
  mods.type = to;
  mods.from = from;
  mods.round = round;
  mods.saturate = saturate;
  return mods;
}

TEST(Ops, ConvertFloatToInteger) {
  using V = const std::vector<uint64_t>&;
  ExpectModel(Op::kCvt, Conversion(Type::kS32, Type::kF32, Round::kRzi), [](V s) -> uint64_t {
    const double v = F(s[0]);
    if (std::isnan(v)) return 0;
    return U(static_cast<uint64_t>(
        static_cast<int64_t>(std::clamp(std::trunc(v), -2147483648.0, 2147483647.0))));
  });
  ExpectModel(Op::kCvt, Conversion(Type::kU32, Type::kF64, Round::kRni), [](V s) -> uint64_t {
    const double v = D(s[0]);
    if (std::isnan(v)) return 0x80000000;
    return static_cast<uint64_t>(std::clamp(std::nearbyint(v), 0.0, 4294967295.0));
  });
  ExpectModel(Op::kCvt, Conversion(Type::kS8, Type::kF16, Round::kRmi), [](V s) -> uint64_t {
    const double v = DecodeToDouble(kF16, s[0]);
    if (std::isnan(v)) return 0;
    return U(static_cast<uint64_t>(static_cast<int64_t>(std::clamp(std::floor(v), -128.0, 127.0))));
  });
  ExpectModel(Op::kCvt, Conversion(Type::kS64, Type::kF32, Round::kRpi), [](V s) -> uint64_t {
    const float v = F(s[0]);
    if (std::isnan(v) || v < -0x1p63f) return uint64_t{1} << 63;
    if (v >= 0x1p63f) return (uint64_t{1} << 63) - 1;
    return static_cast<uint64_t>(static_cast<int64_t>(std::ceil(v)));
  });
}

TEST(Ops, ConvertIntegers) {
  using V = const std::vector<uint64_t>&;
  ExpectModel(Op::kCvt, Conversion(Type::kS8, Type::kS32),
              [](V s) { return U(static_cast<uint64_t>(int64_t{static_cast<int8_t>(s[0])})); });
  ExpectModel(Op::kCvt, Conversion(Type::kU16, Type::kS64), [](V s) { return s[0] & 0xffff; });
  ExpectModel(Op::kCvt, Conversion(Type::kS64, Type::kS16),
              [](V s) { return static_cast<uint64_t>(int64_t{static_cast<int16_t>(s[0])}); });
  ExpectModel(Op::kCvt, Conversion(Type::kU8, Type::kS32, Round::kNone, true),
              [](V s) { return static_cast<uint64_t>(std::clamp(S(s[0]), 0, 255)); });
  ExpectModel(Op::kCvt, Conversion(Type::kF32, Type::kS32, Round::kRn),
              [](V s) { return B(static_cast<float>(S(s[0]))); });
  ExpectModel(Op::kCvt, Conversion(Type::kF64, Type::kU64, Round::kRn),
              [](V s) { return B(static_cast<double>(s[0])); });
}

// Directed roundings against the FPU's own modes.
TEST(Ops, ConvertWithDirectedRounding) {
  using V = const std::vector<uint64_t>&;
  const std::pair<Round, int> modes[] = {{Round::kRn, FE_TONEAREST},
                                         {Round::kRz, FE_TOWARDZERO},
                                         {Round::kRm, FE_DOWNWARD},
                                         {Round::kRp, FE_UPWARD}};
  for (const auto& mode : modes) {
    const Round round = mode.first;
    const int fpu = mode.second;
    ExpectModel(Op::kCvt, Conversion(Type::kF32, Type::kF64, round), [=](V s) {
      std::fesetround(fpu);
      volatile double v = D(s[0]);
      volatile float r = static_cast<float>(v);
      std::fesetround(FE_TONEAREST);
      return uint64_t{std::bit_cast<uint32_t>(float{r})};
    });
    ExpectModel(Op::kCvt, Conversion(Type::kF32, Type::kS64, round), [=](V s) {
      std::fesetround(fpu);
      volatile int64_t v = SL(s[0]);
      volatile float r = static_cast<float>(v);
      std::fesetround(FE_TONEAREST);
      return B(r);
    });
    // f16: the code whose neighbour on the wanted side is not closer to the value.
    ExpectModel(Op::kCvt, Conversion(Type::kF16, Type::kF32, round), [=](V s) -> uint64_t {
      const double v = F(s[0]);
      if (std::isnan(v)) return 0x7fff;
      const uint64_t near = EncodeFromDouble(kF16, v);
      const double d = DecodeToDouble(kF16, near);
      const uint64_t sign = near & 0x8000;
      const auto next = [&](double toward) -> uint64_t {
        if ((near & 0x7fff) == 0) return (toward < 0 ? 0x8000 : 0) | 1;
        return (toward > d) == (sign == 0) ? near + 1 : near - 1;
      };
      const bool down = round == Round::kRm || (round == Round::kRz && v > 0);
      if (round == Round::kRn || d == v) return near;
      if (down && d > v) return next(-INFINITY);
      if (!down && d < v) return next(INFINITY);
      return near;
    });
  }
}

// As seen on sm_90.
TEST(Ops, Nans) {
  const auto one = [](Op op, std::vector<uint64_t> srcs, Modifiers mods = {}) {
    return RunOp(op, mods, {srcs})[0];
  };
  constexpr uint64_t kInfinity = 0x7ff0000000000000, kOne = 0x3ff0000000000000;
  EXPECT_EQ(one(Op::kAddF64, {kOne, 0x7fffffffffffffff}), 0x7fffffffffffffff);
  EXPECT_EQ(one(Op::kSubF64, {kOne, 0xfffffffffffffffe}), 0xfffffffffffffffe);
  EXPECT_EQ(one(Op::kMulF64, {0x7ff0000000000001, kOne}), 0x7ff8000000000001);
  EXPECT_EQ(one(Op::kSubF64, {kInfinity, kInfinity}), 0xfff8000000000000);
  EXPECT_EQ(one(Op::kDivRnF64, {0, 0}), 0xfff8000000000000);
  EXPECT_EQ(one(Op::kNegF64, {0x7fffffffffffffff}), 0x7fffffffffffffff);
  EXPECT_EQ(one(Op::kAbsF64, {0xfffffffffffffffe}), 0xfffffffffffffffe);
  EXPECT_EQ(one(Op::kMaxF64, {0x7fffffffffffffff, 0xfffffffffffffffe}), 0xfffffffffffffffe);
  EXPECT_EQ(one(Op::kAddF32, {0x3f800000, 0xffc00001}), 0x7fffffffu);
  EXPECT_EQ(one(Op::kNegF32, {0x7fc00000}), 0x7fffffffu);
  EXPECT_EQ(one(Op::kAddF16, {0x3c00, 0x7e00}), 0x7fffu);
  const auto cvt = [&](Type to, Type from, uint64_t bits, Round round = Round::kNone) {
    return one(Op::kCvt, {bits}, Conversion(to, from, round));
  };
  EXPECT_EQ(cvt(Type::kF32, Type::kF64, 0xffffffffffffffff, Round::kRn), 0xffffffffu);
  EXPECT_EQ(cvt(Type::kF32, Type::kF64, 0x7ff8000000000000, Round::kRz), 0x7fc00000u);
  EXPECT_EQ(cvt(Type::kF16, Type::kF64, 0x7ff8000000000000, Round::kRn), 0x7e00u);
  EXPECT_EQ(cvt(Type::kBF16, Type::kF64, 0xfffffffffffffffe, Round::kRn), 0xffffu);
  EXPECT_EQ(cvt(Type::kF64, Type::kF32, 0x7fffffff), 0x7fffffffe0000000);
  EXPECT_EQ(cvt(Type::kF64, Type::kF16, 0xffff), 0xfffffc0000000000);
  EXPECT_EQ(cvt(Type::kF64, Type::kBF16, 0x7fff), 0x7fffe00000000000);
  EXPECT_EQ(cvt(Type::kF32, Type::kBF16, 0xffff), 0xffff0000u);
  EXPECT_EQ(cvt(Type::kF32, Type::kF16, 0xffff), 0x7fffffffu);
  EXPECT_EQ(cvt(Type::kTF32, Type::kF32, 0xfffffffe, Round::kRn), 0x7fffe000u);
  EXPECT_EQ(cvt(Type::kTF32, Type::kF32, 0xffffffff, Round::kRna), 0xffffe000u);
}

TEST(Ops, ConvertBetweenFloats) {
  using V = const std::vector<uint64_t>&;
  ExpectModel(Op::kCvt, Conversion(Type::kF32, Type::kF16),
              [](V s) { return B(static_cast<float>(DecodeToDouble(kF16, s[0]))); });
  ExpectModel(Op::kCvt, Conversion(Type::kBF16, Type::kF32, Round::kRn),
              [](V s) { return RoundOnce(kBF16, F(s[0])); });
  ExpectModel(Op::kCvt, Conversion(Type::kF32, Type::kF32, Round::kRni),
              [](V s) { return B(std::nearbyint(F(s[0]))); });
  ExpectModel(Op::kCvt, Conversion(Type::kF32, Type::kF32, Round::kNone, true), [](V s) {
    return std::isnan(F(s[0])) || F(s[0]) <= 0 ? 0 : B(std::fmin(F(s[0]), 1.0f));
  });
  ExpectModel(Op::kCvt, Conversion(Type::kTF32, Type::kF32, Round::kRna), [](V s) -> uint64_t {
    if (std::isnan(F(s[0]))) return (s[0] | 0x00400000) & 0xffffe000;
    if (std::isinf(F(s[0]))) return s[0];
    return (s[0] + 0x1000) & 0xffffe000;
  });
  ExpectModel(Op::kCvtF16x2F32, {},
              [](V s) { return RoundOnce(kF16, F(s[0])) << 16 | RoundOnce(kF16, F(s[1])); });
  ExpectModel(Op::kCvtE4M3x2F32, {}, [](V s) {
    return EncodeFromFloat(kF8E4M3, F(s[0])) << 8 | EncodeFromFloat(kF8E4M3, F(s[1]));
  });
  ExpectModel(Op::kCvtF16x2E5M2x2, {}, [](V s) {
    const auto half = [](uint64_t code) {
      const double v = DecodeToDouble(kF8E5M2, code);
      return std::isnan(v) ? 0x7fff : EncodeFromDouble(kF16, v);
    };
    return half(s[0] >> 8) << 16 | half(s[0] & 0xff);
  });
}

}  // namespace
}  // namespace tilus::simulate

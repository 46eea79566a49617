#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "type_models.h"
#include "types/arithmetic.h"
#include "types/codec.h"

namespace tilus {
namespace {

using Exact = __float128;  // 113 bits

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

double Binary(ScalarOp op, DataType type, double a, double b) {
  return DecodeToDouble(type, EvaluateBinary(op, type, EncodeFromDouble(type, a),
                                             EncodeFromDouble(type, b)));
}
uint64_t BinaryCode(ScalarOp op, DataType type, double a, double b) {
  return EvaluateBinary(op, type, EncodeFromDouble(type, a), EncodeFromDouble(type, b));
}
double Unary(ScalarOp op, DataType type, double a) {
  return DecodeToDouble(type, EvaluateUnary(op, type, EncodeFromDouble(type, a)));
}

bool IsFinite(DataType type, uint64_t code) { return std::isfinite(DecodeToDouble(type, code)); }

// a + b exactly, or, where one is below the other by more than 113 bits allow, a value that rounds
// like it to a type of at most 11 bits: the small one becomes a speck of its sign.
Exact ExactSum(double a, double b) {
  if (std::fabs(a) < std::fabs(b)) std::swap(a, b);
  if (b != 0 && std::ilogb(a) - std::ilogb(b) > 50) {
    b = std::copysign(std::ldexp(1.0, std::ilogb(a) - 50), b);
  }
  return static_cast<Exact>(a) + b;
}

class HalfArithmeticTest : public ::testing::TestWithParam<DataType> {};
INSTANTIATE_TEST_SUITE_P(Types, HalfArithmeticTest, ::testing::Values(kF16, kBF16),
                         [](const auto& info) { return info.param.name(); });

TEST_P(HalfArithmeticTest, AddSubMulFmaRoundOnce) {
  const DataType type = GetParam();
  const NearestModel model(type);
  std::mt19937_64 random(31);
  for (int i = 0; i < 150000; ++i) {
    uint64_t a = random() & 0xffff, b = random() & 0xffff, c = random() & 0xffff;
    const int mantissa = type.mantissa_bits();
    if (i % 3 == 1) b = (b & LowBits(mantissa)) | (a & ~LowBits(mantissa));  // near in magnitude
    if (i % 3 == 2) {  // c near the product: cancellation
      c = EvaluateBinary(ScalarOp::kMul, type, a, b) ^ 0x8000 ^ (c & 1);
    }
    if (!IsFinite(type, a) || !IsFinite(type, b) || !IsFinite(type, c)) continue;
    const double x = ModelValue(type, a), y = ModelValue(type, b), z = ModelValue(type, c);
    ASSERT_EQ(EvaluateBinary(ScalarOp::kMul, type, a, b), model.Encode(x * y)) << x << " " << y;
    if (x + y != 0) {
      ASSERT_EQ(EvaluateBinary(ScalarOp::kAdd, type, a, b), model.Encode(ExactSum(x, y)))
          << x << " " << y;
    }
    if (x - y != 0) {
      ASSERT_EQ(EvaluateBinary(ScalarOp::kSub, type, a, b), model.Encode(ExactSum(x, -y)))
          << x << " " << y;
    }
    if (x * y + z != 0) {
      ASSERT_EQ(EvaluateTernary(ScalarOp::kFma, type, a, b, c), model.Encode(ExactSum(x * y, z)))
          << x << " " << y << " " << z;
    }
  }
}

TEST_P(HalfArithmeticTest, FmaDecidesATieByASpeck) {
  // 1.5 (1 + 3u) = 1.5 + 4u + u/2 is a tie between neighbours u apart; f64 loses bf16's speck.
  const DataType type = GetParam();
  const double u = std::ldexp(1.0, -type.mantissa_bits());
  const double speck = type == kF16 ? 0x1p-24 : 0x1p-133;
  const auto fma = [&](double a, double b, double c) {
    return DecodeToDouble(type, EvaluateTernary(ScalarOp::kFma, type, EncodeFromDouble(type, a),
                                                EncodeFromDouble(type, b),
                                                EncodeFromDouble(type, c)));
  };
  const double below = 1.5 + 4 * u, above = 1.5 + 5 * u;
  EXPECT_EQ(fma(1.5, 1 + 3 * u, 0), below);  // to even
  EXPECT_EQ(fma(1.5, 1 + 3 * u, speck), above);
  EXPECT_EQ(fma(1.5, 1 + 3 * u, -speck), below);
  EXPECT_EQ(fma(-1.5, 1 + 3 * u, -speck), -above);
  EXPECT_EQ(fma(1.5, 1 + u, 0), 1.5 + 2 * u);  // 1.5 + 3u/2, to even: up
  EXPECT_EQ(fma(1.5, 1 + u, -speck), 1.5 + u);
  EXPECT_EQ(fma(1.5, 1 + u, speck), 1.5 + 2 * u);
}

TEST_P(HalfArithmeticTest, DivIsTheF32QuotientRounded) {
  const DataType type = GetParam();
  const NearestModel model(type);
  std::mt19937_64 random(32);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t a = random() & 0xffff, b = random() & 0xffff;
    const float quotient = static_cast<float>(ModelValue(type, a)) /
                           static_cast<float>(ModelValue(type, b));
    ASSERT_EQ(EvaluateBinary(ScalarOp::kDiv, type, a, b), model.Encode(double{quotient}));
  }
}

TEST(FloatArithmeticTest, NarrowTypesComputeInF32AndConvertBack) {
  for (DataType type : ListableFloatTypes()) {
    if (type.bits() > 8) continue;
    const NearestModel model(type);
    std::mt19937_64 random(33);
    for (int i = 0; i < 5000; ++i) {
      const uint64_t a = random() & CodeMask(type), b = random() & CodeMask(type);
      const uint64_t c = random() & CodeMask(type);
      const float x = static_cast<float>(ModelValue(type, a));
      const float y = static_cast<float>(ModelValue(type, b));
      const float z = static_cast<float>(ModelValue(type, c));
      const auto expect = [&](ScalarOp op, float value) {
        ASSERT_EQ(EvaluateBinary(op, type, a, b), model.Encode(double{value}))
            << GetScalarOpInfo(op).name << " " << type.name() << " " << x << " " << y;
      };
      expect(ScalarOp::kAdd, x + y);
      expect(ScalarOp::kSub, x - y);
      expect(ScalarOp::kMul, x * y);
      expect(ScalarOp::kDiv, x / y);
      expect(ScalarOp::kMod, std::fmod(x, y));
      ASSERT_EQ(EvaluateTernary(ScalarOp::kFma, type, a, b, c),
                model.Encode(double{std::fmaf(x, y, z)}));
    }
  }
  EXPECT_EQ(BinaryCode(ScalarOp::kAdd, kF8E4M3, 448, 448), 0x7eu);  // saturates
  EXPECT_EQ(BinaryCode(ScalarOp::kMul, kF8E8M0, 4, 8), 132u);
  EXPECT_EQ(BinaryCode(ScalarOp::kSub, kF8E8M0, 4, 8), 0u);         // no negative values
}

TEST(FloatArithmeticTest, F32AndF64AreIeee) {
  std::mt19937_64 random(34);
  for (int i = 0; i < 100000; ++i) {
    const uint32_t a = static_cast<uint32_t>(random()), b = static_cast<uint32_t>(random());
    const float x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
    const auto code = [](float v) {
      return std::isnan(v) ? 0x7fc00000u : std::bit_cast<uint32_t>(v);
    };
    ASSERT_EQ(EvaluateBinary(ScalarOp::kAdd, kF32, a, b), code(x + y));
    ASSERT_EQ(EvaluateBinary(ScalarOp::kSub, kF32, a, b), code(x - y));
    ASSERT_EQ(EvaluateBinary(ScalarOp::kMul, kF32, a, b), code(x * y));
    ASSERT_EQ(EvaluateBinary(ScalarOp::kDiv, kF32, a, b), code(x / y));
    ASSERT_EQ(EvaluateTernary(ScalarOp::kFma, kF32, a, b, a), code(std::fmaf(x, y, x)));
  }
  EXPECT_EQ(Binary(ScalarOp::kAdd, kF64, 0.1, 0.2), 0.1 + 0.2);
  EXPECT_EQ(Binary(ScalarOp::kMod, kF64, -7.5, 2), -1.5);
  EXPECT_EQ(Binary(ScalarOp::kAdd, kF32, 0x1p24, 1), 0x1p24);
}

class EveryFloatTest : public ::testing::TestWithParam<DataType> {};
INSTANTIATE_TEST_SUITE_P(Types, EveryFloatTest,
                         ::testing::Values(kF8E4M3, kF8E5M2, kF16, kBF16, kTF32, kF32, kF64),
                         [](const auto& info) { return info.param.name(); });

TEST_P(EveryFloatTest, MinAndMaxPreferTheNumber) {
  const DataType type = GetParam();
  EXPECT_EQ(Binary(ScalarOp::kMin, type, kNan, 2), 2);
  EXPECT_EQ(Binary(ScalarOp::kMin, type, 2, kNan), 2);
  EXPECT_EQ(Binary(ScalarOp::kMax, type, kNan, -2), -2);
  EXPECT_EQ(Binary(ScalarOp::kMax, type, -2, kNan), -2);
  EXPECT_EQ(BinaryCode(ScalarOp::kMax, type, kNan, -kNan), NanCode(type));
  EXPECT_EQ(Binary(ScalarOp::kMin, type, -1, 3), -1);
  EXPECT_EQ(Binary(ScalarOp::kMax, type, -1, 3), 3);
  for (bool swapped : {false, true}) {
    const double a = swapped ? -0.0 : 0.0;
    EXPECT_TRUE(std::signbit(Binary(ScalarOp::kMin, type, a, -a)));
    EXPECT_FALSE(std::signbit(Binary(ScalarOp::kMax, type, a, -a)));
  }
}

TEST_P(EveryFloatTest, ComparisonsWithNanAreFalseButNe) {
  const DataType type = GetParam();
  for (const auto& [a, b] : {std::pair{kNan, 1.0}, {1.0, kNan}, {kNan, kNan}}) {
    EXPECT_EQ(BinaryCode(ScalarOp::kEq, type, a, b), 0u);
    EXPECT_EQ(BinaryCode(ScalarOp::kNe, type, a, b), 1u);
    EXPECT_EQ(BinaryCode(ScalarOp::kLt, type, a, b), 0u);
    EXPECT_EQ(BinaryCode(ScalarOp::kLe, type, a, b), 0u);
    EXPECT_EQ(BinaryCode(ScalarOp::kGt, type, a, b), 0u);
    EXPECT_EQ(BinaryCode(ScalarOp::kGe, type, a, b), 0u);
  }
  EXPECT_EQ(BinaryCode(ScalarOp::kEq, type, 0.0, -0.0), 1u);
  EXPECT_EQ(BinaryCode(ScalarOp::kLt, type, -2, 1), 1u);
  EXPECT_EQ(BinaryCode(ScalarOp::kGe, type, -2, 1), 0u);
}

TEST_P(EveryFloatTest, NegAbsRoundModAndClip) {
  const DataType type = GetParam();
  EXPECT_EQ(Unary(ScalarOp::kNeg, type, 1.5), -1.5);
  EXPECT_TRUE(std::signbit(Unary(ScalarOp::kNeg, type, 0.0)));
  EXPECT_EQ(Unary(ScalarOp::kAbs, type, -1.5), 1.5);
  EXPECT_FALSE(std::signbit(Unary(ScalarOp::kAbs, type, -0.0)));
  EXPECT_EQ(Unary(ScalarOp::kRound, type, 1.5), 2);
  EXPECT_EQ(Unary(ScalarOp::kRound, type, 2.5), 2);
  EXPECT_EQ(Unary(ScalarOp::kRound, type, -0.5), 0);
  EXPECT_TRUE(std::signbit(Unary(ScalarOp::kRound, type, -0.5)));
  EXPECT_EQ(Binary(ScalarOp::kMod, type, 7, 4), 3);
  EXPECT_EQ(Binary(ScalarOp::kMod, type, -7, 4), -3);
  EXPECT_EQ(Binary(ScalarOp::kMod, type, 7, -4), 3);
  EXPECT_EQ(BinaryCode(ScalarOp::kMod, type, 7, 0), NanCode(type));
  const auto clip = [&](double x, double low, double high) {
    return DecodeToDouble(type, EvaluateTernary(ScalarOp::kClip, type, EncodeFromDouble(type, x),
                                                EncodeFromDouble(type, low),
                                                EncodeFromDouble(type, high)));
  };
  EXPECT_EQ(clip(5, -1, 2), 2);
  EXPECT_EQ(clip(-5, -1, 2), -1);
  EXPECT_EQ(clip(1.5, -1, 2), 1.5);
  EXPECT_EQ(clip(kNan, -1, 2), -1);
}

TEST_P(EveryFloatTest, NanResultsAreCanonical) {
  const DataType type = GetParam();
  const uint64_t nan = NanCode(type);
  const uint64_t odd_nan = CodeMask(type);  // negative, all ones
  EXPECT_EQ(EvaluateBinary(ScalarOp::kAdd, type, odd_nan, 0), nan);
  EXPECT_EQ(EvaluateUnary(ScalarOp::kNeg, type, odd_nan), nan);
  EXPECT_EQ(EvaluateUnary(ScalarOp::kAbs, type, odd_nan), nan);
  EXPECT_EQ(EvaluateTernary(ScalarOp::kFma, type, 0, odd_nan, 0), nan);
  EXPECT_EQ(BinaryCode(ScalarOp::kDiv, type, 0, 0), nan);
  for (ScalarOp op : {ScalarOp::kSqrt, ScalarOp::kRsqrt, ScalarOp::kLog, ScalarOp::kLog2}) {
    EXPECT_EQ(EvaluateUnary(op, type, EncodeFromDouble(type, -1)), nan);
  }
}

TEST(FloatArithmeticTest, DivisionByZeroAndInfinities) {
  EXPECT_EQ(Binary(ScalarOp::kDiv, kF16, 1, 0), kInf);
  EXPECT_EQ(Binary(ScalarOp::kDiv, kF32, -1, 0), -kInf);
  EXPECT_EQ(BinaryCode(ScalarOp::kDiv, kF8E4M3, 1, 0), 0x7eu);
  EXPECT_EQ(BinaryCode(ScalarOp::kSub, kF16, kInf, kInf), 0x7e00u);
  EXPECT_EQ(Binary(ScalarOp::kAdd, kF16, 65504, 65504), kInf);
  EXPECT_EQ(BinaryCode(ScalarOp::kMul, kBF16, kInf, 0), 0x7fc0u);
}

// Distance in units of f32's last place.
int64_t UlpDistance(uint64_t a, uint64_t b) {
  const auto ordered = [](uint64_t code) {
    const int64_t magnitude = static_cast<int64_t>(code & 0x7fffffff);
    return code & 0x80000000 ? -magnitude : magnitude;
  };
  return std::abs(ordered(a) - ordered(b));
}

struct Transcendental {
  ScalarOp op;
  long double (*function)(long double);
  double low, high;
};

TEST(FloatArithmeticTest, TranscendentalsAreWithinOneUlp) {
  const std::vector<Transcendental> cases = {
      {ScalarOp::kExp, [](long double x) { return std::exp(x); }, -104, 89},
      {ScalarOp::kExp2, [](long double x) { return std::exp2(x); }, -150, 129},
      {ScalarOp::kLog, [](long double x) { return std::log(x); }, 0, 1e6},
      {ScalarOp::kLog2, [](long double x) { return std::log2(x); }, 0, 1e6},
      {ScalarOp::kSin, [](long double x) { return std::sin(x); }, -32768, 32768},
      {ScalarOp::kCos, [](long double x) { return std::cos(x); }, -32768, 32768},
      {ScalarOp::kTanh, [](long double x) { return std::tanh(x); }, -12, 12},
      {ScalarOp::kRsqrt, [](long double x) { return 1 / std::sqrt(x); }, 0, 1e6},
  };
  std::mt19937_64 random(35);
  for (const Transcendental& t : cases) {
    std::uniform_real_distribution<double> uniform(t.low, t.high);
    for (int i = 0; i < 20000; ++i) {
      const float x = static_cast<float>(uniform(random));
      const uint64_t code = EvaluateUnary(t.op, kF32, std::bit_cast<uint32_t>(x));
      const uint64_t expected = std::bit_cast<uint32_t>(static_cast<float>(t.function(x)));
      ASSERT_LE(UlpDistance(code, expected), 1) << GetScalarOpInfo(t.op).name << " " << x;
    }
  }
}

TEST(FloatArithmeticTest, SqrtIsCorrectlyRounded) {
  std::mt19937_64 random(36);
  const NearestModel f16(kF16), bf16(kBF16);
  for (uint64_t code = 0; code < 0x7c00; ++code) {
    const long double root = std::sqrt(static_cast<long double>(ModelValue(kF16, code)));
    ASSERT_EQ(EvaluateUnary(ScalarOp::kSqrt, kF16, code), f16.Encode(root));
  }
  for (uint64_t code = 0; code < 0x7f80; ++code) {
    const long double root = std::sqrt(static_cast<long double>(ModelValue(kBF16, code)));
    ASSERT_EQ(EvaluateUnary(ScalarOp::kSqrt, kBF16, code), bf16.Encode(root));
  }
  for (int i = 0; i < 100000; ++i) {
    const uint32_t code = static_cast<uint32_t>(random() % 0x7f800000);
    const float root = static_cast<float>(
        std::sqrt(static_cast<long double>(std::bit_cast<float>(code))));
    ASSERT_EQ(EvaluateUnary(ScalarOp::kSqrt, kF32, code), std::bit_cast<uint32_t>(root));
  }
}

TEST(FloatArithmeticTest, TranscendentalsAtTheEnds) {
  EXPECT_EQ(Unary(ScalarOp::kExp, kF32, -kInf), 0);
  EXPECT_EQ(Unary(ScalarOp::kExp, kF32, 1000), kInf);
  EXPECT_EQ(Unary(ScalarOp::kExp2, kF16, 3), 8);
  EXPECT_EQ(Unary(ScalarOp::kExp2, kF32, -149), 0x1p-149);
  EXPECT_EQ(Unary(ScalarOp::kLog, kF32, 0), -kInf);
  EXPECT_EQ(Unary(ScalarOp::kLog2, kBF16, 1024), 10);
  EXPECT_EQ(Unary(ScalarOp::kRsqrt, kF32, 0), kInf);
  EXPECT_EQ(Unary(ScalarOp::kRsqrt, kF32, kInf), 0);
  EXPECT_EQ(Unary(ScalarOp::kRsqrt, kF64, 0.25), 2);
  EXPECT_EQ(Unary(ScalarOp::kTanh, kF16, 100), 1);
  EXPECT_EQ(EvaluateUnary(ScalarOp::kSin, kF32, 0x7f800000), 0x7fc00000u);
  EXPECT_EQ(Unary(ScalarOp::kExp, kF8E4M3, 10), 448);
}

}  // namespace
}  // namespace tilus

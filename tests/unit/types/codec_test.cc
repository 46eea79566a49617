#include "types/codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "type_models.h"
#include "types/half.h"

namespace tilus {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

// Doubles where conversions to `model`'s type can go wrong: every value (at most `limit` of them),
// every midpoint, and their neighbours; then extremes.
std::vector<double> EdgeValues(const NearestModel& model, size_t limit) {
  std::vector<double> edges = {0.0,      kInf,     0x1p-1074, 0x1p-1022,
                               0x1p-149, 0x1p-150, 0x1p127,   0x1p1023};
  const auto add = [&](const std::vector<double>& values) {
    const size_t step = values.size() / limit + 1;
    for (size_t i = 0; i < values.size(); i += step) {
      edges.insert(edges.end(), {values[i], std::nextafter(values[i], kInf),
                                 std::nextafter(values[i], -kInf)});
    }
    edges.insert(edges.end(), {values.back(), std::nextafter(values.back(), kInf),
                               std::nextafter(values.back(), -kInf)});
  };
  add(model.values());
  add(model.midpoints());
  const size_t count = edges.size();
  for (size_t i = 0; i < count; ++i) edges.push_back(-edges[i]);
  edges.push_back(kNan);
  edges.push_back(-kNan);
  return edges;
}

TEST(CodecTest, DecodeIsTheValueByDefinition) {
  for (DataType type : ListableFloatTypes()) {
    const uint64_t step = type == kTF32 ? uint64_t{1} << 13 : 1;
    for (uint64_t code = 0; code <= CodeMask(type); code += step) {
      const double expected = ModelValue(type, code);
      const double value = DecodeToDouble(type, code);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(value)) << type.name() << " " << code;
        ASSERT_TRUE(IsNan(type, code));
        ASSERT_EQ(DecodeToF32Bits(type, code), 0x7fc00000u);
      } else {
        ASSERT_EQ(std::bit_cast<uint64_t>(value), std::bit_cast<uint64_t>(expected))
            << type.name() << " " << code;
        ASSERT_FALSE(IsNan(type, code));
        ASSERT_EQ(DecodeToFloat(type, code), static_cast<float>(expected));
      }
    }
  }
}

TEST(CodecTest, EncodeIsTheNearestAtEveryEdge) {
  for (DataType type : ListableFloatTypes()) {
    const NearestModel model(type);
    for (double x : EdgeValues(model, 33000)) {
      ASSERT_EQ(EncodeFromDouble(type, x), model.Encode(x)) << type.name() << " " << x;
    }
  }
}

TEST(CodecTest, EncodeIsTheNearestForRandomF32Patterns) {
  std::mt19937 random(11);
  for (DataType type : ListableFloatTypes()) {
    const NearestModel model(type);
    for (int i = 0; i < 20000; ++i) {
      const uint32_t bits = random();  // with NaN payloads, infinities and subnormals
      const uint32_t exponents[] = {bits, bits & 0x807fffff, bits | 0x7f800000,
                                    (bits & 0x87ffffff) | 0x38000000};
      for (uint32_t pattern : exponents) {
        const double x = std::bit_cast<float>(pattern);
        ASSERT_EQ(ConvertCode(kF32, type, pattern), model.Encode(x))
            << type.name() << " " << std::hex << pattern;
      }
    }
  }
}

TEST(CodecTest, F64RoundsOnceWithoutAStopAtF32) {
  // Just above a tie of f16; f32 would round it onto the tie, and then down to even.
  EXPECT_EQ(EncodeFromDouble(kF16, 1 + 0x1p-11 + 0x1p-40), 0x3c01u);
  EXPECT_EQ(EncodeFromDouble(kF16, 1 + 0x1p-11), 0x3c00u);
  std::mt19937_64 random(12);
  for (int i = 0; i < 300000; ++i) {
    double x = std::bit_cast<double>(random());
    int exponent;
    if (i % 2) x = std::ldexp(std::frexp(x, &exponent), i % 320 - 160);
    if (std::isnan(x)) continue;
    ASSERT_EQ(EncodeFromDouble(kF32, x), std::bit_cast<uint32_t>(static_cast<float>(x))) << x;
  }
  EXPECT_EQ(EncodeFromDouble(kF32, -kNan), 0x7fc00000u);
  EXPECT_EQ(ConvertCode(kF32, kF64, 0xffa00001), 0x7ff8000000000000u);
}

TEST(CodecTest, SpecialCodesOfTheConversionTable) {
  EXPECT_EQ(EncodeFromDouble(kF16, -kNan), 0x7e00u);
  EXPECT_EQ(EncodeFromDouble(kBF16, -kNan), 0x7fc0u);
  EXPECT_EQ(EncodeFromDouble(kTF32, -kNan), 0x7fc00000u);
  EXPECT_EQ(EncodeFromDouble(kF8E4M3, -kNan), 0x7fu);
  EXPECT_EQ(EncodeFromDouble(kF8E5M2, -kNan), 0x7fu);
  EXPECT_EQ(EncodeFromDouble(kF8E4M3, kInf), 0x7eu);
  EXPECT_EQ(EncodeFromDouble(kF8E4M3, -1e9), 0xfeu);
  EXPECT_EQ(EncodeFromDouble(kF8E5M2, kInf), 0x7bu);
  EXPECT_EQ(EncodeFromDouble(kF8E5M2, -kInf), 0xfbu);
  EXPECT_EQ(ConvertCode(kF8E5M2, kF8E5M2, 0x7c), 0x7bu);
  EXPECT_EQ(DecodeToDouble(kF8E5M2, 0xfc), -kInf);
  EXPECT_EQ(EncodeFromDouble(DataType::Float(3, 2), kNan), 0x1fu);
  EXPECT_EQ(EncodeFromDouble(DataType::Float(3, 2), -kNan), 0x1fu);
  EXPECT_EQ(EncodeFromDouble(kF16, 65519), 0x7bffu);
  EXPECT_EQ(EncodeFromDouble(kF16, 65520), 0x7c00u);
  EXPECT_EQ(EncodeFromDouble(kF16, -0.0), 0x8000u);
  EXPECT_EQ(EncodeFromDouble(kTF32, 1 + 0x1p-11), 0x3f800000u);
  EXPECT_EQ(EncodeFromDouble(kTF32, 1 + 3 * 0x1p-11), 0x3f804000u);
  EXPECT_EQ(DecodeToDouble(kTF32, 0x3f801fff), 1.0);  // bits below the format are ignored
  EXPECT_EQ(CanonicalCode(kTF32, 0x3f801fff), 0x3f800000u);
  EXPECT_EQ(CanonicalCode(kTF32, 0xffc01fff), 0x7fc00000u);
  EXPECT_EQ(CanonicalCode(kF8E5M2, 0xfc), 0xfcu);
  EXPECT_EQ(CanonicalCode(kF8E5M2, 0xfd), 0x7fu);
  EXPECT_EQ(CanonicalCode(kBool, 0x40), 1u);
  EXPECT_EQ(CanonicalCode(DataType::Int(3), 0xff), 7u);
}

TEST(CodecTest, ScaleTypeRules) {
  EXPECT_EQ(EncodeFromDouble(kF8E8M0, 1), 127u);
  EXPECT_EQ(EncodeFromDouble(kF8E8M0, 0), 0u);
  EXPECT_EQ(EncodeFromDouble(kF8E8M0, -2), 0u);
  EXPECT_EQ(EncodeFromDouble(kF8E8M0, -kInf), 0u);
  EXPECT_EQ(EncodeFromDouble(kF8E8M0, kInf), 0xfeu);
  EXPECT_EQ(EncodeFromDouble(kF8E8M0, 0x1p128), 0xfeu);
  EXPECT_EQ(EncodeFromDouble(kF8E8M0, 0x1p-140), 0u);
  EXPECT_EQ(EncodeFromDouble(kF8E8M0, kNan), 0xffu);
  EXPECT_EQ(EncodeFromDouble(kF8E8M0, 1.5), 128u);   // between 127 and 128
  EXPECT_EQ(EncodeFromDouble(kF8E8M0, 3.0), 128u);   // between 128 and 129
  EXPECT_EQ(EncodeFromDouble(kF8E8M0, std::nextafter(3.0, 4)), 129u);
  EXPECT_EQ(DecodeToF32Bits(kF8E8M0, 0), 0x00400000u);
  EXPECT_EQ(ConvertCode(kF8E8M0, kI8, 130), 8u);
  EXPECT_EQ(ConvertCode(kF8E8M0, kI8, 0xff), 0u);
  EXPECT_EQ(ConvertCode(kF8E8M0, kBool, 0), 1u);
  EXPECT_EQ(ConvertCode(kI32, kF8E8M0, 6), 130u);    // between 129 (4) and 130 (8)
}

TEST(CodecTest, EveryCodeOfEveryTypeUpTo16BitsSurvivesAWiderType) {
  for (DataType type : AllDataTypes()) {
    if (type.bits() > 16) continue;
    for (uint64_t code = 0; code <= CodeMask(type); ++code) {
      if (type.is_bool() && code > 1) break;
      if (type == kF8E5M2 && (code & 0x7f) == 0x7c) continue;  // infinity saturates
      const uint64_t expected = CanonicalCode(type, code);
      ASSERT_EQ(EncodeFromDouble(type, DecodeToDouble(type, code)), expected) << type.name();
      ASSERT_EQ(ConvertCode(kF32, type, DecodeToF32Bits(type, code)), expected) << type.name();
      ASSERT_EQ(ConvertCode(type, type, code), expected) << type.name();
      if (!type.is_float()) {
        ASSERT_EQ(EncodeFromInt64(type, DecodeToInt64(type, code)), expected) << type.name();
      }
    }
  }
}

TEST(CodecTest, IntegersDecodeAsTwosComplement) {
  EXPECT_EQ(DecodeToInt64(DataType::Int(1), 1), -1);
  EXPECT_EQ(DecodeToInt64(DataType::Int(4), 8), -8);
  EXPECT_EQ(DecodeToInt64(DataType::Int(4), 0xf7), 7);
  EXPECT_EQ(DecodeToInt64(DataType::UInt(4), 0xff), 15);
  EXPECT_EQ(DecodeToInt64(kI64, uint64_t{1} << 63), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(DecodeToUInt64(kU64, ~uint64_t{0}), ~uint64_t{0});
  EXPECT_EQ(DecodeToUInt64(kI8, 0xff), ~uint64_t{0});
}

TEST(CodecTest, IntegerToIntegerKeepsLowBitsOfTheValue) {
  std::mt19937_64 random(13);
  for (DataType from : IntegerTypes()) {
    for (DataType to : IntegerTypes()) {
      for (int i = 0; i < 50; ++i) {
        const uint64_t code = random() & CodeMask(from);
        uint64_t value = code;
        if (from.kind() == TypeKind::kInt && (code >> (from.bits() - 1))) value |= ~CodeMask(from);
        ASSERT_EQ(ConvertCode(from, to, code), value & CodeMask(to))
            << from.name() << " to " << to.name();
      }
    }
  }
  EXPECT_EQ(ConvertCode(DataType::Int(4), kI8, 0xf), 0xffu);
  EXPECT_EQ(ConvertCode(DataType::UInt(4), kI8, 0xf), 0x0fu);
  EXPECT_EQ(ConvertCode(kI16, DataType::Int(3), 0x1234), 4u);
}

TEST(CodecTest, FloatToIntegerTruncatesAndSaturates) {
  const std::vector<double> values = {0.0,  0.5,   0.999, 1.0,  1.5,   2.5,     3.999, 7,
                                      7.99, 8,     15.5,  16,   127.9, 128,     255.9, 256,
                                      1e3,  65535, 65536, 2e9,  1e18,  0x1p62,  0x1p63, 0x1p64,
                                      1e30, kInf,  5e-324, 0x1p31, 0x1p32, 0x1.fffffep62};
  for (DataType type : IntegerTypes()) {
    const bool is_signed = type.is_signed();
    const long double low = is_signed ? -std::ldexp(1.0L, type.bits() - 1) : 0.0L;
    const long double high = std::ldexp(1.0L, type.bits() - is_signed) - 1;
    for (double magnitude : values) {
      for (double x : {magnitude, -magnitude}) {
        const long double clamped =
            std::clamp(std::trunc(static_cast<long double>(x)), low, high);
        const uint64_t expected =
            (clamped < 0 ? static_cast<uint64_t>(static_cast<int64_t>(clamped))
                         : static_cast<uint64_t>(clamped)) & CodeMask(type);
        ASSERT_EQ(EncodeFromDouble(type, x), expected) << type.name() << " " << x;
      }
    }
    EXPECT_EQ(EncodeFromDouble(type, kNan), 0u);
    EXPECT_EQ(ConvertCode(kBF16, type, 0xffff), 0u);
  }
}

TEST(CodecTest, WideIntegersToFloatsRoundOnce) {
  std::mt19937_64 random(14);
  const NearestModel f16(kF16), bf16(kBF16), tf32(kTF32), e4m3(kF8E4M3), scale(kF8E8M0);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t u = random() >> (i % 64);
    const int64_t s = static_cast<int64_t>(random()) >> (i % 64);
    ASSERT_EQ(ConvertCode(kU64, kF32, u), std::bit_cast<uint32_t>(static_cast<float>(u)));
    ASSERT_EQ(ConvertCode(kI64, kF32, s), std::bit_cast<uint32_t>(static_cast<float>(s)));
    ASSERT_EQ(ConvertCode(kU64, kF64, u), std::bit_cast<uint64_t>(static_cast<double>(u)));
    ASSERT_EQ(ConvertCode(kI64, kF64, s), std::bit_cast<uint64_t>(static_cast<double>(s)));
    const long double x = u, y = s;
    ASSERT_EQ(ConvertCode(kU64, kF16, u), f16.Encode(x));
    ASSERT_EQ(ConvertCode(kI64, kF16, s), f16.Encode(y));
    ASSERT_EQ(ConvertCode(kU64, kBF16, u), bf16.Encode(x));
    ASSERT_EQ(ConvertCode(kI64, kTF32, s), tf32.Encode(y));
    ASSERT_EQ(ConvertCode(kI64, kF8E4M3, s), e4m3.Encode(y));
    ASSERT_EQ(ConvertCode(kU64, kF8E8M0, u), scale.Encode(x));
  }
  // Just above a tie of bf16, by less than a double of this size can hold.
  EXPECT_EQ(ConvertCode(kU64, kBF16, 0x8080000000000001), 0x5f01u);
  EXPECT_EQ(ConvertCode(kU64, kBF16, 0x8080000000000000), 0x5f00u);
}

TEST(CodecTest, BoolIsNonZero) {
  for (DataType type : AllDataTypes()) {
    if (type.bits() > 16) continue;
    for (uint64_t code = 0; code <= CodeMask(type); ++code) {
      const bool expected = type.is_float() ? ModelValue(type, code) != 0 : code != 0;
      ASSERT_EQ(ConvertCode(type, kBool, code), expected) << type.name() << " " << code;
    }
    // 1 in every type; i1, where it does not fit, keeps the low bit as from any integer.
    const uint64_t one = type == DataType::Int(1) ? 1 : EncodeFromDouble(type, 1);
    EXPECT_EQ(ConvertCode(kBool, type, 7), one);
    EXPECT_EQ(ConvertCode(kBool, type, 0), EncodeFromDouble(type, 0));
  }
  EXPECT_EQ(EncodeFromDouble(kBool, kNan), 1u);
  EXPECT_EQ(EncodeFromDouble(kBool, -0.0), 0u);
  EXPECT_EQ(EncodeFromDouble(kBool, 0x1p-1074), 1u);
  EXPECT_EQ(ConvertCode(kTF32, kBool, 0x80001fff), 0u);
}

TEST(CodecTest, BitsAboveTheWidthAreIgnoredAndNeverMade) {
  std::mt19937_64 random(15);
  for (DataType from : AllDataTypes()) {
    for (DataType to : AllDataTypes()) {
      for (int i = 0; i < 20; ++i) {
        const uint64_t code = random();
        const uint64_t result = ConvertCode(from, to, code);
        ASSERT_EQ(result & ~CodeMask(to), 0u) << from.name() << " to " << to.name();
        ASSERT_EQ(result, ConvertCode(from, to, code & CodeMask(from)));
        ASSERT_EQ(result, CanonicalCode(to, result)) << from.name() << " to " << to.name();
      }
    }
  }
}

TEST(CodecTest, ConverterAgreesWithConvertCode) {
  std::mt19937_64 random(16);
  for (DataType from : {DataType::UInt(3), kBool, kF8E4M3, kF16, kI16, kF32, kI64}) {
    for (DataType to : {DataType::Int(5), kBool, kF8E8M0, kBF16, kF32, kU64}) {
      const Converter converter(from, to);
      std::vector<uint64_t> codes(1000), out(1000);
      for (uint64_t& code : codes) code = random();
      converter.Convert(codes, absl::MakeSpan(out));
      for (size_t i = 0; i < codes.size(); ++i) {
        ASSERT_EQ(out[i], ConvertCode(from, to, codes[i])) << from.name() << " to " << to.name();
      }
    }
  }
}

TEST(HalfTest, DecodesEveryCodeAsTheCodec) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const uint16_t half = static_cast<uint16_t>(code);
    ASSERT_EQ(std::bit_cast<uint32_t>(F16ToF32(half)), DecodeToF32Bits(kF16, code)) << code;
    ASSERT_EQ(std::bit_cast<uint32_t>(BF16ToF32(half)), DecodeToF32Bits(kBF16, code)) << code;
  }
}

TEST(HalfTest, EncodesAsTheCodec) {
  // A stride that is coprime to 2^32 meets every exponent with varied low bits; then each boundary.
  const auto check = [](uint32_t bits) {
    const float x = std::bit_cast<float>(bits);
    ASSERT_EQ(F32ToF16(x), ConvertCode(kF32, kF16, bits)) << std::hex << bits;
    ASSERT_EQ(F32ToBF16(x), ConvertCode(kF32, kBF16, bits)) << std::hex << bits;
  };
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4093) {
    check(static_cast<uint32_t>(bits));
  }
  for (uint32_t top = 0; top < 0x10000; ++top) {
    for (uint32_t low : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u,
                         0xefffu, 0xf000u, 0xf001u, 0xffffu}) {
      check(top << 16 | low);
    }
  }
}

}  // namespace
}  // namespace tilus

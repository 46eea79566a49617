#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "handles.h"

namespace capi_test {
namespace {

tilus_type Type(const std::string& name) {
  tilus_type type = 0;
  EXPECT_CALL_OK(tilus_type_parse(View(name), &type));
  return type;
}

std::vector<std::string> AllNames() {
  std::vector<std::string> names = {"bool", "f16", "bf16", "tf32", "f32", "f64", "f8e8m0"};
  for (const char* sign : {"u", "i"}) {
    for (int bits = 1; bits <= 16; ++bits) names.push_back(sign + std::to_string(bits));
    names.push_back(sign + std::string("32"));
    names.push_back(sign + std::string("64"));
  }
  for (int bits = 3; bits <= 8; ++bits) {
    for (int exponent = 1; exponent <= bits - 1; ++exponent) {
      const int mantissa = bits - 1 - exponent;
      std::string name = "fXeYmZ";
      name[1] = static_cast<char>('0' + bits);
      name[3] = static_cast<char>('0' + exponent);
      name[5] = static_cast<char>('0' + mantissa);
      tilus_type type = 0;
      if (Outcome(tilus_type_parse(View(name), &type)) == "ok") names.push_back(name);
    }
  }
  return names;
}

TEST(TypeTest, NumbersAndNamesAreTwoFormsOfOneThing) {
  EXPECT_GE(AllNames().size(), 60u);
  for (const std::string& name : AllNames()) {
    const tilus_type type = Type(name);
    EXPECT_EQ(Text(tilus_type_name(type)), name);
    EXPECT_EQ(tilus_type_bits(type), type >> 16 & 255) << name;
    const uint32_t kind = type >> 24;
    EXPECT_TRUE(kind >= TILUS_CLASS_UNSIGNED && kind <= TILUS_CLASS_BOOL) << name;
  }
}

TEST(TypeTest, NamedConstantsAreThoseTypes) {
  const std::pair<tilus_type, const char*> named[] = {
      {TILUS_TYPE_U4, "u4"},         {TILUS_TYPE_U8, "u8"},         {TILUS_TYPE_U16, "u16"},
      {TILUS_TYPE_U32, "u32"},       {TILUS_TYPE_U64, "u64"},       {TILUS_TYPE_I4, "i4"},
      {TILUS_TYPE_I8, "i8"},         {TILUS_TYPE_I16, "i16"},       {TILUS_TYPE_I32, "i32"},
      {TILUS_TYPE_I64, "i64"},       {TILUS_TYPE_F4E2M1, "f4e2m1"}, {TILUS_TYPE_F6E3M2, "f6e3m2"},
      {TILUS_TYPE_F8E4M3, "f8e4m3"}, {TILUS_TYPE_F8E5M2, "f8e5m2"}, {TILUS_TYPE_F8E8M0, "f8e8m0"},
      {TILUS_TYPE_F16, "f16"},       {TILUS_TYPE_BF16, "bf16"},     {TILUS_TYPE_TF32, "tf32"},
      {TILUS_TYPE_F32, "f32"},       {TILUS_TYPE_F64, "f64"},       {TILUS_TYPE_BOOL, "bool"}};
  for (const auto& [type, name] : named) {
    EXPECT_EQ(Text(tilus_type_name(type)), name);
    EXPECT_EQ(Type(name), type) << name;
  }
}

TEST(TypeTest, OtherNumbersAreNoTypes) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    const auto type = static_cast<tilus_type>(random());
    const std::string name = Text(tilus_type_name(type));
    EXPECT_EQ(tilus_type_bits(type) != 0, !name.empty());
    if (name.empty()) continue;
    EXPECT_EQ(Type(name), type);
  }
  for (tilus_type type : {tilus_type{0}, tilus_type{0x01210000}, tilus_type{0x0100ffff},
                          tilus_type{0x01080001}, tilus_type{0x04010000}, tilus_type{0x03080000},
                          tilus_type{0x05080000}, ~tilus_type{0}}) {
    EXPECT_EQ(Text(tilus_type_name(type)), "") << type;
    EXPECT_EQ(tilus_type_bits(type), 0u) << type;
    uint64_t bytes = 7;
    EXPECT_EQ(Outcome(tilus_type_storage(type, 1, &bytes)), kInvalid) << type;
    EXPECT_EQ(bytes, 7u);
  }
}

TEST(TypeTest, BadNamesAreErrors) {
  tilus_type type = 7;
  for (const char* name : {"", "q8", "u0", "u33", "f9e4m4", "f8e4m4", "U8", "u8 ", "f16e5m10"}) {
    EXPECT_THAT(Outcome(tilus_type_parse(tilus_string_of(name), &type)),
                testing::StartsWith("INVALID_ARGUMENT T020")) << name;
  }
  EXPECT_EQ(Outcome(tilus_type_parse({nullptr, 2}, &type)), kNull);
  EXPECT_EQ(Outcome(tilus_type_parse({nullptr, 0}, &type)), kNull);
  EXPECT_EQ(Outcome(tilus_type_parse(tilus_string_of("u8"), nullptr)), kNull);
  EXPECT_EQ(type, 7u);
}

TEST(TypeTest, StorageIsDenseAndRoundedForSubByteTypes) {
  const struct {
    const char* type;
    uint64_t count, bytes;
  } cases[] = {{"u8", 5, 5},  {"f16", 3, 6},  {"i6", 1, 4},  {"i6", 5, 4}, {"i6", 6, 8},
               {"u1", 33, 8}, {"u12", 2, 4},  {"f64", 0, 0}, {"u3", 0, 0},
               {"u8", std::numeric_limits<int64_t>::max() / 8,
                std::numeric_limits<int64_t>::max() / 8}};
  for (const auto& c : cases) {
    uint64_t bytes = 99;
    EXPECT_CALL_OK(tilus_type_storage(Type(c.type), c.count, &bytes));
    EXPECT_EQ(bytes, c.bytes) << c.type << " x " << c.count;
  }
  uint64_t bytes = 99;
  for (uint64_t count : {uint64_t{1} << 60, uint64_t{1} << 63, ~uint64_t{0}}) {
    EXPECT_EQ(Outcome(tilus_type_storage(TILUS_TYPE_F64, count, &bytes)), kRange);
  }
  EXPECT_EQ(bytes, 99u);
}

TEST(TypeTest, EncodeInvertsDecode) {
  for (const std::string& name : AllNames()) {
    const tilus_type type = Type(name);
    const uint32_t bits = tilus_type_bits(type);
    if (bits > 16) continue;
    std::vector<uint64_t> codes;
    for (uint64_t code = 0; code < uint64_t{1} << bits; ++code) codes.push_back(code);
    std::vector<float> values(codes.size());
    std::vector<uint64_t> back(codes.size());
    ASSERT_CALL_OK(tilus_type_decode(type, codes.data(), codes.size(), values.data()));
    ASSERT_CALL_OK(tilus_type_encode(type, values.data(), values.size(), back.data()));
    for (size_t i = 0; i < codes.size(); ++i) {
      float again = 0;
      ASSERT_CALL_OK(tilus_type_decode(type, &back[i], 1, &again));
      if (std::isnan(values[i]) || (bits <= 8 && std::isinf(values[i]))) continue;
      ASSERT_EQ(again, values[i]) << name << " code " << i;
    }
  }
}

TEST(TypeTest, ConvertFollowsTheCastRules) {
  const uint64_t code = 0x43800000;  // 256.0f
  uint64_t result = 0;
  EXPECT_CALL_OK(tilus_type_convert(TILUS_TYPE_F32, TILUS_TYPE_U8, &code, 1, &result));
  EXPECT_EQ(result, 255u) << "floats saturate";
  const uint64_t integer = 256;
  EXPECT_CALL_OK(tilus_type_convert(TILUS_TYPE_I32, TILUS_TYPE_U8, &integer, 1, &result));
  EXPECT_EQ(result, 0u) << "integers keep the low bits";
  // Long lists take another path than short ones.
  std::vector<uint64_t> codes(100000), few(codes.size()), many(codes.size());
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = i & 65535;
  EXPECT_CALL_OK(tilus_type_convert(TILUS_TYPE_F16, TILUS_TYPE_F8E4M3, codes.data(), codes.size(),
                                    many.data()));
  for (size_t i = 0; i < codes.size(); i += 1000) {
    EXPECT_CALL_OK(
        tilus_type_convert(TILUS_TYPE_F16, TILUS_TYPE_F8E4M3, &codes[i], 1000, &few[i]));
  }
  EXPECT_EQ(few, many);
}

TEST(TypeTest, PackIsDenseAndUnpackItsInverse) {
  std::mt19937_64 random(2);
  for (const std::string& name : AllNames()) {
    const tilus_type type = Type(name);
    const uint32_t bits = tilus_type_bits(type);
    for (uint32_t code_bytes : {1u, 2u, 4u, 8u}) {
      if (bits > code_bytes * 8) continue;
      const size_t count = random() % 1500;
      const size_t size = (count * bits + 7) / 8;
      std::vector<uint8_t> codes(count * code_bytes), back(codes.size()), packed(size + 1, 0xa5);
      for (size_t i = 0; i < count; ++i) {
        const uint64_t code = random() & (~uint64_t{0} >> (64 - bits));
        std::memcpy(&codes[i * code_bytes], &code, code_bytes);
      }
      ASSERT_CALL_OK(tilus_type_pack(type, codes.data(), code_bytes, count, packed.data(), size));
      EXPECT_EQ(packed[size], 0xa5) << "wrote past its end";
      for (size_t bit = 0; bit < count * bits; ++bit) {
        const size_t i = bit / bits, b = bit % bits;
        ASSERT_EQ(packed[bit / 8] >> (bit % 8) & 1, codes[i * code_bytes + b / 8] >> (b % 8) & 1)
            << name << " bit " << bit;
      }
      ASSERT_CALL_OK(
          tilus_type_unpack(type, {packed.data(), size}, count, back.data(), code_bytes));
      EXPECT_EQ(back, codes) << name;
    }
  }
}

TEST(TypeTest, PackRefusesWhatDoesNotFitAndTouchesNothing) {
  const uint8_t codes[3] = {1, 63, 64};
  uint8_t out[3] = {9, 9, 9};
  const tilus_type u6 = Type("u6");
  EXPECT_EQ(Outcome(tilus_type_pack(u6, codes, 1, 3, out, 3)), kRange);
  EXPECT_EQ(Outcome(tilus_type_pack(u6, codes, 1, 2, out, 1)), kRange);
  EXPECT_EQ(Outcome(tilus_type_pack(u6, codes, 3, 1, out, 3)), kInvalid);
  EXPECT_EQ(Outcome(tilus_type_pack(TILUS_TYPE_U16, codes, 1, 1, out, 3)), kInvalid);
  EXPECT_EQ(Outcome(tilus_type_pack(u6, nullptr, 1, 1, out, 3)), kNull);
  EXPECT_EQ(Outcome(tilus_type_pack(u6, codes, 1, 1, nullptr, 3)), kNull);
  EXPECT_EQ(Outcome(tilus_type_pack(u6, codes, 1, ~size_t{0}, out, 3)), kRange);
  EXPECT_EQ(Outcome(tilus_type_pack(0, codes, 1, 1, out, 3)), kInvalid);
  EXPECT_THAT(out, testing::ElementsAre(9, 9, 9));
  uint8_t back[3] = {9, 9, 9};
  EXPECT_EQ(Outcome(tilus_type_unpack(u6, {out, 1}, 2, back, 1)), kRange);
  EXPECT_EQ(Outcome(tilus_type_unpack(u6, {nullptr, 3}, 2, back, 1)), kNull);
  EXPECT_EQ(Outcome(tilus_type_unpack(u6, {out, 3}, 2, nullptr, 1)), kNull);
  EXPECT_THAT(back, testing::ElementsAre(9, 9, 9));
  EXPECT_CALL_OK(tilus_type_pack(u6, nullptr, 1, 0, nullptr, 0));
  EXPECT_CALL_OK(tilus_type_unpack(u6, {nullptr, 0}, 0, nullptr, 1));
}

TEST(TypeTest, ListsMayBeNullOnlyWhenEmpty) {
  float value = 0;
  uint64_t code = 0;
  EXPECT_EQ(Outcome(tilus_type_encode(TILUS_TYPE_F16, nullptr, 1, &code)), kNull);
  EXPECT_EQ(Outcome(tilus_type_encode(TILUS_TYPE_F16, &value, 1, nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_type_decode(TILUS_TYPE_F16, nullptr, 1, &value)), kNull);
  EXPECT_EQ(Outcome(tilus_type_decode(TILUS_TYPE_F16, &code, 1, nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_type_convert(TILUS_TYPE_F16, TILUS_TYPE_F32, nullptr, 1, &code)), kNull);
  EXPECT_CALL_OK(tilus_type_encode(TILUS_TYPE_F16, nullptr, 0, nullptr));
  EXPECT_CALL_OK(tilus_type_decode(TILUS_TYPE_F16, nullptr, 0, nullptr));
  EXPECT_CALL_OK(tilus_type_convert(TILUS_TYPE_F16, TILUS_TYPE_F32, nullptr, 0, nullptr));
}

}  // namespace
}  // namespace capi_test

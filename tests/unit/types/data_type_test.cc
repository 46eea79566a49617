#include "types/data_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"

namespace tilus {
namespace {

using ::testing::HasSubstr;

TEST(DataTypeTest, ListsEveryTypeOnce) {
  std::set<std::string> names;
  absl::flat_hash_set<DataType> types;
  for (DataType type : AllDataTypes()) {
    EXPECT_TRUE(names.insert(type.name()).second) << type.name();
    EXPECT_TRUE(types.insert(type).second) << type.name();
    EXPECT_TRUE(type.is_supported()) << type.name();
  }
  std::set<std::string> expected = {"bool", "f8e8m0", "f16", "bf16", "tf32", "f32", "f64",
                                    "u16",  "u32",    "u64", "i16",  "i32",  "i64"};
  for (int bits = 1; bits <= 15; ++bits) {
    expected.insert(absl::StrCat("u", bits));
    expected.insert(absl::StrCat("i", bits));
  }
  int small_floats = 0;
  for (int x = 3; x <= 8; ++x) {
    for (int y = 1; y <= x - 1; ++y) {
      expected.insert(absl::StrCat("f", x, "e", y, "m", x - 1 - y));
      ++small_floats;
    }
  }
  EXPECT_EQ(small_floats, 27);
  EXPECT_EQ(names, expected);
}

TEST(DataTypeTest, NamesParseBack) {
  for (DataType type : AllDataTypes()) {
    const absl::StatusOr<DataType> parsed = ParseDataType(type.name());
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, type);
  }
}

TEST(DataTypeTest, Properties) {
  EXPECT_EQ(DataType(), kU8);
  EXPECT_EQ(kBool.bits(), 8);
  EXPECT_EQ(kTF32.bits(), 32);
  EXPECT_EQ(kF16.bits(), 16);
  EXPECT_EQ(kBF16.bits(), 16);
  EXPECT_EQ(kF64.bits(), 64);
  EXPECT_EQ(DataType::Float(3, 2).bits(), 6);
  EXPECT_NE(kTF32, kF32);
  EXPECT_NE(kF8E8M0, DataType::Float(7, 0));

  EXPECT_TRUE(kF8E8M0.is_float());
  EXPECT_FALSE(kF8E8M0.is_signed());
  EXPECT_TRUE(kF16.is_signed());
  EXPECT_TRUE(kI8.is_signed());
  EXPECT_FALSE(kU8.is_signed());
  EXPECT_FALSE(kBool.is_integer());
  EXPECT_FALSE(kBool.is_float());
  EXPECT_TRUE(DataType::UInt(9).is_subbyte());
  EXPECT_FALSE(kU16.is_subbyte());

  EXPECT_TRUE(kF8E5M2.has_infinity());
  EXPECT_FALSE(kF8E4M3.has_infinity());
  EXPECT_TRUE(kF8E4M3.has_nan());
  EXPECT_FALSE(DataType::Float(5, 1).has_infinity());
  EXPECT_FALSE(DataType::Float(4, 2).has_nan());
  EXPECT_TRUE(kF8E8M0.has_nan());
  EXPECT_EQ(kF8E8M0.exponent_bias(), 127);
  EXPECT_EQ(DataType::Float(1, 1).exponent_bias(), 0);
  EXPECT_EQ(kF16.exponent_bias(), 15);
  EXPECT_EQ(kF64.exponent_bias(), 1023);

  EXPECT_FALSE(DataType::UInt(24).is_supported());
  EXPECT_FALSE(DataType::Float(6, 9).is_supported());
}

struct Refused {
  std::string name;
  DiagId id;
  std::string reason;
};

TEST(DataTypeTest, RefusedNamesSayWhy) {
  const DiagId kUnknown = DiagId::kUnknownType;
  const DiagId kWidth = DiagId::kTypeWidth;
  const DiagId kFormat = DiagId::kTypeFloatFormat;
  const std::vector<Refused> cases = {
      {"", kUnknown, "\"\" is not a data type"},
      {"u", kUnknown, ""},
      {"u0", kWidth, "no integer has 0 bits"},
      {"u17", kWidth, "no integer has 17 bits"},
      {"i31", kWidth, "no integer has 31 bits"},
      {"i65", kWidth, "no integer has 65 bits"},
      {"u128", kWidth, "no integer has 128 bits"},
      {"i99999999999999999999999", kWidth, "no integer has more than 9999 bits"},
      {"u08", kUnknown, ""},
      {"u-4", kUnknown, ""},
      {"u4 ", kUnknown, ""},
      {" u4", kUnknown, ""},
      {"U4", kUnknown, ""},
      {"u4x", kUnknown, ""},
      {"f0", kWidth, "no float has 0 bits"},
      {"f128", kWidth, "no float has 128 bits"},
      {"f8", kUnknown, ""},
      {"f9e4m4", kFormat, "3 to 8 bits, not 9"},
      {"f2e1m0", kFormat, "3 to 8 bits, not 2"},
      {"f16e5m10", kFormat, "3 to 8 bits, not 16"},
      {"f6e0m5", kFormat, "at least 1 bit"},
      {"f6e3m3", kFormat, "1 sign + 3 exponent + 3 mantissa bits do not make 6"},
      {"f6e99999999999m3", kFormat, "more than 9999 exponent"},
      {"f8e8m1", kFormat, "do not make 8"},
      {"f6e3", kUnknown, ""},
      {"f6e3m", kUnknown, ""},
      {"f6m3e2", kUnknown, ""},
      {"f6e3m2x", kUnknown, ""},
      {"bf17", kUnknown, ""},
      {"bool8", kUnknown, ""},
      {std::string("u4\0", 3), kUnknown, "\\x00"},
      {std::string(100000, 'z'), kUnknown, "zzz...\""},
  };
  for (const Refused& refused : cases) {
    const absl::StatusOr<DataType> parsed = ParseDataType(refused.name);
    ASSERT_FALSE(parsed.ok()) << refused.name;
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
    const std::vector<Diagnostic> diagnostics = DiagnosticsOf(parsed.status());
    ASSERT_EQ(diagnostics.size(), 1u);
    EXPECT_EQ(diagnostics[0].id, refused.id) << diagnostics[0].message;
    EXPECT_THAT(diagnostics[0].message, HasSubstr(refused.reason));
    EXPECT_FALSE(diagnostics[0].hint.empty());
    EXPECT_LT(diagnostics[0].message.size(), 200u);
  }
}

TEST(DataTypeTest, SpellingsOfOtherSystemsGetTheNameThatIsMeant) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"float16", "did you mean f16?"}, {"Half", "did you mean f16?"},
      {"fp8", "did you mean f8e4m3?"},  {"int8", "did you mean i8?"},
      {"double", "did you mean f64?"},  {"f4", "did you mean f4e2m1?"},
  };
  for (const auto& [name, hint] : cases) {
    const absl::StatusOr<DataType> parsed = ParseDataType(name);
    ASSERT_FALSE(parsed.ok());
    EXPECT_THAT(DiagnosticsOf(parsed.status())[0].hint, HasSubstr(hint));
  }
}

}  // namespace
}  // namespace tilus

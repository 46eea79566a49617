// Every row of tests/data/dtypes/formats.json.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "types/codec.h"
#include "types/data_type.h"
#include "types/packing.h"

namespace tilus {
namespace {

const nlohmann::json& Formats() {
  static const nlohmann::json* const formats = [] {
    std::ifstream file(std::string(TILUS_SOURCE_DIR) + "/tests/data/dtypes/formats.json");
    return new nlohmann::json(nlohmann::json::parse(file));
  }();
  return *formats;
}

uint32_t Hex(const nlohmann::json& text) {
  return static_cast<uint32_t>(std::stoul(text.get<std::string>(), nullptr, 16));
}

TEST(FormatsTest, Decode) {
  int codes = 0;
  for (const auto& [name, patterns] : Formats()["decode"].items()) {
    const DataType type = ParseDataType(name).value();
    ASSERT_EQ(patterns.size(), size_t{1} << type.bits());
    for (uint64_t code = 0; code < patterns.size(); ++code, ++codes) {
      EXPECT_EQ(DecodeToF32Bits(type, code), Hex(patterns[code])) << name << " " << code;
    }
  }
  EXPECT_GT(codes, 2000);
}

TEST(FormatsTest, Encode) {
  int rows = 0;
  for (const auto& [name, list] : Formats()["encode"].items()) {
    const DataType type = ParseDataType(name).value();
    for (const auto& row : list) {
      EXPECT_EQ(ConvertCode(kF32, type, Hex(row[0])), row[1].get<uint64_t>()) << name << " " << row;
      ++rows;
    }
  }
  EXPECT_GT(rows, 1000);
}

TEST(FormatsTest, Pack) {
  int rows = 0;
  for (const auto& row : Formats()["pack"]) {
    const int bits = row["bits"].get<int>();
    const auto codes = row["codes"].get<std::vector<uint64_t>>();
    const std::string text = row["bytes"].get<std::string>();
    std::vector<uint8_t> bytes(text.size() / 2);
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
    }
    ASSERT_EQ(PackedBytes(static_cast<int64_t>(codes.size()), bits),
              static_cast<int64_t>(bytes.size()));
    std::vector<uint8_t> packed(bytes.size(), 0xee);
    PackBits(codes, bits, absl::MakeSpan(packed));
    EXPECT_EQ(packed, bytes) << row;
    std::vector<uint64_t> unpacked(codes.size());
    UnpackBits(bytes, bits, absl::MakeSpan(unpacked));
    EXPECT_EQ(unpacked, codes) << row;
    ++rows;
  }
  EXPECT_EQ(rows, 135);
}

}  // namespace
}  // namespace tilus

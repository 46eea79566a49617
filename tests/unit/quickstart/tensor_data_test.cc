#include "tensor_data.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace quickstart {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Half, KnownValues) {
  EXPECT_EQ(HalfToDouble(0x0000), 0);
  EXPECT_EQ(HalfToDouble(0x0001), 0x1p-24);
  EXPECT_EQ(HalfToDouble(0x03ff), 0x3ffp-24);
  EXPECT_EQ(HalfToDouble(0x0400), 0x1p-14);
  EXPECT_EQ(HalfToDouble(0x3c00), 1);
  EXPECT_EQ(HalfToDouble(0xc500), -5);
  EXPECT_EQ(HalfToDouble(0x7bff), 65504);
  EXPECT_EQ(HalfToDouble(0xfc00), -INFINITY);
  EXPECT_TRUE(std::isnan(HalfToDouble(0x7c01)));
}

TEST(Half, EveryPatternComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const double value = HalfToDouble(half);
    EXPECT_EQ(HalfIsFinite(half), std::isfinite(value));
    EXPECT_EQ(DoubleToHalf(value), std::isnan(value) ? 0x7e00 : half);
  }
}

// Between each two neighbours: below the midpoint, at it (to the even one), and above it.
TEST(Half, RoundsToNearestEven) {
  for (uint16_t low = 0; low < 0x7bff; ++low) {
    const uint16_t high = low + 1;
    const double middle = (HalfToDouble(low) + HalfToDouble(high)) / 2;
    EXPECT_EQ(DoubleToHalf(middle), low % 2 == 0 ? low : high);
    EXPECT_EQ(DoubleToHalf(std::nextafter(middle, 0)), low);
    EXPECT_EQ(DoubleToHalf(std::nextafter(middle, INFINITY)), high);
    EXPECT_EQ(DoubleToHalf(-middle), 0x8000 | (low % 2 == 0 ? low : high));
  }
  EXPECT_EQ(DoubleToHalf(std::nextafter(65520.0, 0)), 0x7bff);
  EXPECT_EQ(DoubleToHalf(65520), 0x7c00);
  EXPECT_EQ(DoubleToHalf(-1e300), 0xfc00);
  EXPECT_EQ(DoubleToHalf(5e-324), 0);
}

GgufTensor TensorOf(TensorType type, uint64_t length, Bytes data) {
  GgufTensor tensor;
  tensor.name = "t";
  tensor.type = type;
  tensor.row_bytes = length / BlockOf(type)->elements * BlockOf(type)->bytes;
  tensor.row_count = data.size() / tensor.row_bytes;
  tensor.extents = {length, tensor.row_count};
  tensor.data = data;
  return tensor;
}

TEST(TensorData, Q41LowNibblesAreTheFirstHalf) {
  std::vector<uint8_t> bytes = {0x00, 0x38, 0x00, 0xc0};  // d = 0.5, m = -2
  for (int i = 0; i < 16; ++i) bytes.push_back(i | (15 - i) << 4);
  const Q41Block block = ReadQ41Block(bytes);
  EXPECT_EQ(block.scale, 0x3800);
  EXPECT_EQ(block.minimum, 0xc000);
  const Result<std::vector<double>> row = DecodeRow(TensorOf(TensorType::kQ4_1, 32, bytes), 0);
  ASSERT_TRUE(row.ok()) << row.message();
  ASSERT_EQ(row->size(), 32u);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(block.codes[i], i);
    EXPECT_EQ(block.codes[16 + i], 15 - i);
    EXPECT_EQ((*row)[i], 0.5 * i - 2);
    EXPECT_EQ((*row)[16 + i], 0.5 * (15 - i) - 2);
  }
}

TEST(TensorData, Q80CodesAreSigned) {
  std::vector<uint8_t> bytes(2 * 34);
  bytes[34] = 0x00, bytes[35] = 0xbc;  // row 1: d = -1
  for (int i = 0; i < 32; ++i) bytes[36 + i] = static_cast<uint8_t>(i * 8 - 128);
  const Result<std::vector<double>> row = DecodeRow(TensorOf(TensorType::kQ8_0, 32, bytes), 1);
  ASSERT_TRUE(row.ok()) << row.message();
  for (int i = 0; i < 32; ++i) EXPECT_EQ((*row)[i], 128 - i * 8);
}

TEST(TensorData, FloatRows) {
  const std::vector<uint8_t> single = {0, 0, 0xc0, 0x3f, 0, 0, 0x80, 0xbf};
  EXPECT_THAT(*DecodeRow(TensorOf(TensorType::kF32, 2, single), 0), ElementsAre(1.5, -1));
  EXPECT_THAT(*DecodeRow(TensorOf(TensorType::kF32, 1, single), 1), ElementsAre(-1));
  const std::vector<uint8_t> half = {0x00, 0x3e, 0x01, 0x80};
  EXPECT_THAT(*DecodeRow(TensorOf(TensorType::kF16, 2, half), 0), ElementsAre(1.5, -0x1p-24));
}

TEST(TensorData, RefusesWhatIsNotThereOrNotANumber) {
  const std::vector<uint8_t> bytes = {0, 0x7c};  // f16 infinity
  const GgufTensor half = TensorOf(TensorType::kF16, 1, bytes);
  EXPECT_THAT(DecodeRow(half, 1).message(), HasSubstr("has 1 rows"));
  EXPECT_THAT(DecodeRow(half, 0).message(), HasSubstr("infinity"));
  const std::vector<uint8_t> words(8);
  EXPECT_THAT(DecodeRow(TensorOf(TensorType{28}, 1, words), 0).message(), HasSubstr("is F64"));
}

}  // namespace
}  // namespace quickstart

#include "reference.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"
#include "tensor_data.h"

namespace quickstart {
namespace {

Matrix RandomMatrix(int rows, int columns, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Matrix matrix{rows, columns, std::vector<double>(static_cast<size_t>(rows) * columns)};
  for (double& value : matrix.values) value = normal(random);
  return matrix;
}

TEST(Reference, Q41ValuesUseTheScaleAndMinimumOfTheirGroup) {
  Q41Layer layer{64, 8, std::vector<uint8_t>(64 * 8), {}, {}};
  for (size_t i = 0; i < layer.codes.size(); ++i) layer.codes[i] = i * 7 % 16;
  for (int i = 0; i < 2 * 8; ++i) {
    layer.scales.push_back(DoubleToHalf(0.25 * (i + 1)));
    layer.minima.push_back(DoubleToHalf(-i));
  }
  const Matrix w = Values(layer);
  for (int k = 0; k < 64; ++k) {
    for (int n = 0; n < 8; ++n) {
      const int group = k / 32 * 8 + n;
      EXPECT_EQ(w.values[k * 8 + n], 0.25 * (group + 1) * ((k * 8 + n) * 7 % 16) - group);
    }
  }
}

TEST(Reference, MultiplyIsTheSumOfProducts) {
  const Matrix a = RandomMatrix(3, 5, 1), w = RandomMatrix(5, 4, 2), c = Multiply(a, w);
  ASSERT_EQ(c.rows, 3);
  ASSERT_EQ(c.columns, 4);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      double sum = 0;
      for (int k = 0; k < 5; ++k) sum += a.values[i * 5 + k] * w.values[k * 4 + j];
      EXPECT_DOUBLE_EQ(c.values[i * 4 + j], sum);
    }
  }
}

TEST(Reference, I6CodesAreWithinHalfAStepAndReachTheEnds) {
  const Matrix w = RandomMatrix(96, 16, 3);
  const I6Layer layer = QuantizeI6(w);
  const Matrix back = Values(layer);
  ASSERT_EQ(layer.scales.size(), 3u * 16);
  for (int group = 0; group < 3; ++group) {
    for (int n = 0; n < 16; ++n) {
      const double scale = HalfToDouble(layer.scales[group * 16 + n]);
      double largest = 0;
      int largest_code = 0;
      for (int k = group * 32; k < group * 32 + 32; ++k) {
        const int code = layer.codes[k * 16 + n];
        EXPECT_GE(code, -32);
        EXPECT_LE(code, 31);
        EXPECT_LE(std::fabs(back.values[k * 16 + n] - w.values[k * 16 + n]), 0.5 * scale);
        largest = std::max(largest, std::fabs(w.values[k * 16 + n]));
        largest_code = std::max(largest_code, std::abs(code));
      }
      EXPECT_EQ(layer.scales[group * 16 + n], DoubleToHalf(largest / 31));
      EXPECT_EQ(largest_code, 31);
    }
  }
}

TEST(Reference, I6KeepsWhatItCanRepresent) {
  Matrix w{32, 8, std::vector<double>(32 * 8)};
  for (int k = 0; k < 32; ++k) {
    for (int n = 0; n < 8; ++n) w.values[k * 8 + n] = std::ldexp(31 - 2 * k, n - 8);
  }
  EXPECT_EQ(Values(QuantizeI6(w)).values, w.values);
}

TEST(Reference, I6OfZerosAndOfTinyWeightsIsZero) {
  Matrix w{32, 8, std::vector<double>(32 * 8)};
  w.values[0] = 0x1p-24;  // a scale of 2^-24 / 31 is no half
  for (const double value : Values(QuantizeI6(w)).values) EXPECT_EQ(value, 0);
}

TEST(Reference, RelativeErrorIsScaleFree) {
  const Matrix reference{1, 2, {3, 4}};
  EXPECT_EQ(RelativeError(reference, reference), 0);
  EXPECT_DOUBLE_EQ(RelativeError({1, 2, {3, 4.5}}, reference), 0.1);
  EXPECT_DOUBLE_EQ(RelativeError({1, 2, {3e9, 4.5e9}}, {1, 2, {3e9, 4e9}}), 0.1);
}

TEST(Reference, NoErrorBoundHoldsForNanOrAZeroReference) {
  EXPECT_FALSE(RelativeError({1, 1, {NAN}}, {1, 1, {1}}) <= 1e-3);
  EXPECT_FALSE(RelativeError({1, 1, {INFINITY}}, {1, 1, {1}}) <= 1e-3);
  EXPECT_FALSE(RelativeError({1, 1, {1}}, {1, 1, {0}}) <= 1e-3);
}

}  // namespace
}  // namespace quickstart

#include "tiles.h"

#include <numeric>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace quickstart {
namespace {

using ::testing::ElementsAre;

std::vector<uint8_t> RandomCodes(size_t count, int bits, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> codes(count);
  for (uint8_t& code : codes) code = random() & ((1u << bits) - 1);
  return codes;
}

TEST(Tiles, DenseCodesAreLeastSignificantFirst) {
  const uint8_t nibbles[] = {0x1, 0x2, 0x3};
  EXPECT_THAT(PackDense(nibbles, 4), ElementsAre(0x21, 0x03));
  const uint8_t sixes[] = {0x3f, 0x00, 0x2a, 0x01};
  EXPECT_THAT(PackDense(sixes, 6), ElementsAre(0x3f, 0xa0, 0x06));
  const uint8_t minus_one[] = {0xff, 0x00, 0xff, 0x00};  // i6 -1, 0, -1, 0 given as bytes
  EXPECT_THAT(PackDense(minus_one, 6), ElementsAre(0x3f, 0xf0, 0x03));
}

// Reads an element back through the definition: the layout's f(t, i), and the place of each bit.
TEST(Tiles, EveryElementIsWhereTheLayoutSays) {
  constexpr int kK = 48, kN = 24;
  for (const int bits : {2, 4, 6, 8}) {
    const std::vector<uint8_t> codes = RandomCodes(kK * kN, bits, bits);
    const std::vector<uint8_t> packed = PackTiles(codes, kK, kN, bits);
    ASSERT_EQ(packed.size(), static_cast<size_t>(kK * kN * bits / 8));
    const int share = bits / 2, step = std::gcd(share, 16);
    for (int tile = 0; tile < kK / 16 * (kN / 8); ++tile) {
      for (int t = 0; t < 32; ++t) {
        for (int i = 0; i < 4; ++i) {
          // local(2,1) . column_spatial(4,8) . local(2,1), evaluated factor by factor.
          const int row = (i / 2) * 8 + (t % 4) * 2 + i % 2, column = t / 4;
          int code = 0;
          for (int b = 0; b < bits; ++b) {
            const int p = i * bits + b, j = p / 8;
            const int at = j / step * 32 * step + t * step + j % step;
            code |= (packed[tile * 32 * share + at] >> p % 8 & 1) << b;
          }
          const int tile_row = tile / (kN / 8), tile_column = tile % (kN / 8);
          ASSERT_EQ(code, codes[(tile_row * 16 + row) * kN + tile_column * 8 + column])
              << bits << " " << tile << " " << t << " " << i;
        }
      }
    }
  }
}

TEST(Tiles, KnownBytesOfOneTile) {
  std::vector<uint8_t> codes(16 * 8);
  codes[2 * 8 + 1] = 0x21;  // row 2, column 1: thread 5, element 0
  codes[9 * 8 + 7] = 0x3f;  // row 9, column 7: thread 28, element 3
  const std::vector<uint8_t> six = PackTiles(codes, 16, 8, 6);
  ASSERT_EQ(six.size(), 96u);
  EXPECT_EQ(six[5], 0x21);
  EXPECT_EQ(six[64 + 28], 0xfc);
  EXPECT_EQ(std::accumulate(six.begin(), six.end(), 0), 0x21 + 0xfc);
  const std::vector<uint8_t> four = PackTiles(codes, 16, 8, 4);
  ASSERT_EQ(four.size(), 64u);
  EXPECT_EQ(four[5 * 2], 0x01);
  EXPECT_EQ(four[28 * 2 + 1], 0xf0);
}

}  // namespace
}  // namespace quickstart

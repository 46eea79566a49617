// The contracts of swizzle.h.
#include "layout/swizzle.h"

#include <set>

#include "layout/bank_conflicts.h"
#include "layout_testing.h"

namespace tilus {
namespace {

using testing::HasError;

TEST(Swizzle, IsCuTesFunction) {
  for (int bits = 0; bits <= 4; ++bits) {
    for (int base = 0; base <= 4; ++base) {
      for (int shift = bits; shift <= 5; ++shift) {
        const Swizzle swizzle{bits, base, shift};
        ASSERT_TRUE(swizzle.Check().ok());
        const int64_t yyy = ((int64_t{1} << bits) - 1) << (base + shift);
        for (int64_t x = 0; x < 4096; ++x) {
          ASSERT_EQ(swizzle(x), x ^ ((x & yyy) >> shift)) << swizzle.ToString();
        }
      }
    }
  }
}

TEST(Swizzle, IsItsOwnInverseAndKeepsBlocksAndRuns) {
  for (int bits = 0; bits <= 3; ++bits) {
    for (int base = 0; base <= 3; ++base) {
      for (int shift = bits; shift <= 4; ++shift) {
        const Swizzle swizzle{bits, base, shift};
        for (int64_t x = 0; x < 4096; ++x) {
          ASSERT_EQ(swizzle(swizzle(x)), x);
          ASSERT_EQ(swizzle(x) >> (base + bits), x >> (base + bits));
          ASSERT_EQ(swizzle(x) % (1 << base), x % (1 << base));
          ASSERT_EQ(swizzle(x + swizzle.Period()) - swizzle.Period(), swizzle(x));
        }
      }
    }
  }
}

TEST(Swizzle, RefusesFieldsThatOverlapOrAreHuge) {
  for (const Swizzle& bad : {Swizzle{-1, 0, 0},
                             {0, -1, 0},
                             {0, 0, -1},
                             {3, 0, 2},
                             {1, 17, 1},
                             {1, 1, 17},
                             {64, 0, 64}}) {
    EXPECT_THAT(bad.Check(), HasError(DiagId::kSwizzle, bad.ToString() + " is out of range"));
  }
}

TEST(DefaultSwizzle, OfRowsThatArePowersOfTwo) {
  EXPECT_EQ(DefaultSwizzle(16, 16), std::nullopt);
  EXPECT_EQ(DefaultSwizzle(32, 16), (Swizzle{1, 3, 3}));
  EXPECT_EQ(DefaultSwizzle(64, 16), (Swizzle{2, 3, 3}));
  EXPECT_EQ(DefaultSwizzle(128, 16), (Swizzle{3, 3, 3}));
  EXPECT_EQ(DefaultSwizzle(128, 8), (Swizzle{3, 4, 3}));
  EXPECT_EQ(DefaultSwizzle(256, 16), (Swizzle{3, 3, 4}));
  EXPECT_EQ(DefaultSwizzle(128, 4), (Swizzle{3, 5, 3}));
  EXPECT_EQ(DefaultSwizzle(512, 32), (Swizzle{3, 2, 5}));
}

TEST(DefaultSwizzle, NoneWhereNoneFits) {
  EXPECT_EQ(DefaultSwizzle(0, 16), std::nullopt);
  EXPECT_EQ(DefaultSwizzle(-128, 16), std::nullopt);
  EXPECT_EQ(DefaultSwizzle(128, 6), std::nullopt);
  EXPECT_EQ(DefaultSwizzle(128, 0), std::nullopt);
  EXPECT_EQ(DefaultSwizzle(100, 16), std::nullopt);
  EXPECT_EQ(DefaultSwizzle(INT64_MAX, 16), std::nullopt);
  EXPECT_EQ(DefaultSwizzle(int64_t{1} << 62, 16), std::nullopt);
}

// For every row of 1 to 64 groups: with the default swizzle (or without, where there is none) eight
// rows of any 16-byte column are one turn.
TEST(DefaultSwizzle, ColumnsOfSixteenBytesDoNotConflict) {
  for (int64_t groups = 1; groups <= 64; ++groups) {
    const std::optional<Swizzle> swizzle = DefaultSwizzle(groups * 16, 16);
    EXPECT_TRUE(swizzle.has_value() || groups % 2 == 1) << groups;
    for (int64_t row = 0; row < 256; row += 8) {
      for (int64_t column = 0; column < groups; ++column) {
        std::vector<int64_t> addresses;
        for (int64_t r = row; r < row + 8; ++r) {
          const int64_t offset = (r * groups + column) * 8;  // of 16-bit elements
          addresses.push_back((swizzle ? (*swizzle)(offset) : offset) * 2);
        }
        ASSERT_EQ(WavefrontsOfPhase(addresses, 16), 1) << groups << " groups, row " << row;
      }
    }
  }
}

}  // namespace
}  // namespace tilus

// The contracts of shared_layout.h.
#include "layout/shared_layout.h"

#include <set>

#include "layout_testing.h"

namespace tilus {
namespace {

using testing::HasError;
using testing::Index;

// All offsets in row-major order of the indices.
std::vector<int64_t> Offsets(const SharedLayout& layout) {
  std::vector<int64_t> offsets;
  int64_t elements = 1;
  for (int64_t extent : layout.shape()) elements *= extent;
  for (int64_t n = 0; n < elements; ++n) {
    Index index(layout.rank());
    int64_t rest = n;
    for (int d = layout.rank() - 1; d >= 0; --d) {
      index[d] = rest % layout.shape()[d];
      rest /= layout.shape()[d];
    }
    offsets.push_back(layout.Offset(index));
  }
  return offsets;
}

TEST(SharedLayout, RowMajorCountsUp) {
  const SharedLayout layout = *SharedLayout::RowMajor({3, 1, 4});
  EXPECT_EQ(layout.Size(), 12);
  const std::vector<int64_t> offsets = Offsets(layout);
  for (int64_t n = 0; n < 12; ++n) EXPECT_EQ(offsets[n], n);
  EXPECT_TRUE(layout.IsCompact());
  EXPECT_EQ(layout.ToString(), "strides(4, 4, 1)");
}

TEST(SharedLayout, RankZeroIsOneElement) {
  const SharedLayout layout = *SharedLayout::RowMajor({});
  EXPECT_EQ(layout.Size(), 1);
  EXPECT_EQ(layout.Offset({}), 0);
  EXPECT_EQ(layout, SharedLayout());
}

TEST(SharedLayout, PaddedRowsStandApart) {
  const SharedLayout layout = *SharedLayout::Padded({2, 3, 4}, 1);
  EXPECT_EQ(layout.Offset({1, 2, 3}), 1 * 15 + 2 * 5 + 3);
  EXPECT_EQ(layout.Size(), 29);
  EXPECT_TRUE(layout.IsInjective());
  EXPECT_FALSE(layout.IsCompact());
  EXPECT_EQ(*SharedLayout::Padded({8, 4}, 0), *SharedLayout::RowMajor({8, 4}));
}

TEST(SharedLayout, ModesBlockTheTile) {
  const SharedLayout layout = *SharedLayout::Create({64, 32}, {8, 8, 4, 8}, {256, 8, 64, 1});
  for (int64_t r = 0; r < 64; ++r) {
    for (int64_t c = 0; c < 32; ++c) {
      ASSERT_EQ(layout.Offset({r, c}), r / 8 * 256 + c / 8 * 64 + r % 8 * 8 + c % 8);
    }
  }
  EXPECT_TRUE(layout.IsCompact());
  EXPECT_EQ(layout.ToString(), "{shape=[64, 32], modes=[8, 8, 4, 8], strides=[256, 8, 64, 1]}");
}

TEST(SharedLayout, SwizzleActsOnOffsets) {
  const Swizzle swizzle{3, 3, 3};
  const SharedLayout plain = *SharedLayout::RowMajor({16, 64});
  const SharedLayout layout = *SharedLayout::RowMajor({16, 64}, swizzle);
  const std::vector<int64_t> before = Offsets(plain), after = Offsets(layout);
  for (size_t n = 0; n < before.size(); ++n) ASSERT_EQ(after[n], swizzle(before[n]));
  EXPECT_TRUE(layout.IsCompact());
  EXPECT_EQ(layout.ToString(), "strides(64, 1) swizzle(3, 3, 3)");
}

// Size bounds the offsets, and IsInjective is exact, over many strides and swizzles.
TEST(SharedLayout, SizeBoundsOffsetsAndInjectivityIsExact) {
  int injective = 0, not_injective = 0;
  for (int64_t a = 0; a <= 8; ++a) {
    for (int64_t b = 0; b <= 8; ++b) {
      for (const auto& swizzle : std::vector<std::optional<Swizzle>>{
               std::nullopt, Swizzle{1, 0, 1}, Swizzle{2, 1, 2}, Swizzle{1, 2, 3}}) {
        const SharedLayout layout = *SharedLayout::Create({4, 3}, {2, 2, 3}, {a, 5, b}, swizzle);
        const std::vector<int64_t> offsets = Offsets(layout);
        const std::set<int64_t> distinct(offsets.begin(), offsets.end());
        ASSERT_GE(*distinct.begin(), 0);
        ASSERT_LT(*distinct.rbegin(), layout.Size()) << layout.ToString();
        ASSERT_EQ(layout.IsInjective(), distinct.size() == offsets.size()) << layout.ToString();
        ASSERT_EQ(layout.IsCompact(), distinct.size() == offsets.size() && layout.Size() == 12);
        ++(layout.IsInjective() ? injective : not_injective);
      }
    }
  }
  EXPECT_GT(injective, 50);
  EXPECT_GT(not_injective, 50);
}

TEST(SharedLayout, SizeOfPlainLayoutIsExactAndSwizzledRoundsToItsBlock) {
  EXPECT_EQ(SharedLayout::Strided({4, 8}, {10, 1})->Size(), 38);
  EXPECT_EQ(SharedLayout::Strided({4, 8}, {10, 1}, Swizzle{1, 2, 1})->Size(), 40);
  // Offsets that never reach the field that the swizzle reads stay as they are.
  EXPECT_EQ(SharedLayout::Strided({5}, {1}, Swizzle{3, 3, 3})->Size(), 5);
}

TEST(SharedLayout, RefusesBadInput) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  EXPECT_THAT(SharedLayout::RowMajor({4, 0}), HasError(DiagId::kLayoutExtent, "extent 0"));
  EXPECT_THAT(SharedLayout::RowMajor({kHuge, kHuge}), HasError(DiagId::kLayoutTooLarge, "shape"));
  EXPECT_THAT(SharedLayout::RowMajor(Index(9, 1)), HasError(DiagId::kLayoutRank, "9 dimensions"));
  EXPECT_THAT(SharedLayout::Strided({4, 4}, {4}), HasError(DiagId::kSharedLayout, "1 strides"));
  EXPECT_THAT(SharedLayout::Strided({4, 4}, {-4, 1}),
              HasError(DiagId::kSharedLayout, "has the stride -4"));
  EXPECT_THAT(SharedLayout::Strided({4, 4}, {INT64_MAX, 1}),
              HasError(DiagId::kLayoutTooLarge, "takes more than 2147483647"));
  EXPECT_THAT(SharedLayout::Strided({4, 4}, {kHuge, 1}),
              HasError(DiagId::kLayoutTooLarge, "takes more than 2147483647"));
  EXPECT_THAT(SharedLayout::Create({4}, {2, 2}, {1}), HasError(DiagId::kSharedLayout, "2 modes"));
  EXPECT_THAT(SharedLayout::Create({4}, {3}, {1}), HasError(DiagId::kLayoutModes, "factor"));
  EXPECT_THAT(SharedLayout::Create({4}, {-4}, {1}), HasError(DiagId::kLayoutExtent, "extent -4"));
  EXPECT_THAT(SharedLayout::Create({1}, Index(200, 1), Index(200, 1)),
              HasError(DiagId::kSharedLayout, "200 modes"));
  EXPECT_THAT(SharedLayout::RowMajor({4}, Swizzle{3, 3, 2}),
              HasError(DiagId::kSwizzle, "out of range"));
  EXPECT_THAT(SharedLayout::Padded({4, 4}, -1), HasError(DiagId::kSharedLayout, "padded by -1"));
  EXPECT_THAT(SharedLayout::Padded({4, 4, 4}, kMaxLayoutElements),
              HasError(DiagId::kLayoutTooLarge, "takes more"));
}

}  // namespace
}  // namespace tilus

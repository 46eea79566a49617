// The contracts of auto_layout.h.
#include "layout/auto_layout.h"

#include <numeric>

#include "layout/compose.h"
#include "layout_testing.h"

namespace tilus {
namespace {

using testing::HasError;
using testing::Index;
using testing::L;

TEST(AutoLayout, FollowsTheRule) {
  for (int64_t rows = 1; rows <= 12; ++rows) {
    for (int64_t columns = 1; columns <= 12; ++columns) {
      for (int64_t threads : {1, 2, 4, 6, 8, 12, 32, 128}) {
        const auto layout = AutoLayout({rows, columns}, threads);
        ASSERT_TRUE(layout.ok()) << layout.status();
        ASSERT_EQ(layout->num_threads(), threads);
        ASSERT_EQ(layout->shape(), (Index{rows, columns}));
        const int64_t across = std::gcd(columns, threads);
        const int64_t down = std::gcd(rows, threads / across);
        const int64_t copies = threads / across / down;
        ASSERT_EQ(layout->replication(), copies);
        for (int64_t t = 0; t < threads; ++t) {
          ASSERT_EQ(layout->Map(t, 0), (Index{t / across % down, t % across}));
        }
        for (int64_t i = 0; i < layout->locals_per_thread(); ++i) {
          const int64_t width = columns / across;
          ASSERT_EQ(layout->Map(0, i), (Index{i / width * down, i % width * across}));
        }
      }
    }
  }
}

TEST(AutoLayout, Examples) {
  EXPECT_EQ(*AutoLayout({16, 16}, 128), L("local(2,1).spatial(8,16)"));
  EXPECT_EQ(*AutoLayout({3}, 32), L("replicated(32).local(3)"));
  EXPECT_EQ(*AutoLayout({}, 4), L("replicated(4).local()"));
}

TEST(AutoLayout, RefusesBadShapesAndThreads) {
  EXPECT_THAT(AutoLayout({0, 4}, 32), HasError(DiagId::kLayoutExtent, "extent 0"));
  EXPECT_THAT(AutoLayout({4}, 0), HasError(DiagId::kLayoutOperand, "0 threads"));
  EXPECT_THAT(AutoLayout({4}, -4), HasError(DiagId::kLayoutOperand, "-4 threads"));
  EXPECT_THAT(AutoLayout({4}, int64_t{1} << 40), HasError(DiagId::kLayoutTooLarge, "threads"));
  EXPECT_THAT(AutoLayout({int64_t{1} << 40}, 32), HasError(DiagId::kLayoutTooLarge, "elements"));
}

}  // namespace
}  // namespace tilus

// The contracts of squeeze.h.
#include "layout/squeeze.h"

#include <algorithm>

#include "layout_testing.h"

namespace tilus {
namespace {

using testing::AllLayouts;
using testing::HasError;
using testing::Index;
using testing::L;

Index Without(Index values, const Index& dims) {
  Index kept;
  for (size_t d = 0; d < values.size(); ++d) {
    if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end()) {
      kept.push_back(values[d]);
    }
  }
  return kept;
}

TEST(Squeeze, UnsqueezeInsertsAndSqueezeRemovesCoordinates) {
  for (const RegisterLayout& f : AllLayouts(2, 8, 2)) {
    for (const Index& dims : std::vector<Index>{{}, {0}, {1}, {2}, {0, 1}, {1, 3}, {3, 2}}) {
      const auto wide = Unsqueeze(f, dims);
      ASSERT_TRUE(wide.ok()) << wide.status();
      for (int64_t d : dims) ASSERT_EQ(wide->shape()[d], 1);
      for (int64_t t = 0; t < f.num_threads(); ++t) {
        for (int64_t i = 0; i < f.locals_per_thread(); ++i) {
          ASSERT_EQ(Without(wide->Map(t, i), dims), f.Map(t, i));
        }
      }
      const auto back = Squeeze(*wide, dims);
      ASSERT_TRUE(back.ok()) << back.status();
      ASSERT_EQ(*back, f);
    }
  }
}

TEST(Squeeze, PadRankAddsLeadingOnes) {
  EXPECT_EQ(PadRank(L("spatial(2,3)"), 4), L("spatial(1,1,2,3)"));
  EXPECT_EQ(PadRank(RegisterLayout(), 2), L("local(1,1)"));
  EXPECT_EQ(PadRank(L("spatial(2)"), 1), L("spatial(2)"));
}

TEST(Squeeze, RefusesBadDimensions) {
  const RegisterLayout f = L("local(1,2)");
  EXPECT_THAT(Squeeze(f, {1}), HasError(DiagId::kLayoutOperand, "dimension 1 has the extent 2"));
  EXPECT_THAT(Squeeze(f, {2}), HasError(DiagId::kLayoutOperand, "squeeze of local(1,2)"));
  EXPECT_THAT(Squeeze(f, {-1}), HasError(DiagId::kLayoutOperand, "dimension -1"));
  EXPECT_THAT(Squeeze(f, {0, 0}), HasError(DiagId::kLayoutOperand, "named twice"));
  EXPECT_THAT(Unsqueeze(f, {3}), HasError(DiagId::kLayoutOperand, "outside rank 3"));
  EXPECT_THAT(Unsqueeze(f, {0, 0}), HasError(DiagId::kLayoutOperand, "named twice"));
  EXPECT_THAT(Unsqueeze(f, Index(7, 0)), HasError(DiagId::kLayoutRank, "limit of 8"));
}

}  // namespace
}  // namespace tilus

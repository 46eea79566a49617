// The contracts of reduce.h.
#include "layout/reduce.h"

#include <algorithm>
#include <set>

#include "layout_testing.h"

namespace tilus {
namespace {

using testing::AllLayouts;
using testing::HasError;
using testing::Index;
using testing::L;

TEST(Reduce, ThreadsKeepWhatTheyHeldUpToReducedCoordinates) {
  for (const RegisterLayout& f : AllLayouts(2, 12, 2)) {
    for (const Index& dims : std::vector<Index>{{}, {0}, {1}, {1, 0}}) {
      const auto reduced = Reduce(f, dims);
      ASSERT_TRUE(reduced.ok()) << reduced.status();
      ASSERT_EQ(reduced->num_threads(), f.num_threads());
      for (int64_t t = 0; t < f.num_threads(); ++t) {
        // The first occurrences, in f's order, of the indices with the reduced coordinates at 0.
        std::vector<Index> expected;
        for (int64_t i = 0; i < f.locals_per_thread(); ++i) {
          Index x = f.Map(t, i);
          for (int64_t d : dims) x[d] = 0;
          if (std::find(expected.begin(), expected.end(), x) == expected.end()) {
            expected.push_back(x);
          }
        }
        ASSERT_EQ(testing::TableOf(*reduced)[t], expected) << f.ToString();
      }
    }
  }
}

TEST(Reduce, SpatialModesBecomeReplication) {
  EXPECT_EQ(*Reduce(L("local(2,1).spatial(8,4).local(1,2)"), {1}),
            L("local(2,1).spatial(8,1).replicated(4)"));
  EXPECT_EQ(*Reduce(L("spatial(8,4)"), {0, 1}), L("replicated(32).local(1,1)"));
}

TEST(Reduce, RefusesAbsentDimensions) {
  EXPECT_THAT(Reduce(L("spatial(2,3)"), {2}),
              HasError(DiagId::kLayoutOperand, "reduce of spatial(2,3): there is no dimension 2"));
  EXPECT_THAT(Reduce(L("spatial(2,3)"), {-1}), HasError(DiagId::kLayoutOperand, "-1"));
}

}  // namespace
}  // namespace tilus

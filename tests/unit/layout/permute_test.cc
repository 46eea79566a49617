// The contracts of permute.h.
#include "layout/permute.h"

#include <algorithm>

#include "layout_testing.h"

namespace tilus {
namespace {

using testing::AllLayouts;
using testing::HasError;
using testing::Index;
using testing::L;

TEST(Permute, ReordersCoordinates) {
  for (const RegisterLayout& f : AllLayouts(3, 8, 2)) {
    Index order = {0, 1, 2};
    do {
      const auto permuted = Permute(f, order);
      ASSERT_TRUE(permuted.ok()) << permuted.status();
      Index inverse(3);
      for (int d = 0; d < 3; ++d) {
        ASSERT_EQ(permuted->shape()[d], f.shape()[order[d]]);
        inverse[order[d]] = d;
      }
      for (int64_t t = 0; t < f.num_threads(); ++t) {
        for (int64_t i = 0; i < f.locals_per_thread(); ++i) {
          const Index x = f.Map(t, i), y = permuted->Map(t, i);
          for (int d = 0; d < 3; ++d) ASSERT_EQ(y[d], x[order[d]]);
        }
      }
      ASSERT_EQ(*Permute(*permuted, inverse), f);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(Permute, TransposesTheMmaOperands) {
  EXPECT_EQ(*Permute(L("local(2,1).column_spatial(4,8).local(2,1)"), {1, 0}),
            L("local(1,2).spatial(8,4).local(1,2)"));
}

TEST(Permute, RefusesWhatIsNoPermutation) {
  const RegisterLayout f = L("spatial(2,3)");
  for (const Index& order : std::vector<Index>{{}, {0}, {0, 0}, {0, 2}, {-1, 0}, {0, 1, 2}}) {
    EXPECT_THAT(Permute(f, order),
                HasError(DiagId::kLayoutOperand, "is no permutation of its 2 dimensions"));
  }
}

}  // namespace
}  // namespace tilus

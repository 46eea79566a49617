// The contracts of reshape.h, with completeness by brute force.
#include "layout/reshape.h"

#include <set>

#include "layout_testing.h"

namespace tilus {
namespace {

using testing::AllLayouts;
using testing::HasError;
using testing::Index;
using testing::L;

// (threads, linear index of every (t, i) in order): what reshape keeps.
std::vector<int64_t> LinearTable(const RegisterLayout& f) {
  std::vector<int64_t> table = {f.num_threads()};
  for (int64_t t = 0; t < f.num_threads(); ++t) {
    for (int64_t i = 0; i < f.locals_per_thread(); ++i) table.push_back(f.MapLinear(t, i));
  }
  return table;
}

TEST(Reshape, KeepsTheLinearIndexExactlyWhenALayoutCan) {
  std::set<std::pair<Index, std::vector<int64_t>>> expressible;  // (shape, linear table)
  std::set<Index> shapes;
  std::vector<RegisterLayout> sources;
  for (int rank : {1, 2, 3}) {
    for (const RegisterLayout& f : AllLayouts(rank, rank == 3 ? 8 : 12, 2)) {
      const Index shape(f.shape().begin(), f.shape().end());
      expressible.insert({shape, LinearTable(f)});
      shapes.insert(shape);
      sources.push_back(f);
    }
  }
  int refused = 0;
  for (const RegisterLayout& f : sources) {
    const std::vector<int64_t> table = LinearTable(f);
    for (const Index& shape : shapes) {
      int64_t size = 1;
      for (int64_t extent : shape) size *= extent;
      if (size != f.size()) continue;
      const auto reshaped = Reshape(f, shape);
      ASSERT_EQ(reshaped.ok(), expressible.contains({shape, table})) << f.ToString();
      if (reshaped.ok()) {
        ASSERT_EQ(reshaped->shape(), shape);
        ASSERT_EQ(LinearTable(*reshaped), table) << f.ToString();
      } else {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 10);
}

TEST(Reshape, FlattenGivesTheLinearIndex) {
  for (const RegisterLayout& f : AllLayouts(3, 12, 2)) {
    const RegisterLayout flat = Flatten(f);
    ASSERT_EQ(flat.shape(), Index{f.size()});
    ASSERT_EQ(LinearTable(flat), LinearTable(f));
  }
  EXPECT_EQ(Flatten(RegisterLayout()), L("local(1)"));
}

TEST(Reshape, SplitsAndFusesModes) {
  EXPECT_EQ(*Reshape(L("spatial(32)"), {4, 8}), L("spatial(4,8)"));
  EXPECT_EQ(*Reshape(L("local(2,1).spatial(8,4).local(1,2)"), {2, 8, 8}),
            L("local(2,1,1).spatial(1,8,4).local(1,1,2)"));
}

TEST(Reshape, RefusesOtherSizesAndStraddlingModes) {
  EXPECT_THAT(Reshape(L("spatial(2,3)"), {5}), HasError(DiagId::kLayoutOperand, "5 elements"));
  EXPECT_THAT(Reshape(L("spatial(2,3)"), {0}), HasError(DiagId::kLayoutExtent, "extent 0"));
  EXPECT_THAT(Reshape(L("local(1,3).spatial(4,1)"), {3, 4}),
              HasError(DiagId::kLayoutInexpressible, "straddle the dimensions of [3, 4]"));
}

}  // namespace
}  // namespace tilus

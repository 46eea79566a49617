// The contracts of slice.h, by brute force over all boxes of all small layouts.
#include "layout/slice.h"

#include <map>
#include <set>

#include "layout/factorize.h"
#include "layout_testing.h"

namespace tilus {
namespace {

using testing::AllLayouts;
using testing::HasError;
using testing::Index;
using testing::L;
using testing::RandomLayout;
using testing::Table;
using testing::TableOf;

// What each thread keeps, renumbered from 0.
Table KeptTable(const RegisterLayout& f, const Index& offset, const Index& shape) {
  Table kept(f.num_threads());
  for (int64_t t = 0; t < f.num_threads(); ++t) {
    for (int64_t i = 0; i < f.locals_per_thread(); ++i) {
      Index x = f.Map(t, i);
      bool inside = true;
      for (size_t d = 0; d < x.size(); ++d) {
        x[d] -= offset[d];
        inside &= x[d] >= 0 && x[d] < shape[d];
      }
      if (inside) kept[t].push_back(x);
    }
  }
  return kept;
}

// Calls visit(offset, shape) for every box in the tile.
template <typename Visit>
void ForEachBox(absl::Span<const int64_t> tile, Index& offset, Index& shape, const Visit& visit) {
  const size_t d = offset.size();
  if (d == tile.size()) return visit();
  for (int64_t o = 0; o < tile[d]; ++o) {
    for (int64_t s = 1; o + s <= tile[d]; ++s) {
      offset.push_back(o);
      shape.push_back(s);
      ForEachBox(tile, offset, shape, visit);
      offset.pop_back();
      shape.pop_back();
    }
  }
}

// Slices of products of primitives are found exactly when they exist; of other layouts, only
// right ones are found.
void ExpectExactSlices(const std::vector<RegisterLayout>& layouts) {
  std::set<std::pair<Index, Table>> expressible;
  for (const RegisterLayout& f : layouts) {
    expressible.insert({Index(f.shape().begin(), f.shape().end()), TableOf(f)});
  }
  int sliced = 0, refused = 0;
  for (const RegisterLayout& f : layouts) {
    const bool product = Factorize(f).has_value();
    Index offset, shape;
    ForEachBox(f.shape(), offset, shape, [&] {
      const Table kept = KeptTable(f, offset, shape);
      const auto slice = Slice(f, offset, shape);
      const bool exists = expressible.contains({shape, kept});
      ASSERT_TRUE(product ? slice.ok() == exists : !slice.ok() || exists)
          << f.ToString() << " at " << ::testing::PrintToString(offset) << " of shape "
          << ::testing::PrintToString(shape);
      if (slice.ok()) {
        ASSERT_EQ(slice->shape(), shape);
        ASSERT_EQ(TableOf(*slice), kept) << f.ToString();
      }
      ++(slice.ok() ? sliced : refused);
    });
  }
  EXPECT_GT(sliced, 100);
  EXPECT_GT(refused, 100);
}

TEST(Slice, IsExactForAllSmallLayoutsOfRank1) { ExpectExactSlices(AllLayouts(1, 18, 2)); }
TEST(Slice, IsExactForAllSmallLayoutsOfRank2) { ExpectExactSlices(AllLayouts(2, 12, 2)); }
TEST(Slice, IsExactForAllSmallLayoutsOfRank2Size16) { ExpectExactSlices(AllLayouts(2, 16)); }
TEST(Slice, IsExactForAllSmallLayoutsOfRank3) { ExpectExactSlices(AllLayouts(3, 8)); }

TEST(Slice, IsSoundForRandomLayouts) {
  std::mt19937 random(6);
  int sliced = 0;
  for (int n = 0; n < 20000; ++n) {
    const RegisterLayout f = RandomLayout(random, 2);
    if (f.num_threads() * f.locals_per_thread() > 4000) continue;
    Index offset, shape;
    for (int64_t extent : f.shape()) {
      offset.push_back(random() % extent);
      shape.push_back(1 + random() % (extent - offset.back()));
    }
    const auto slice = Slice(f, offset, shape);
    if (!slice.ok()) continue;
    ++sliced;
    ASSERT_EQ(TableOf(*slice), KeptTable(f, offset, shape)) << f.ToString();
  }
  EXPECT_GT(sliced, 100);
}

TEST(Slice, TakesHalvesOfAnAccumulator) {
  const RegisterLayout c = L("local(2,1).spatial(8,4).local(1,2)");
  EXPECT_EQ(*Slice(c, {8, 0}, {8, 8}), L("spatial(8,4).local(1,2)"));
  EXPECT_EQ(*Slice(L("local(1,4).spatial(8,4).local(1,2)"), {0, 8}, {8, 16}),
            L("local(1,2).spatial(8,4).local(1,2)"));
  EXPECT_THAT(Slice(c, {0, 0}, {16, 4}),
              HasError(DiagId::kLayoutInexpressible, "of shape [16, 4] evenly"));
}

TEST(Slice, RefusesBoxesOutsideTheTile) {
  const RegisterLayout f = L("local(4,4)");
  const std::pair<Index, Index> boxes[] = {
      {{0}, {4}},       {{0, 0}, {4, 5}},         {{-1, 0}, {2, 2}},       {{4, 0}, {1, 1}},
      {{0, 0}, {0, 1}}, {{1, 0}, {INT64_MAX, 1}}, {{INT64_MAX, 0}, {1, 1}}};
  for (const auto& [offset, shape] : boxes) {
    EXPECT_THAT(Slice(f, offset, shape), HasError(DiagId::kLayoutOperand, "slice of local(4,4)"));
  }
}

}  // namespace
}  // namespace tilus

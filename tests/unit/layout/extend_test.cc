// The contracts of extend.h: concat, tile, repeat, broadcast, complement.
#include "layout/extend.h"

#include "layout/compose.h"
#include "layout_testing.h"

namespace tilus {
namespace {

using testing::AllLayouts;
using testing::HasError;
using testing::Index;
using testing::L;

TEST(Concat, PairsTheCoordinates) {
  const std::vector<RegisterLayout> layouts = AllLayouts(1, 6, 2);
  for (const RegisterLayout& f : layouts) {
    for (const RegisterLayout& g : layouts) {
      const auto h = Concat(f, g);
      ASSERT_TRUE(h.ok()) << h.status();
      ASSERT_EQ(h->shape(), (Index{f.size(), g.size()}));
      ASSERT_EQ(h->num_threads(), f.num_threads() * g.num_threads());
      ASSERT_EQ(h->locals_per_thread(), f.locals_per_thread() * g.locals_per_thread());
      for (int64_t t = 0; t < h->num_threads(); ++t) {
        for (int64_t i = 0; i < h->locals_per_thread(); ++i) {
          const Index x = f.Map(t / g.num_threads(), i / g.locals_per_thread());
          const Index y = g.Map(t % g.num_threads(), i % g.locals_per_thread());
          ASSERT_EQ(h->Map(t, i), (Index{x[0], y[0]}));
        }
      }
    }
  }
}

TEST(Concat, RefusesTooManyDimensions) {
  const RegisterLayout f = L("local(1,1,1,1,1)");
  EXPECT_THAT(Concat(f, f), HasError(DiagId::kLayoutRank, "10 dimensions"));
}

TEST(Tile, IsLocalOutside) {
  for (const RegisterLayout& f : AllLayouts(2, 8, 2)) {
    EXPECT_EQ(*Tile(f, {2, 3}), *Compose(L("local(2,3)"), f));
  }
  EXPECT_EQ(Tile(L("spatial(4)"), {2})->Map(3, 1), Index{7});
  EXPECT_THAT(Tile(L("spatial(4)"), {0}), HasError(DiagId::kLayoutExtent, "extent 0"));
}

TEST(Repeat, IsLocalInside) {
  for (const RegisterLayout& f : AllLayouts(2, 8, 2)) {
    EXPECT_EQ(*Repeat(f, {2, 3}), *Compose(f, L("local(2,3)")));
  }
  EXPECT_EQ(Repeat(L("spatial(4)"), {2})->Map(3, 1), Index{7});
  EXPECT_EQ(Repeat(L("spatial(4)"), {2})->Map(1, 0), Index{2});
  EXPECT_THAT(Repeat(L("spatial(4)"), {-2}), HasError(DiagId::kLayoutExtent, "extent -2"));
}

TEST(Broadcast, CopiesWithinTheThread) {
  for (const RegisterLayout& f : AllLayouts(2, 8, 2)) {
    for (int dim : {0, 1}) {
      const auto wide = Broadcast(f, dim, 3);
      ASSERT_EQ(wide.ok(), f.shape()[dim] == 1);
      if (!wide.ok()) continue;
      ASSERT_EQ(wide->num_threads(), f.num_threads());
      for (int64_t t = 0; t < f.num_threads(); ++t) {
        for (int64_t i = 0; i < wide->locals_per_thread(); ++i) {
          Index expected = f.Map(t, i / 3);
          expected[dim] = i % 3;
          ASSERT_EQ(wide->Map(t, i), expected);
        }
      }
    }
  }
}

TEST(Broadcast, RefusesDimensionsThatAreNotOne) {
  EXPECT_THAT(Broadcast(L("local(2,1)"), 0, 2),
              HasError(DiagId::kLayoutOperand, "broadcast of local(2,1): dimension 0"));
  EXPECT_THAT(Broadcast(L("local(2,1)"), 2, 2), HasError(DiagId::kLayoutOperand, "dimension 2"));
  EXPECT_THAT(Broadcast(L("local(2,1)"), 1, 0), HasError(DiagId::kLayoutExtent, "extent 0"));
  EXPECT_THAT(Broadcast(L("local(2,1)"), 1, int64_t{1} << 40),
              HasError(DiagId::kLayoutTooLarge, "elements"));
}

TEST(Complement, ReplicatesOutside) {
  for (const RegisterLayout& f : AllLayouts(2, 8, 2)) {
    const auto full = Complement(f, 3 * f.num_threads());
    ASSERT_TRUE(full.ok()) << full.status();
    ASSERT_EQ(full->num_threads(), 3 * f.num_threads());
    for (int64_t t = 0; t < full->num_threads(); ++t) {
      for (int64_t i = 0; i < f.locals_per_thread(); ++i) {
        ASSERT_EQ(full->Map(t, i), f.Map(t % f.num_threads(), i));
      }
    }
    ASSERT_EQ(*Complement(f, f.num_threads()), f);
  }
}

TEST(Complement, RefusesThreadsThatDoNotFill) {
  EXPECT_THAT(Complement(L("spatial(4)"), 6),
              HasError(DiagId::kLayoutOperand, "6 threads are no positive multiple of its 4"));
  EXPECT_THAT(Complement(L("spatial(4)"), 0), HasError(DiagId::kLayoutOperand, "0 threads"));
  EXPECT_THAT(Complement(L("spatial(4)"), int64_t{1} << 40),
              HasError(DiagId::kLayoutTooLarge, "threads"));
}

}  // namespace
}  // namespace tilus

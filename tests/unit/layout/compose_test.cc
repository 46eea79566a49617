// The contracts of compose.h, and the composition vectors.
#include "layout/compose.h"

#include "layout_testing.h"
#include "layout_vectors.h"

namespace tilus {
namespace {

using testing::AllLayouts;
using testing::HasError;
using testing::Index;
using testing::L;
using testing::RandomLayout;
using testing::TableOf;
using testing::Vectors;

void ExpectProduct(const RegisterLayout& f, const RegisterLayout& g) {
  const auto h = Compose(f, g);
  ASSERT_TRUE(h.ok()) << h.status();
  ASSERT_EQ(h->num_threads(), f.num_threads() * g.num_threads());
  ASSERT_EQ(h->locals_per_thread(), f.locals_per_thread() * g.locals_per_thread());
  const int rank = h->rank();
  for (int64_t t = 0; t < h->num_threads(); ++t) {
    for (int64_t i = 0; i < h->locals_per_thread(); ++i) {
      Index outer = f.Map(t / g.num_threads(), i / g.locals_per_thread());
      Index inner = g.Map(t % g.num_threads(), i % g.locals_per_thread());
      Index inner_shape(g.shape().begin(), g.shape().end());
      outer.insert(outer.begin(), rank - outer.size(), 0);
      inner.insert(inner.begin(), rank - inner.size(), 0);
      inner_shape.insert(inner_shape.begin(), rank - inner_shape.size(), 1);
      for (int d = 0; d < rank; ++d) outer[d] = outer[d] * inner_shape[d] + inner[d];
      ASSERT_EQ(h->Map(t, i), outer) << f.ToString() << " . " << g.ToString();
    }
  }
  ASSERT_EQ(h->TupleString(), h->Canonical().TupleString());
}

TEST(Compose, EquationHoldsForAllSmallLayouts) {
  for (int rank : {0, 1, 2}) {
    const std::vector<RegisterLayout> layouts = AllLayouts(rank, 6, 2);
    for (const RegisterLayout& f : layouts) {
      for (const RegisterLayout& g : layouts) ExpectProduct(f, g);
    }
  }
}

TEST(Compose, EquationHoldsForRandomLayouts) {
  std::mt19937 random(1);
  for (int n = 0; n < 500; ++n) {
    const int rank = 1 + n % 3;
    const RegisterLayout f = RandomLayout(random, rank), g = RandomLayout(random, rank);
    if (f.num_threads() * g.num_threads() * f.locals_per_thread() * g.locals_per_thread() > 20000) {
      continue;
    }
    ExpectProduct(f, g);
  }
}

TEST(Compose, ShorterRankGetsLeadingOnes) {
  ExpectProduct(L("local(3)"), L("spatial(2,2)"));
  ExpectProduct(L("spatial(2,2)"), L("column_local(3)"));
  ExpectProduct(RegisterLayout(), L("spatial(2,2)"));
  EXPECT_EQ(*Compose(L("local(3)"), L("spatial(2,2)")), L("local(1,3).spatial(2,2)"));
}

TEST(Compose, IsAssociative) {
  std::mt19937 random(2);
  for (int n = 0; n < 2000; ++n) {
    const int rank = 1 + n % 3;
    const RegisterLayout a = RandomLayout(random, rank), b = RandomLayout(random, rank),
                         c = RandomLayout(random, rank);
    auto ab = Compose(a, b), bc = Compose(b, c);
    if (!ab.ok() || !bc.ok()) continue;  // beyond the bounds
    auto left = Compose(*ab, c), right = Compose(a, *bc);
    ASSERT_EQ(left.ok(), right.ok());
    if (left.ok()) {
      ASSERT_EQ(left->TupleString(), right->TupleString());
    }
  }
}

TEST(Compose, HasUnitAndDoesNotCommute) {
  for (const RegisterLayout& f : AllLayouts(2, 8, 2)) {
    EXPECT_EQ(*Compose(f, RegisterLayout()), f);
    EXPECT_EQ(*Compose(RegisterLayout(), f), f);
  }
  EXPECT_NE(*Compose(L("spatial(2)"), L("local(2)")), *Compose(L("local(2)"), L("spatial(2)")));
}

TEST(Compose, RefusesProductsBeyondTheBounds) {
  const RegisterLayout big = L("local(65536)");
  EXPECT_THAT(Compose(big, big), HasError(DiagId::kLayoutTooLarge, "elements"));
  const RegisterLayout copies = L("replicated(65536)");
  EXPECT_THAT(Compose(copies, copies), HasError(DiagId::kLayoutTooLarge, "threads"));
  const RegisterLayout largest = L("local(2147483647)");
  EXPECT_EQ(Compose(RegisterLayout(), largest)->size(), kMaxLayoutElements);
}

void ExpectVector(const std::string& expression, const nlohmann::json& canonical,
                  const nlohmann::json& table) {
  SCOPED_TRACE(expression);
  const auto layout = ParseLayout(expression);
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(layout->shape(), canonical["shape"].get<Index>());
  EXPECT_EQ(layout->mode_shape(), canonical["mode_shape"].get<Index>());
  EXPECT_EQ(layout->spatial_modes(), canonical["spatial_modes"].get<Index>());
  EXPECT_EQ(layout->local_modes(), canonical["local_modes"].get<Index>());
  EXPECT_EQ(layout->num_threads(), canonical["num_threads"].get<int64_t>());
  EXPECT_EQ(layout->locals_per_thread(), canonical["locals_per_thread"].get<int64_t>());
  EXPECT_EQ(TableOf(*layout), table.get<testing::Table>());
  EXPECT_EQ(L(layout->ToString()), *layout) << layout->ToString();
}

TEST(Compose, NamedVectors) {
  const nlohmann::json vectors = Vectors("compose")["named"];
  EXPECT_FALSE(vectors.empty());
  for (const auto& [name, v] : vectors.items()) ExpectVector(v["expr"], v, v["table"]);
}

TEST(Compose, RandomVectors) {
  const nlohmann::json vectors = Vectors("compose")["random"];
  EXPECT_FALSE(vectors.empty());
  for (const auto& v : vectors) ExpectVector(v["expr"], v["canonical"], v["table"]);
}

}  // namespace
}  // namespace tilus

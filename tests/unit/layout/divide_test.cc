// The contracts of divide.h, completeness by brute force, and the division vectors.
#include "layout/divide.h"

#include <map>

#include "absl/container/flat_hash_map.h"
#include "layout/compose.h"
#include "layout/squeeze.h"
#include "layout_testing.h"
#include "layout_vectors.h"

namespace tilus {
namespace {

using testing::AllLayouts;
using testing::HasError;
using testing::Index;
using testing::L;
using testing::RandomLayout;
using testing::Table;
using testing::TableOf;
using testing::Vectors;

std::vector<RegisterLayout> SmallLayouts(int rank, int64_t size, std::vector<int64_t> copies) {
  std::vector<RegisterLayout> layouts = AllLayouts(rank, size);
  for (int64_t k : copies) {
    for (RegisterLayout& layout : AllLayouts(rank, size, k)) {
      if (layout.replication() > 1) layouts.push_back(std::move(layout));
    }
  }
  return layouts;
}

// Finds quotients by composing every f with every g, and compares Divide for every pair (h, g).
void ExpectComplete(const std::vector<RegisterLayout>& layouts, int64_t max_size) {
  using Pair = std::pair<RegisterLayout, RegisterLayout>;
  absl::flat_hash_map<Pair, RegisterLayout> right, left;  // (h, g) -> f and (h, f) -> g
  for (const RegisterLayout& f : layouts) {
    for (const RegisterLayout& g : layouts) {
      if (f.size() * g.size() > max_size) continue;
      const RegisterLayout h = *Compose(f, g);
      ASSERT_TRUE(right.emplace(Pair(h, g), f).second) << "two quotients";
      ASSERT_TRUE(left.emplace(Pair(h, f), g).second) << "two quotients";
    }
  }
  int divisible = 0;
  for (const RegisterLayout& h : layouts) {
    for (const RegisterLayout& divisor : layouts) {
      const Pair key(h, divisor);
      const auto f = Divide(h, divisor), g = LeftDivide(h, divisor);
      ASSERT_EQ(f.ok(), right.contains(key)) << h.ToString() << " / " << divisor.ToString();
      ASSERT_EQ(g.ok(), left.contains(key)) << divisor.ToString() << " \\ " << h.ToString();
      if (f.ok()) {
        ASSERT_EQ(*f, right.at(key)) << h.ToString() << " / " << divisor.ToString();
      }
      if (g.ok()) {
        ASSERT_EQ(*g, left.at(key)) << divisor.ToString() << " \\ " << h.ToString();
      }
      divisible += f.ok();
    }
  }
  EXPECT_GT(divisible, static_cast<int>(layouts.size()));
}

TEST(Divide, FindsTheQuotientExactlyWhenThereIsOneRank1) {
  ExpectComplete(SmallLayouts(1, 12, {}), 12);
  ExpectComplete(SmallLayouts(1, 8, {2, 4}), 8);
}

TEST(Divide, FindsTheQuotientExactlyWhenThereIsOneRank2) {
  ExpectComplete(SmallLayouts(2, 8, {}), 8);
  ExpectComplete(SmallLayouts(2, 4, {2, 4}), 4);
}

TEST(Divide, UndoesComposition) {
  std::mt19937 random(5);
  for (int n = 0; n < 3000; ++n) {
    const int rank = 1 + n % 3;
    const RegisterLayout f = RandomLayout(random, rank), g = RandomLayout(random, rank);
    const auto h = Compose(f, g);
    if (!h.ok()) continue;
    const auto quotient = Divide(*h, g), rest = LeftDivide(*h, f);
    ASSERT_TRUE(quotient.ok()) << quotient.status();
    ASSERT_TRUE(rest.ok()) << rest.status();
    ASSERT_EQ(*quotient, f);
    ASSERT_EQ(*rest, g);
  }
}

TEST(Divide, CutsAFusedMode) {
  EXPECT_EQ(*Divide(L("spatial(6)"), L("spatial(3)")), L("spatial(2)"));
  EXPECT_EQ(*Divide(L("spatial(2,12).local(2,3)"), L("local(2,3)")), L("spatial(2,12)"));
  EXPECT_EQ(*Divide(L("local(2,4)"), L("local(1,2)")), L("local(2,2)"));
  EXPECT_EQ(*Divide(L("replicated(6).local(2)"), L("replicated(2).local(2)")), L("replicated(3)"));
}

TEST(Divide, DivisorOfLowerRankGetsLeadingOnes) {
  EXPECT_EQ(*Divide(L("local(2,4)"), L("local(2)")), L("local(2,2)"));
  EXPECT_EQ(*LeftDivide(L("local(1,2).spatial(3,4)"), L("local(2)")), L("spatial(3,4)"));
  EXPECT_THAT(Divide(L("local(4)"), L("local(1,2)")),
              HasError(DiagId::kLayoutIndivisible, "rank 2"));
}

TEST(Divide, LargeLayoutsCostNothing) {
  const RegisterLayout h = L("local(46340).spatial(46340)");
  EXPECT_EQ(*Divide(h, L("spatial(46340)")), L("local(46340)"));
}

TEST(Divide, ErrorsPrintBothLayoutsAndTheReason) {
  EXPECT_THAT(Divide(L("spatial(4).local(2)"), L("spatial(3)")),
              HasError(DiagId::kLayoutIndivisible,
                       "spatial(4).local(2) is not f . spatial(3) for any layout f: 4 threads are "
                       "no multiple of 3"));
  EXPECT_THAT(Divide(L("local(4)"), L("local(3)")),
              HasError(DiagId::kLayoutIndivisible, "4 elements a thread are no multiple of 3"));
  EXPECT_THAT(Divide(L("spatial(4,2)"), L("spatial(1,4)")),
              HasError(DiagId::kLayoutIndivisible, "2 elements of dimension 1"));
  EXPECT_THAT(Divide(L("spatial(2).local(2)"), L("local(2).spatial(2)")),
              HasError(DiagId::kLayoutIndivisible, "its inner part is spatial(2).local(2)"));
  EXPECT_THAT(LeftDivide(L("spatial(2).local(2)"), L("local(2)")),
              HasError(DiagId::kLayoutIndivisible, "local(2) . g for any layout g"));
}

RegisterLayout FromCanonical(const nlohmann::json& v) {
  return *RegisterLayout::Create(v["shape"].get<Index>(), v["mode_shape"].get<Index>(),
                                 v["spatial_modes"].get<Index>(), v["local_modes"].get<Index>());
}

TEST(Divide, Vectors) {
  int divisible = 0, indivisible = 0;
  for (const nlohmann::json& v : Vectors("divide")) {
    const RegisterLayout h = FromCanonical(v["h"]["canonical"]);
    const auto check = [&](const absl::StatusOr<RegisterLayout>& quotient,
                           const nlohmann::json& table) {
      ASSERT_EQ(quotient.ok(), !table.is_null()) << h.ToString() << ": " << quotient.status();
      if (quotient.ok()) {
        EXPECT_EQ(TableOf(*quotient), table.get<Table>());
      }
      ++(quotient.ok() ? divisible : indivisible);
    };
    check(Divide(h, L(v["right"]["g"].get<std::string>())), v["right"]["quotient"]);
    check(LeftDivide(h, L(v["left"]["f"].get<std::string>())), v["left"]["quotient"]);
  }
  EXPECT_GT(divisible, 10);
  EXPECT_GT(indivisible, 10);
}

}  // namespace
}  // namespace tilus

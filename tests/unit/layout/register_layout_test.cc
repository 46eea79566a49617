// The contracts of register_layout.h: the tuple, the function, its inverse, canonical form.
#include "layout/register_layout.h"

#include <map>

#include "absl/hash/hash.h"
#include "layout_testing.h"

namespace tilus {
namespace {

using testing::AllTuples;
using ::testing::ElementsAre;
using testing::HasError;
using testing::Index;
using testing::L;
using testing::Table;
using testing::TableOf;

TEST(RegisterLayout, DefaultIsOneElementOfRankZero) {
  const RegisterLayout layout;
  EXPECT_EQ(layout.rank(), 0);
  EXPECT_EQ(layout.num_threads(), 1);
  EXPECT_EQ(layout.locals_per_thread(), 1);
  EXPECT_EQ(layout.size(), 1);
  EXPECT_EQ(layout.replication(), 1);
  EXPECT_EQ(layout.Map(0, 0), Index());
  EXPECT_EQ(layout, *RegisterLayout::Create({}, {}, {}, {}));
}

TEST(RegisterLayout, CreateKeepsTheTuple) {
  const auto layout = RegisterLayout::Create({6, 1, 4}, {1, 2, 3, 4, 1}, {1, -2, 4}, {3, 0, 2});
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_THAT(layout->shape(), ElementsAre(6, 1, 4));
  EXPECT_THAT(layout->mode_shape(), ElementsAre(1, 2, 3, 4, 1));
  EXPECT_THAT(layout->spatial_modes(), ElementsAre(1, -2, 4));
  EXPECT_THAT(layout->local_modes(), ElementsAre(3, 0, 2));
  EXPECT_EQ(layout->num_threads(), 4);
  EXPECT_EQ(layout->locals_per_thread(), 12);
  EXPECT_EQ(layout->replication(), 2);
}

TEST(RegisterLayout, WorkedExampleOfTheHeader) {
  const RegisterLayout b = L("local(2,1).column_spatial(4,8).local(2,1)");
  EXPECT_THAT(b.mode_shape(), ElementsAre(2, 4, 2, 8));
  EXPECT_THAT(b.spatial_modes(), ElementsAre(3, 1));
  EXPECT_THAT(b.local_modes(), ElementsAre(0, 2));
  for (int t = 0; t < 32; ++t) {
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(b.Map(t, i), (Index{8 * (i / 2) + 2 * (t % 4) + i % 2, t / 4}));
    }
  }
}

// The definition, executed literally: unravel t and i over the lists, then ravel the modes.
Index MapByDefinition(const RegisterLayout& layout, int64_t t, int64_t i) {
  std::vector<int64_t> digits(layout.mode_shape().size());
  auto unravel = [&](absl::Span<const int64_t> list, int64_t value) {
    for (size_t n = list.size(); n-- > 0;) {
      const int64_t extent = list[n] < 0 ? -list[n] : layout.mode_shape()[list[n]];
      if (list[n] >= 0) digits[list[n]] = value % extent;
      value /= extent;
    }
  };
  unravel(layout.spatial_modes(), t);
  unravel(layout.local_modes(), i);
  Index index;
  size_t mode = 0;
  for (int64_t extent : layout.shape()) {
    int64_t coordinate = 0;
    for (int64_t filled = 1; filled < extent; ++mode) {
      coordinate = coordinate * layout.mode_shape()[mode] + digits[mode];
      filled *= layout.mode_shape()[mode];
    }
    index.push_back(coordinate);
  }
  return index;
}

TEST(RegisterLayout, MapFollowsTheDefinition) {
  for (int rank : {0, 1, 2, 3}) {
    for (const RegisterLayout& layout : AllTuples(rank, 12, 2)) {
      for (int64_t t = 0; t < layout.num_threads(); ++t) {
        for (int64_t i = 0; i < layout.locals_per_thread(); ++i) {
          const Index index = layout.Map(t, i);
          ASSERT_EQ(index, MapByDefinition(layout, t, i)) << layout.TupleString();
          int64_t linear = 0;
          for (int d = 0; d < rank; ++d) linear = linear * layout.shape()[d] + index[d];
          ASSERT_EQ(layout.MapLinear(t, i), linear);
        }
      }
    }
  }
}

TEST(RegisterLayout, MapIsTheSumOfItsParts) {
  for (const RegisterLayout& layout : AllTuples(2, 12, 3)) {
    for (int64_t t = 0; t < layout.num_threads(); ++t) {
      Index from_terms(layout.rank());
      for (const RegisterLayout::Term& term : layout.SpatialTerms()) {
        from_terms[term.dim] += t / term.thread_divisor % term.extent * term.stride;
      }
      ASSERT_EQ(layout.SpatialPart(t), from_terms) << layout.TupleString();
      for (int64_t i = 0; i < layout.locals_per_thread(); ++i) {
        Index sum = layout.SpatialPart(t);
        const Index local = layout.LocalPart(i);
        for (size_t d = 0; d < sum.size(); ++d) sum[d] += local[d];
        ASSERT_EQ(layout.Map(t, i), sum) << layout.TupleString();
      }
    }
  }
}

TEST(RegisterLayout, OwnersInvertMap) {
  for (const RegisterLayout& layout : AllTuples(2, 12, 2)) {
    std::map<Index, std::vector<RegisterLayout::Owner>> owners;
    for (int64_t t = 0; t < layout.num_threads(); ++t) {
      for (int64_t i = 0; i < layout.locals_per_thread(); ++i) {
        owners[layout.Map(t, i)].push_back({t, i});
      }
    }
    ASSERT_EQ(static_cast<int64_t>(owners.size()), layout.size()) << layout.TupleString();
    for (const auto& [index, expected] : owners) {
      ASSERT_EQ(layout.Owners(index), expected) << layout.TupleString();
      ASSERT_EQ(layout.FirstOwner(index), expected.front());
      ASSERT_EQ(static_cast<int64_t>(expected.size()), layout.replication());
      for (const auto& owner : expected) ASSERT_EQ(owner.local, expected.front().local);
    }
  }
}

TEST(RegisterLayout, OwnersOfNestedReplicationAscend) {
  const RegisterLayout layout = L("replicated(2).spatial(3).replicated(2)");
  const std::vector<RegisterLayout::Owner> expected = {{2, 0}, {3, 0}, {8, 0}, {9, 0}};
  EXPECT_EQ(layout.Owners({1}), expected);
}

TEST(RegisterLayout, CanonicalFormIsTheSameFunction) {
  for (int rank : {0, 1, 2, 3}) {
    for (const RegisterLayout& layout : AllTuples(rank, 12, 2)) {
      const RegisterLayout canonical = layout.Canonical();
      ASSERT_EQ(TableOf(canonical), TableOf(layout)) << layout.TupleString();
      ASSERT_EQ(canonical.Canonical().TupleString(), canonical.TupleString());
    }
  }
}

// Equal functions (and shapes) have one canonical tuple, and different functions two.
TEST(RegisterLayout, CanonicalFormDecidesEqualityOfFunctions) {
  for (int rank : {1, 2, 3}) {
    std::map<std::pair<Index, Table>, std::string> tuple_of_function;
    std::map<std::string, std::pair<Index, Table>> function_of_tuple;
    auto add = [&](const RegisterLayout& layout) {
      const std::pair<Index, Table> function = {{layout.shape().begin(), layout.shape().end()},
                                                TableOf(layout)};
      const std::string tuple = layout.Canonical().TupleString();
      ASSERT_EQ(tuple_of_function.emplace(function, tuple).first->second, tuple);
      ASSERT_EQ(function_of_tuple.emplace(tuple, function).first->second, function);
    };
    for (int64_t replication : {2, 3, 4}) {
      for (const RegisterLayout& layout : AllTuples(rank, 12, replication)) add(layout);
    }
    for (const RegisterLayout& layout : AllTuples(rank, rank == 1 ? 36 : 16)) add(layout);
    EXPECT_GT(tuple_of_function.size(), 30u);
  }
}

TEST(RegisterLayout, EqualityAndHashAgreeWithFunctions) {
  const std::vector<RegisterLayout> layouts = AllTuples(2, 6, 2);
  std::vector<Table> tables;
  for (const RegisterLayout& layout : layouts) tables.push_back(TableOf(layout));
  for (size_t a = 0; a < layouts.size(); ++a) {
    for (size_t b = 0; b < layouts.size(); ++b) {
      const bool same = layouts[a].shape() == layouts[b].shape() && tables[a] == tables[b];
      ASSERT_EQ(layouts[a] == layouts[b], same)
          << layouts[a].TupleString() << " and " << layouts[b].TupleString();
      if (same) {
        ASSERT_EQ(absl::HashOf(layouts[a]), absl::HashOf(layouts[b]));
      }
    }
  }
}

TEST(RegisterLayout, SpellingsThatCanonicalFormRemoves) {
  EXPECT_EQ(*RegisterLayout::Create({4}, {1, 2, 1, 2, 1}, {0, 1, 3, 2}, {4}), L("spatial(4)"));
  EXPECT_EQ(*RegisterLayout::Create({1, 1}, {1}, {}, {0}), L("local(1,1)"));
  EXPECT_EQ(*RegisterLayout::Create({2}, {2}, {-2, -3, 0, -2, -2}, {}),
            L("replicated(6).spatial(2).replicated(4)"));
  // Replications with data between them stay apart, and modes in swapped order stay split.
  EXPECT_NE(L("replicated(2).spatial(2)"), L("spatial(2).replicated(2)"));
  EXPECT_NE(*RegisterLayout::Create({4}, {2, 2}, {1, 0}, {}), L("spatial(4)"));
  // One function table, two shapes: not equal.
  EXPECT_NE(L("spatial(4)"), L("spatial(1,4)"));
}

TEST(RegisterLayout, FromDigitsSumsItsDigits) {
  const auto layout = RegisterLayout::FromDigits(
      {4, 3}, {{.dim = 1, .extent = 3, .stride = 1}, {.extent = 2}},
      {{.dim = 0, .extent = 2, .stride = 1}, {.dim = 0, .extent = 2, .stride = 2}});
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(layout->Map(4, 1), (Index{2, 2}));
  EXPECT_EQ(layout->Map(3, 2), (Index{1, 1}));
  EXPECT_EQ(layout->TupleString(),
            "{shape=[4, 3], modes=[2, 2, 3], spatial=[2, -2], local=[1, 0]}");
}

TEST(RegisterLayout, FromDigitsRefusesWhatDoesNotTile) {
  const auto make = [](std::vector<Digit> thread, std::vector<Digit> local) {
    return RegisterLayout::FromDigits({4}, std::move(thread), std::move(local));
  };
  EXPECT_THAT(make({}, {}), HasError(DiagId::kLayoutModes, "do not tile dimension 0"));
  EXPECT_THAT(make({{0, 2, 1}}, {{0, 2, 1}}), HasError(DiagId::kLayoutModes, "do not tile"));
  EXPECT_THAT(make({{0, 2, 1}}, {{0, 4, 2}}), HasError(DiagId::kLayoutModes, "do not tile"));
  EXPECT_THAT(make({{1, 4, 1}}, {}), HasError(DiagId::kLayoutModes, "dimension 1"));
  EXPECT_THAT(make({{0, 4, 1}}, {{-1, 2, 0}}), HasError(DiagId::kLayoutModes, "a local digit"));
  EXPECT_THAT(make({{0, 4, 1}, {-1, 0, 0}}, {}), HasError(DiagId::kLayoutExtent, "extent 0"));
}

struct BadTuple {
  Index shape, modes, spatial, local;
  DiagId id;
  const char* message;
};

TEST(RegisterLayout, CreateRefusesBadTuples) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  const BadTuple cases[] = {
      {{0}, {}, {}, {}, DiagId::kLayoutExtent, "has the extent 0"},
      {{-4}, {}, {}, {}, DiagId::kLayoutExtent, "has the extent -4"},
      {{kHuge}, {kHuge}, {0}, {}, DiagId::kLayoutTooLarge, "more than 2147483647 elements"},
      {{kHuge, kHuge}, {kHuge, kHuge}, {0}, {1}, DiagId::kLayoutTooLarge, "1099511627776"},
      {{1, 1, 1, 1, 1, 1, 1, 1, 1}, {}, {}, {}, DiagId::kLayoutRank, "9 dimensions"},
      {{4}, {0}, {0}, {}, DiagId::kLayoutExtent, "extent 0"},
      {{4}, {-4}, {0}, {}, DiagId::kLayoutExtent, "extent -4"},
      {{4}, {2}, {0}, {}, DiagId::kLayoutModes, "do not fill dimension 0"},
      {{4}, {}, {}, {}, DiagId::kLayoutModes, "do not fill dimension 0"},
      {{4, 2}, {2, 4}, {0, 1}, {}, DiagId::kLayoutModes, "do not factor"},
      {{4}, {4, 2}, {0, 1}, {}, DiagId::kLayoutModes, "do not factor"},
      {{4}, {kHuge, kHuge, kHuge}, {0}, {}, DiagId::kLayoutModes, "do not factor"},
      {{}, {kHuge, kHuge}, {}, {0}, DiagId::kLayoutModes, "do not factor"},
      {{4}, {2, 2}, {0}, {}, DiagId::kLayoutModes, "mode 1 is in neither list"},
      {{4}, {2, 2}, {0, 1}, {1}, DiagId::kLayoutModes, "entry 1 of local"},
      {{4}, {2, 2}, {0, 0}, {1}, DiagId::kLayoutModes, "used twice"},
      {{4}, {4}, {1}, {}, DiagId::kLayoutModes, "entry 1 of spatial"},
      {{4}, {4}, {0, -1}, {}, DiagId::kLayoutModes, "over one thread"},
      {{4}, {4}, {0}, {-2}, DiagId::kLayoutModes, "only threads replicate"},
      {{4}, {4}, {0, -kHuge}, {}, DiagId::kLayoutTooLarge, "threads"},
      {{4}, {4}, {0, INT64_MIN}, {}, DiagId::kLayoutTooLarge, "threads"},
      {{4}, {4}, {-65536, -65536, 0}, {}, DiagId::kLayoutTooLarge, "threads"},
      {{1}, Index(1000, 1), {}, {}, DiagId::kLayoutModes, "longer than the limit"},
  };
  for (const BadTuple& c : cases) {
    EXPECT_THAT(RegisterLayout::Create(c.shape, c.modes, c.spatial, c.local),
                HasError(c.id, c.message));
  }
}

TEST(RegisterLayout, PrimitivesUnravelTheirIndex) {
  const auto spatial = *RegisterLayout::Spatial({2, 3});
  const auto column_spatial = *RegisterLayout::ColumnSpatial({2, 3});
  const auto local = *RegisterLayout::Local({2, 3});
  const auto column_local = *RegisterLayout::ColumnLocal({2, 3});
  for (int64_t x = 0; x < 6; ++x) {
    EXPECT_EQ(spatial.Map(x, 0), (Index{x / 3, x % 3}));
    EXPECT_EQ(column_spatial.Map(x, 0), (Index{x % 2, x / 2}));
    EXPECT_EQ(local.Map(0, x), (Index{x / 3, x % 3}));
    EXPECT_EQ(column_local.Map(0, x), (Index{x % 2, x / 2}));
  }
  const auto replicated = *RegisterLayout::Replicated(5, 2);
  EXPECT_EQ(replicated.num_threads(), 5);
  EXPECT_EQ(replicated.replication(), 5);
  EXPECT_EQ(replicated.Map(4, 0), (Index{0, 0}));
}

TEST(RegisterLayout, PrimitivesRefuseBadExtents) {
  EXPECT_THAT(RegisterLayout::Spatial({4, 0}), HasError(DiagId::kLayoutExtent, "extent 0"));
  EXPECT_THAT(RegisterLayout::Local({-1}), HasError(DiagId::kLayoutExtent, "extent -1"));
  EXPECT_THAT(RegisterLayout::ColumnLocal({int64_t{1} << 20, int64_t{1} << 20}),
              HasError(DiagId::kLayoutTooLarge, "elements"));
  EXPECT_THAT(RegisterLayout::ColumnSpatial(Index(9, 2)),
              HasError(DiagId::kLayoutRank, "9 dimensions"));
  EXPECT_THAT(RegisterLayout::Replicated(0), HasError(DiagId::kLayoutExtent, "extent 0"));
  EXPECT_THAT(RegisterLayout::Replicated(2, 9), HasError(DiagId::kLayoutRank, "rank 9"));
  EXPECT_THAT(RegisterLayout::Replicated(int64_t{1} << 40),
              HasError(DiagId::kLayoutTooLarge, "threads"));
}

}  // namespace
}  // namespace tilus

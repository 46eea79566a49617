// LocalMap against its definition, over small and random layouts.
#include "ir/local_map.h"

#include <gtest/gtest.h>

#include <random>

#include "layout/compose.h"

namespace tilus::ir {
namespace {

// By enumeration of every thread and local.
std::optional<std::vector<int>> Definition(const RegisterLayout& result,
                                           const RegisterLayout& operand) {
  if (operand.rank() > result.rank() || result.num_threads() != operand.num_threads()) {
    return std::nullopt;
  }
  const size_t lead = static_cast<size_t>(result.rank() - operand.rank());
  for (size_t d = 0; d < operand.shape().size(); ++d) {
    if (operand.shape()[d] != 1 && operand.shape()[d] != result.shape()[lead + d]) {
      return std::nullopt;
    }
  }
  std::vector<int> map;
  for (int64_t i = 0; i < result.locals_per_thread(); ++i) {
    int found = -1;
    for (int64_t j = 0; j < operand.locals_per_thread() && found < 0; ++j) {
      bool all = true;
      for (int64_t t = 0; t < result.num_threads() && all; ++t) {
        std::vector<int64_t> want = result.Map(t, i);
        want.erase(want.begin(), want.begin() + static_cast<std::ptrdiff_t>(lead));
        for (size_t d = 0; d < want.size(); ++d) want[d] = operand.shape()[d] == 1 ? 0 : want[d];
        all = operand.Map(t, j) == want;
      }
      if (all) found = static_cast<int>(j);
    }
    if (found < 0) return std::nullopt;
    map.push_back(found);
  }
  return map;
}

RegisterLayout RandomLayout(std::mt19937* random, int rank) {
  RegisterLayout layout =
      *RegisterLayout::Local(std::vector<int64_t>(static_cast<size_t>(rank), 1));
  const int factors = 1 + static_cast<int>((*random)() % 4);
  for (int f = 0; f < factors; ++f) {
    std::vector<int64_t> extents(static_cast<size_t>(rank), 1);
    for (int64_t& extent : extents) extent = (*random)() % 3 == 0 ? 2 : 1;
    absl::StatusOr<RegisterLayout> next = RegisterLayout::Local(extents);
    switch ((*random)() % 5) {
      case 0:
        next = RegisterLayout::Spatial(extents);
        break;
      case 1:
        next = RegisterLayout::ColumnSpatial(extents);
        break;
      case 2:
        next = RegisterLayout::ColumnLocal(extents);
        break;
      case 3:
        next = RegisterLayout::Replicated(2, rank);
        break;
      default:
        break;
    }
    layout = *Compose(layout, *next);
  }
  return layout;
}

TEST(LocalMap, IsItsDefinition) {
  std::mt19937 random(3);
  int maps = 0;
  for (int round = 0; round < 20000; ++round) {
    const int rank = 1 + static_cast<int>(random() % 3);
    const RegisterLayout result = RandomLayout(&random, rank);
    const RegisterLayout operand =
        RandomLayout(&random, 1 + static_cast<int>(random() % static_cast<uint32_t>(rank)));
    const std::optional<std::vector<int>> expected = Definition(result, operand);
    ASSERT_EQ(LocalMap(result, operand), expected)
        << result.ToString() << " from " << operand.ToString();
    maps += expected.has_value() ? 1 : 0;
  }
  EXPECT_GT(maps, 500);
}

TEST(LocalMap, OfALayoutToItselfIsTheIdentity) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    const RegisterLayout layout = RandomLayout(&random, 2);
    const std::optional<std::vector<int>> map = LocalMap(layout, layout);
    ASSERT_TRUE(map.has_value());
    for (size_t i = 0; i < map->size(); ++i) EXPECT_EQ((*map)[i], static_cast<int>(i));
  }
}

TEST(LocalMap, CastMayReorderLocals) {
  const RegisterLayout rows = *RegisterLayout::Local(std::vector<int64_t>{2, 4});
  const RegisterLayout columns = *RegisterLayout::ColumnLocal(std::vector<int64_t>{2, 4});
  EXPECT_EQ(*LocalMap(rows, columns), (std::vector<int>{0, 2, 4, 6, 1, 3, 5, 7}));
}

}  // namespace
}  // namespace tilus::ir

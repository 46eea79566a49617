#include "layout_testing.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "absl/container/flat_hash_set.h"
#include "base/checked.h"
#include "layout/compose.h"

namespace tilus::testing {
namespace {

void ForEachShape(int rank, int64_t max_size, std::vector<int64_t>& shape,
                  const std::function<void()>& visit) {
  if (static_cast<int>(shape.size()) == rank) return visit();
  for (int64_t extent = 1; extent <= max_size; ++extent) {
    shape.push_back(extent);
    ForEachShape(rank, max_size / extent, shape, visit);
    shape.pop_back();
  }
}

// Every way to append ordered factorizations (factors > 1) of shape[d...] to `modes`.
void ForEachFactoring(const std::vector<int64_t>& shape, size_t d, int64_t rest,
                      std::vector<int64_t>& modes, const std::function<void()>& visit) {
  if (d == shape.size()) return visit();
  if (rest == 1) {
    return ForEachFactoring(shape, d + 1, d + 1 < shape.size() ? shape[d + 1] : 1, modes, visit);
  }
  for (int64_t factor = 2; factor <= rest; ++factor) {
    if (rest % factor != 0) continue;
    modes.push_back(factor);
    ForEachFactoring(shape, d, rest / factor, modes, visit);
    modes.pop_back();
  }
}

void AddTuples(const std::vector<int64_t>& shape, const std::vector<int64_t>& modes,
               int64_t replication, std::vector<RegisterLayout>& out) {
  std::vector<int64_t> order(modes.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    for (size_t cut = 0; cut <= order.size(); ++cut) {
      const std::vector<int64_t> spatial(order.begin(), order.begin() + cut);
      const std::vector<int64_t> local(order.begin() + cut, order.end());
      auto layout = RegisterLayout::Create(shape, modes, spatial, local);
      ASSERT_TRUE(layout.ok()) << layout.status();
      out.push_back(*layout);
      for (size_t at = 0; replication > 1 && at <= cut; ++at) {
        std::vector<int64_t> replicated = spatial;
        replicated.insert(replicated.begin() + at, -replication);
        auto copies = RegisterLayout::Create(shape, modes, replicated, local);
        ASSERT_TRUE(copies.ok()) << copies.status();
        out.push_back(*copies);
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace

Table TableOf(const RegisterLayout& layout) {
  Table table(layout.num_threads());
  for (int64_t t = 0; t < layout.num_threads(); ++t) {
    for (int64_t i = 0; i < layout.locals_per_thread(); ++i) table[t].push_back(layout.Map(t, i));
  }
  return table;
}

RegisterLayout L(absl::string_view text) {
  auto layout = ParseLayout(text);
  if (layout.ok()) return *layout;
  ADD_FAILURE() << text << ": " << layout.status();
  return RegisterLayout();
}

std::vector<RegisterLayout> AllTuples(int rank, int64_t max_size, int64_t replication) {
  std::vector<RegisterLayout> tuples;
  std::vector<int64_t> shape, modes;
  ForEachShape(rank, max_size, shape, [&] {
    ForEachFactoring(shape, 0, shape.empty() ? 1 : shape[0], modes,
                     [&] { AddTuples(shape, modes, replication, tuples); });
  });
  return tuples;
}

std::vector<RegisterLayout> AllLayouts(int rank, int64_t max_size, int64_t replication) {
  absl::flat_hash_set<RegisterLayout> seen;
  std::vector<RegisterLayout> layouts;
  for (const RegisterLayout& tuple : AllTuples(rank, max_size, replication)) {
    if (seen.insert(tuple).second) layouts.push_back(tuple.Canonical());
  }
  return layouts;
}

RegisterLayout RandomLayout(std::mt19937& random, int rank) {
  auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  RegisterLayout product = *RegisterLayout::Local(std::vector<int64_t>(rank, 1));
  for (int factors = draw(1, 4); factors > 0; --factors) {
    std::vector<int64_t> extents;
    for (int d = 0; d < rank; ++d) extents.push_back(draw(0, 2) == 0 ? 1 : draw(1, 4));
    switch (draw(0, 8)) {
      case 0:
        product = *Compose(product, *RegisterLayout::Replicated(draw(1, 3), rank));
        break;
      case 1:
      case 2:
        product = *Compose(product, *RegisterLayout::Local(extents));
        break;
      case 3:
      case 4:
        product = *Compose(product, *RegisterLayout::ColumnLocal(extents));
        break;
      case 5:
      case 6:
        product = *Compose(product, *RegisterLayout::Spatial(extents));
        break;
      default:
        product = *Compose(product, *RegisterLayout::ColumnSpatial(extents));
    }
  }
  return product;
}

std::string IdsOf(const absl::Status& status) {
  std::string ids;
  for (const Diagnostic& diagnostic : DiagnosticsOf(status)) {
    if (!ids.empty()) ids += " ";
    ids += DiagIdText(diagnostic.id);
  }
  return ids;
}

}  // namespace tilus::testing

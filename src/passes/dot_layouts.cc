#include "passes/dot_layouts.h"

#include <vector>

#include "layout/compose.h"

namespace tilus::passes {
namespace {

using Factor = absl::StatusOr<RegisterLayout>;

// The product of factors, outermost first; nullopt where one is not a layout.
std::optional<RegisterLayout> ComposeAll(const std::vector<Factor>& factors) {
  std::optional<RegisterLayout> product;
  for (const Factor& factor : factors) {
    if (!factor.ok()) return std::nullopt;
    if (!product) {
      product = *factor;
      continue;
    }
    absl::StatusOr<RegisterLayout> next = Compose(*product, *factor);
    if (!next.ok()) return std::nullopt;
    product = *std::move(next);
  }
  return product;
}

Factor Replicated(int64_t k) {
  return k > 1 ? RegisterLayout::Replicated(k, 2) : RegisterLayout::Local({1, 1});
}

std::optional<DotLayouts> Assemble(std::vector<Factor> a, std::vector<Factor> b,
                                   std::vector<Factor> c) {
  std::optional<RegisterLayout> la = ComposeAll(a), lb = ComposeAll(b), lc = ComposeAll(c);
  if (!la || !lb || !lc) return std::nullopt;
  return DotLayouts{*std::move(la), *std::move(lb), *std::move(lc)};
}

// The fragments of mma.m16n8k16 and m16n8k8 with 16-bit operands.
std::optional<DotLayouts> MmaLayouts(int64_t m, int64_t n, int64_t k, int warps) {
  if (m % 16 != 0 || n % 8 != 0 || k % 8 != 0) return std::nullopt;
  const int64_t k_tile = k % 16 == 0 ? 16 : 8;
  const int64_t tiles_m = m / 16, tiles_n = n / 8, tiles_k = k / k_tile;
  int64_t best_m = 0, best_cost = 0;
  for (int64_t wm = 1; wm <= warps; ++wm) {
    if (warps % wm != 0 || tiles_m % wm != 0 || tiles_n % (warps / wm) != 0) continue;
    // Registers a thread: four an a fragment, two a b fragment.
    const int64_t cost = 4 * (tiles_m / wm) + 2 * (tiles_n / (warps / wm));
    if (best_m == 0 || cost < best_cost) {
      best_m = wm;
      best_cost = cost;
    }
  }
  if (best_m == 0) return std::nullopt;
  const int64_t wm = best_m, wn = warps / best_m;
  const int64_t local_m = tiles_m / wm, local_n = tiles_n / wn;
  const int64_t k_halves = k_tile / 8;
  return Assemble(
      {RegisterLayout::Spatial({wm, 1}), Replicated(wn), RegisterLayout::Local({local_m, tiles_k}),
       RegisterLayout::ColumnLocal({2, k_halves}), RegisterLayout::Spatial({8, 4}),
       RegisterLayout::Local({1, 2})},
      {Replicated(wm), RegisterLayout::Spatial({1, wn}), RegisterLayout::Local({tiles_k, local_n}),
       RegisterLayout::Local({k_halves, 1}), RegisterLayout::ColumnSpatial({4, 8}),
       RegisterLayout::Local({2, 1})},
      {RegisterLayout::Spatial({wm, wn}), RegisterLayout::Local({local_m, local_n}),
       RegisterLayout::Local({2, 1}), RegisterLayout::Spatial({8, 4}),
       RegisterLayout::Local({1, 2})});
}

int64_t Gcd(int64_t a, int64_t b) { return b == 0 ? a : Gcd(b, a % b); }

// One element of c, or a row of them, a thread; its operands are all in that thread.
std::optional<DotLayouts> SimtLayouts(int64_t m, int64_t n, int64_t k, int warps) {
  const int64_t threads = int64_t{32} * warps;
  const int64_t tn = Gcd(n, threads);
  const int64_t tm = Gcd(m, threads / tn);
  const int64_t rest = threads / tn / tm;
  return Assemble(
      {Replicated(rest), RegisterLayout::Spatial({tm, 1}), Replicated(tn),
       RegisterLayout::Local({m / tm, k})},
      {Replicated(rest * tm), RegisterLayout::Spatial({1, tn}), RegisterLayout::Local({k, n / tn})},
      {Replicated(rest), RegisterLayout::Spatial({tm, tn}),
       RegisterLayout::Local({m / tm, n / tn})});
}

}  // namespace

std::optional<DotLayouts> DefaultDotLayouts(int64_t m, int64_t n, int64_t k, DataType type,
                                            int warps) {
  if (type == kF16 || type == kBF16) {
    if (std::optional<DotLayouts> layouts = MmaLayouts(m, n, k, warps)) return layouts;
  }
  return SimtLayouts(m, n, k, warps);
}

}  // namespace tilus::passes

#include "lower/vectorize.h"

#include <bit>
#include <numeric>

namespace tilus::lower {
namespace {

constexpr int kWidths[] = {16, 8, 4, 2, 1};

bool RunFits(const TileAddress& address, absl::Span<const std::vector<int64_t>> run,
             int width_log2) {
  if (address.AlignmentLog2(run[0]) < width_log2) return false;
  if (!address.RunIsUnbroken(run[0], static_cast<int64_t>(run.size()))) return false;
  for (size_t j = 1; j < run.size(); ++j) {
    if (address.Distance(run[0], run[j]) != static_cast<int64_t>(j)) return false;
    if (!address.SameRange(run[0], run[j])) return false;
  }
  return true;
}

}  // namespace

std::optional<VectorPlan> PlanVectors(const TileAddress& address,
                                      absl::Span<const std::vector<int64_t>> locals) {
  const int64_t count = static_cast<int64_t>(locals.size());
  for (int bytes : kWidths) {
    const int64_t width = int64_t{8} * bytes;
    const int64_t run = std::lcm(width, static_cast<int64_t>(address.bits())) / address.bits();
    if (count % run != 0) continue;
    const int width_log2 = std::countr_zero(static_cast<uint64_t>(width));
    bool fits = true;
    for (int64_t first = 0; fits && first < count; first += run) {
      fits = RunFits(address, locals.subspan(static_cast<size_t>(first), static_cast<size_t>(run)),
                     width_log2);
    }
    if (fits) return VectorPlan{bytes, run};
  }
  return std::nullopt;
}

}  // namespace tilus::lower

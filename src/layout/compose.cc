#include "layout/compose.h"

#include <algorithm>

#include "base/checked.h"

namespace tilus {
namespace {

// The extent of dimension d of a rank-`rank` layout that `layout` fills with leading ones.
int64_t PaddedExtent(const RegisterLayout& layout, int rank, int d) {
  const int lead = rank - layout.rank();
  return d < lead ? 1 : layout.shape()[d - lead];
}

void AppendDigits(absl::Span<const Digit> digits, int lead, absl::Span<const int64_t> scale,
                  std::vector<Digit>& out) {
  for (Digit digit : digits) {
    if (!digit.replicated()) {
      digit.dim += lead;
      digit.stride *= scale[digit.dim];
    }
    out.push_back(digit);
  }
}

}  // namespace

absl::StatusOr<RegisterLayout> Compose(const RegisterLayout& f, const RegisterLayout& g) {
  const int rank = std::max(f.rank(), g.rank());
  std::vector<int64_t> shape, inner_shape;
  for (int d = 0; d < rank; ++d) {
    inner_shape.push_back(PaddedExtent(g, rank, d));
    // Extents are below 2^31, so this cannot wrap; FromDigits judges the whole.
    shape.push_back(PaddedExtent(f, rank, d) * inner_shape.back());
  }
  const std::vector<int64_t> ones(rank, 1);
  std::vector<Digit> thread, local;
  AppendDigits(f.thread_digits(), rank - f.rank(), inner_shape, thread);
  AppendDigits(g.thread_digits(), rank - g.rank(), ones, thread);
  AppendDigits(f.local_digits(), rank - f.rank(), inner_shape, local);
  AppendDigits(g.local_digits(), rank - g.rank(), ones, local);
  return RegisterLayout::FromDigits(std::move(shape), std::move(thread), std::move(local));
}

}  // namespace tilus

#include "lower/dot_match.h"

#include "absl/strings/str_cat.h"

namespace tilus::lower {
namespace {

// The local that has each place of thread 0's part of a matrix, by row * columns + column; -1 for
// none.
std::vector<int> LocalAt(const RegisterLayout& layout) {
  std::vector<int> local_at(static_cast<size_t>(layout.size()), -1);
  for (int64_t i = 0; i < layout.locals_per_thread(); ++i) {
    const std::vector<int64_t> at = layout.LocalPart(i);
    local_at[static_cast<size_t>(at[0] * layout.shape()[1] + at[1])] = static_cast<int>(i);
  }
  return local_at;
}

absl::Status Lacks(const char* name, int64_t thread, int64_t row, int64_t column) {
  return absl::NotFoundError(
      absl::StrCat("thread group ", thread, " does not hold ", name, "[", row, ", ", column, "]"));
}

}  // namespace

absl::StatusOr<DotMatch> MatchDot(const RegisterLayout& a, const RegisterLayout& b,
                                  const RegisterLayout& c) {
  const int64_t depth = a.shape()[1];
  if (a.shape()[0] != c.shape()[0] || b.shape()[0] != depth || b.shape()[1] != c.shape()[1] ||
      a.num_threads() != c.num_threads() || b.num_threads() != c.num_threads()) {
    return absl::NotFoundError("the tiles are not cut into the same pieces");
  }
  for (int64_t t = 0; t < c.num_threads(); ++t) {
    const std::vector<int64_t> at_a = a.SpatialPart(t), at_b = b.SpatialPart(t),
                               at_c = c.SpatialPart(t);
    if (at_a[0] != at_c[0] || at_a[1] != 0) return Lacks("a", t, at_c[0], 0);
    if (at_b[1] != at_c[1] || at_b[0] != 0) return Lacks("b", t, 0, at_c[1]);
  }
  const std::vector<int> a_at = LocalAt(a), b_at = LocalAt(b);
  DotMatch match;
  match.k = depth;
  for (int64_t j = 0; j < c.locals_per_thread(); ++j) {
    const std::vector<int64_t> at = c.LocalPart(j);
    for (int64_t k = 0; k < depth; ++k) {
      const int ia = a_at[static_cast<size_t>(at[0] * depth + k)];
      const int ib = b_at[static_cast<size_t>(k * c.shape()[1] + at[1])];
      if (ia < 0) return Lacks("a", 0, at[0], k);
      if (ib < 0) return Lacks("b", 0, k, at[1]);
      match.a.push_back(ia);
      match.b.push_back(ib);
    }
  }
  return match;
}

}  // namespace tilus::lower

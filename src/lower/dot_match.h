// Which operand elements (or fragments) each thread (or warp) of a dot needs, and whether it has
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "layout/register_layout.h"

namespace tilus::lower {

// For each local j of c and each k: the locals of a and b with a(m, k) and b(k, n), where (m, n) is
// what c's local j is. The same for every thread.
struct DotMatch {
  int64_t k = 0;
  std::vector<int> a, b;  // [j * k + step]
};

// The match of layouts over [M, K], [K, N] and [M, N]; an error whose message says what is missing
// where. By additivity it is enough to compare the thread parts, which must agree in the shared
// dimension and be 0 in K, and the local parts, which are then the same question in thread 0.
// Operands may be replicated.
absl::StatusOr<DotMatch> MatchDot(const RegisterLayout& a, const RegisterLayout& b,
                                  const RegisterLayout& c);

}  // namespace tilus::lower

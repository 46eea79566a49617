// The default layout of a tile: coalesced, every thread used.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "layout/register_layout.h"

namespace tilus {

// From the last dimension to the first, gcd(extent, threads left) threads go along it, the last
// dimension fastest, so that neighbours hold neighbouring elements; the rest of each extent is
// local, outside the threads. Threads left over replicate, outermost.
// @pre (checked) shape within the bounds, 1 <= threads <= kMaxLayoutElements
// @post num_threads() == threads, shape() == shape
// @post with s[d] = the threads along d: replicated(r) . local(shape / s) . spatial(s)
absl::StatusOr<RegisterLayout> AutoLayout(absl::Span<const int64_t> shape, int64_t threads);

}  // namespace tilus

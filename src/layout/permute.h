// Permutation of dimensions; transposition is permute(f, {1, 0}).
#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "layout/register_layout.h"

namespace tilus {

// @pre (checked) `order` is a permutation of 0 .. rank(f) - 1
// @post Permute(f, p)(t, i)[d] = f(t, i)[p[d]], and shape[d] = S_f[p[d]]
// @post Permute(Permute(f, p), inverse of p) == f
absl::StatusOr<RegisterLayout> Permute(const RegisterLayout& f, absl::Span<const int64_t> order);

}  // namespace tilus

// Dimensions of extent 1: taking them out, putting them in. The data does not notice.
#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "layout/register_layout.h"

namespace tilus {

// Removes `dims`.
// @pre (checked) dims are distinct dimensions of extent 1
// @post Squeeze(f, dims)(t, i) is f(t, i) without the coordinates `dims`
absl::StatusOr<RegisterLayout> Squeeze(const RegisterLayout& f, absl::Span<const int64_t> dims);

// Inserts dimensions of extent 1 that end up at the positions `dims` of the result.
// @pre (checked) dims are distinct and below rank(f) + dims.size(), itself within the limit
// @post Squeeze(Unsqueeze(f, dims), dims) == f
absl::StatusOr<RegisterLayout> Unsqueeze(const RegisterLayout& f, absl::Span<const int64_t> dims);

// Leading ones up to `rank`.
// @pre rank(f) <= rank <= kMaxLayoutRank
RegisterLayout PadRank(const RegisterLayout& f, int rank);

}  // namespace tilus

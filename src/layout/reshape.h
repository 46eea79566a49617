// Reshape: the same elements, in row-major order, under another shape.
//
// In the flat tile of one dimension every digit steps through the row-major index; a new shape
// cuts that index at the products of its trailing extents. A digit that straddles a cut is split
// there when its extent allows; when it does not, the reshaped function is no register layout
// (thread 1 would step half a row), and that is the error.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "layout/register_layout.h"

namespace tilus {

// @pre (checked) `shape` has as many elements as f's
// @post Reshape(f, s).MapLinear(t, i) == f.MapLinear(t, i), threads and locals as in f
// @post an error (kLayoutInexpressible) exactly when no register layout does that
absl::StatusOr<RegisterLayout> Reshape(const RegisterLayout& f, absl::Span<const int64_t> shape);

// Reshape to one dimension; always possible.
// @post Flatten(f).Map(t, i) == {f.MapLinear(t, i)}
RegisterLayout Flatten(const RegisterLayout& f);

}  // namespace tilus

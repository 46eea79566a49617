// How modes factor a shape, shared by register and shared layouts.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tilus::layout_internal {

// The dimension that each mode factors: dimensions take modes, in order, until they are full; a
// mode of size 1 goes to the dimension that is being filled, or to the last (-1 when there is
// none). Such a mode moves nothing.
// @pre every extent and mode is positive (a non-positive mode is refused), the shape's product
//      does not overflow
// @post an error (kLayoutModes) unless the modes of each dimension multiply to its extent
absl::StatusOr<std::vector<int>> DimensionsOfModes(absl::Span<const int64_t> shape,
                                                   absl::Span<const int64_t> modes);

// For modes that factor a shape: the product of the modes to the right within the dimension.
std::vector<int64_t> StridesOfModes(absl::Span<const int> dims, absl::Span<const int64_t> modes);

// `problem` with the shape and modes it is about.
absl::Status ModesError(absl::string_view problem, absl::Span<const int64_t> shape,
                        absl::Span<const int64_t> modes);

}  // namespace tilus::layout_internal

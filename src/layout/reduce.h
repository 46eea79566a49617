// Reduction: the layout of a sum (or maximum, ...) over dimensions.
//
// A thread combines its own elements, so local modes of the reduced dimensions vanish; threads
// that held different parts end up holding the same result, so their spatial modes become
// replication. The threads do not change.
#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "layout/register_layout.h"

namespace tilus {

// @pre (checked) dims are dimensions of f (repeats are harmless)
// @post the shape is f's with 1 at `dims`; threads = T_f
// @post thread t holds index x of the result exactly when it holds in f some element that agrees
//       with x outside `dims`; its locals keep f's order
absl::StatusOr<RegisterLayout> Reduce(const RegisterLayout& f, absl::Span<const int64_t> dims);

}  // namespace tilus

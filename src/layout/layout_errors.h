// The errors that several operations of the folder give, worded once.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "layout/register_layout.h"

namespace tilus::layout_internal {

// "[16, 8]"
std::string ListText(absl::Span<const int64_t> values);

// Refuses a shape with too many dimensions, an extent below 1, or too many elements in all;
// `what` names it ("shape", "modes").
absl::Status CheckShape(absl::string_view what, absl::Span<const int64_t> shape);

// "`operation` of <layout>: problem"
absl::Status OperandError(absl::string_view operation, const RegisterLayout& layout,
                          absl::string_view problem);
// The result is a function that no layout tuple expresses.
absl::Status InexpressibleError(absl::string_view operation, const RegisterLayout& layout,
                                absl::string_view problem);

}  // namespace tilus::layout_internal

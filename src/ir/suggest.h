// Hints for misspelt names.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tilus::ir {

// "did you mean 'load_global'?" for the candidate nearest to `name`, or empty when none is near: at
// most two letters added, dropped or changed, and at most a third of the name.
std::string Suggest(absl::string_view name, absl::Span<const absl::string_view> candidates);

}  // namespace tilus::ir

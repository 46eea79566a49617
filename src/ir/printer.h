// Spellings that printing and reading share.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "ir/tensor.h"

namespace tilus::ir {

// The names of CacheHint, by value: what stands after `cache=`.
absl::Span<const char* const> AllCacheHints();

// "swizzle(3, 3, 3)"
std::string SwizzleText(const Swizzle& swizzle);

}  // namespace tilus::ir

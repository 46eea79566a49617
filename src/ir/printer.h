// Spellings that printing and reading share.
#pragma once

#include "absl/types/span.h"
#include "ir/instruction.h"

namespace tilus::ir {

// The names of CacheHint, by value: what stands after `cache=`.
absl::Span<const char* const> AllCacheHints();

}  // namespace tilus::ir

// printf of a kernel.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tilus::simulate {

// C's printf for %d %i %u %x %X %o %c (low 32 bits; with l, ll, z or j all 64), %e %f %g %a and
// their capitals (f64), %s (an index of `strings`) and %%, with flags, width and precision. Each
// value is a register's bits, zero-extended. What it does not know, or has no value for, is copied.
std::string FormatPrintf(absl::string_view format, absl::Span<const uint64_t> values,
                         absl::Span<const std::string> strings);

}  // namespace tilus::simulate

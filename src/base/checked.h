// Arithmetic on sizes that come from outside: overflow is an answer, never a wrapped number.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/types/span.h"

namespace tilus {

inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

inline std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// The product of non-negative extents (1 for none); nullopt on overflow.
inline std::optional<int64_t> CheckedProduct(absl::Span<const int64_t> extents) {
  int64_t product = 1;
  for (int64_t extent : extents) {
    if (__builtin_mul_overflow(product, extent, &product)) return std::nullopt;
  }
  return product;
}

// The product of extents that are known not to overflow.
inline int64_t Product(absl::Span<const int64_t> extents) {
  int64_t product = 1;
  for (int64_t extent : extents) product *= extent;
  return product;
}

// ceil(a / b) for a >= 0, b > 0.
inline constexpr int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }
// a rounded up to a multiple of b, for a >= 0, b > 0.
inline constexpr int64_t RoundUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

}  // namespace tilus

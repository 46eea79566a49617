// Shared layouts: where the elements of a tile are in shared memory.
//
// A tile of shape S is factored into modes like a register layout; each mode has a stride in
// elements, and the offset of an index is the sum of its digits times the strides, with some of its
// bits exchanged by a swizzle so that the rows that a warp reads together lie in different banks.
//
// Swizzle(bits, base, shift) is CuTe's Swizzle<bits, base, shift>: with y = the `bits` bits of the
// offset from bit base + shift up, the offset becomes x ^ (y << base). It is its own inverse, and
// leaves runs of 2^base elements together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tilus {

struct Swizzle {
  int bits = 0;
  int base = 0;
  int shift = 0;

  // @pre offset >= 0
  int64_t operator()(int64_t offset) const {
    const int64_t mask = ((int64_t{1} << bits) - 1) << (base + shift);
    return offset ^ ((offset & mask) >> shift);
  }
  bool operator==(const Swizzle&) const = default;
  // "swizzle(3, 3, 3)"
  std::string ToString() const;
};

class SharedLayout {
 public:
  SharedLayout() = default;

  // (checked) positive extents; modes factor the dimensions in order; one stride >= 0 for each mode;
  // swizzle with bits, base >= 0, shift >= bits, all small; at most 2^31 - 1 elements in all.
  static absl::StatusOr<SharedLayout> Create(std::vector<int64_t> shape,
                                             std::vector<int64_t> mode_shape,
                                             std::vector<int64_t> mode_strides,
                                             std::optional<Swizzle> swizzle);
  // One mode a dimension.
  static absl::StatusOr<SharedLayout> Strided(std::vector<int64_t> shape,
                                              std::vector<int64_t> strides,
                                              std::optional<Swizzle> swizzle);
  static absl::StatusOr<SharedLayout> RowMajor(std::vector<int64_t> shape,
                                               std::optional<Swizzle> swizzle = std::nullopt);

  int rank() const { return static_cast<int>(shape_.size()); }
  absl::Span<const int64_t> shape() const { return shape_; }
  absl::Span<const int64_t> mode_shape() const { return mode_shape_; }
  absl::Span<const int64_t> mode_strides() const { return mode_strides_; }
  const std::optional<Swizzle>& swizzle() const { return swizzle_; }

  // The element offset of an index inside shape().
  int64_t Offset(absl::Span<const int64_t> index) const;
  // One more than the largest offset, rounded up to the swizzle's period.
  int64_t Size() const { return size_; }

  bool operator==(const SharedLayout&) const = default;
  std::string ToString() const;

 private:
  std::vector<int64_t> shape_, mode_shape_, mode_strides_;
  std::optional<Swizzle> swizzle_;
  int64_t size_ = 1;
};

// The swizzle that spreads the 16-byte groups of consecutive rows of `row_bytes` over the banks, so
// that ldmatrix, stmatrix and 16-byte accesses to eight rows do not conflict; nullopt where rows of
// that size need none or cannot have one (not a power of two of at least 32 bytes).
std::optional<Swizzle> DefaultSwizzle(int64_t row_bytes, int element_bits);

}  // namespace tilus

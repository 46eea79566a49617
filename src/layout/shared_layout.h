// Shared layouts: where the elements of a tile are in shared memory.
//
// A tile of shape S is factored into modes like a register layout (register_layout.h); each mode
// has a stride, and the offset of an index is the sum of its digits times their strides, then
// swizzled (swizzle.h). Offsets count elements from the start of the tile; element k of a b-bit
// type is at bits [k*b, (k+1)*b).
//
//     row-major 64 x 32                modes [64, 32]     strides [32, 1]
//     rows padded by 8                 modes [64, 32]     strides [40, 1]
//     8 x 8 blocks, one after another  modes [8, 8, 4, 8] strides [256, 8, 64, 1]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "layout/swizzle.h"

namespace tilus {

class SharedLayout {
 public:
  // Rank 0: one element.
  SharedLayout() = default;

  // @pre (checked) positive extents; modes factor the dimensions in order; one stride >= 0 for each
  //      mode; a sound swizzle; Size() at most kMaxLayoutElements.
  static absl::StatusOr<SharedLayout> Create(std::vector<int64_t> shape,
                                             std::vector<int64_t> mode_shape,
                                             std::vector<int64_t> mode_strides,
                                             std::optional<Swizzle> swizzle = std::nullopt);
  // One mode for each dimension of more than one element.
  static absl::StatusOr<SharedLayout> Strided(std::vector<int64_t> shape,
                                              std::vector<int64_t> strides,
                                              std::optional<Swizzle> swizzle = std::nullopt);
  static absl::StatusOr<SharedLayout> RowMajor(std::vector<int64_t> shape,
                                               std::optional<Swizzle> swizzle = std::nullopt);
  // Row-major with rows (the last dimension) `padding` >= 0 elements apart from each other.
  static absl::StatusOr<SharedLayout> Padded(std::vector<int64_t> shape, int64_t padding);

  int rank() const { return static_cast<int>(shape_.size()); }
  absl::Span<const int64_t> shape() const { return shape_; }
  absl::Span<const int64_t> mode_shape() const { return mode_shape_; }
  absl::Span<const int64_t> mode_strides() const { return mode_strides_; }
  const std::optional<Swizzle>& swizzle() const { return swizzle_; }

  // @pre index is inside shape()
  // @post 0 <= Offset(index) < Size()
  int64_t Offset(absl::Span<const int64_t> index) const;

  // The room that the tile takes, in elements: one more than the largest offset, up to the end of
  // the last block that the swizzle maps onto itself.
  int64_t Size() const { return size_; }

  // Whether no two elements share an offset. Strides that nest (each at least the extent of all
  // smaller ones) are told at once, others by marking offsets.
  // @post true only when injective; exact while Size() <= kMaxMarkedOffsets
  static constexpr int64_t kMaxMarkedOffsets = int64_t{1} << 22;
  bool IsInjective() const;
  // Whether the elements fill [0, Size()) without gaps: a bijection.
  bool IsCompact() const;

  bool operator==(const SharedLayout&) const = default;

  // "strides(40, 1)" with " swizzle(3, 3, 3)" where there is one, as in program text; with modes
  // finer than dimensions "{shape=[64, 32], modes=[8, 8, 4, 8], strides=[256, 8, 64, 1]}" instead.
  std::string ToString() const;

 private:
  bool StridesNest() const;

  std::vector<int64_t> shape_, mode_shape_, mode_strides_;
  std::vector<int> mode_dims_;          // the dimension of each mode
  std::vector<int64_t> mode_divisors_;  // the product of the modes inner to it there
  std::optional<Swizzle> swizzle_;
  int64_t size_ = 1;
};

}  // namespace tilus

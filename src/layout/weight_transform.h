// The weight transform: weights of any width as tiles of bytes that a kernel views for nothing.
//
// A kernel loads a tile of low-precision weights as bytes, whole 16-byte vectors at a time, and
// Views it (bit_layout.h) as a tile of b-bit codes in the layout f that its matrix instruction
// wants. For that the bytes of memory must already be the bits of the registers. So offline, each
// tile is laid out thread by thread as f holds it: thread t's share is the string of its N codes,
// element i at bits [i*b, (i+1)*b), cut into n = N*b/8 bytes, and byte j of thread t is stored at
//
//     (j / n1) * T * n1  +  t * n1  +  j mod n1         n1 = gcd(n, 16),  n2 = n / n1
//
// that is, as the layout local(n2).spatial(T).local(n1) of bytes stores it: each thread loads n1
// adjacent bytes, adjacent threads adjacent vectors, n2 times.
//
// When a thread's share is not whole bytes (4 codes of 3 bits), the tile is first repeated along
// the reduction dimension K: f becomes local(r, 1) . f, with r the smallest power of two that
// makes the share whole bytes; r = 8 always does. The descriptor records r, so that a reader
// can undo it.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "layout/register_layout.h"

namespace tilus {

inline constexpr int kMaxWeightBits = 16;
// Tables of a tile's permutation are as long as the tile; larger tiles are refused.
inline constexpr int64_t kMaxWeightTile = int64_t{1} << 22;
// A thin matrix under wide tiles grows; the packed matrix may have this many bytes.
inline constexpr int64_t kMaxPackedBytes = int64_t{1} << 32;

struct TransformDescriptor {
  int bits = 0;              // of a code
  int k_dim = 0;             // the dimension that is repeated
  int64_t repetition = 1;    // r
  RegisterLayout layout;     // f as given
  RegisterLayout tile;       // local(r, 1) . f, or local(1, r) . f: what one packed tile holds
  int64_t thread_bytes = 0;  // n
  int64_t vector_bytes = 0;  // n1
  RegisterLayout bytes;      // local(n2).spatial(T).local(n1)

  int64_t tile_bytes() const { return bytes.size(); }
};

// @pre (checked) 1 <= bits <= kMaxWeightBits; `layout` does not replicate and has dimension k_dim;
//      the extended tile has at most kMaxWeightTile elements
// @post thread_bytes * 8 == tile.locals_per_thread() * bits, with the smallest such power of two r
// @post CheckView(8, bytes, bits, tile) is free
absl::StatusOr<TransformDescriptor> PlanTransform(int bits, const RegisterLayout& layout,
                                                  int k_dim);
// The same with r given, for kernels that want shares of 4 or 16 bytes.
// @pre (checked) r >= 1 makes the share whole bytes
absl::StatusOr<TransformDescriptor> PlanTransform(int bits, const RegisterLayout& layout, int k_dim,
                                                  int64_t repetition);

// The permutation of one tile, computed once.
class WeightTransform {
 public:
  explicit WeightTransform(TransformDescriptor descriptor);

  const TransformDescriptor& descriptor() const { return descriptor_; }

  // One tile: codes row-major over descriptor().tile.shape().
  // @pre (checked) tile.size() codes, each below 2^bits; tile_bytes() bytes
  // @post UnpackTile(PackTile(codes)) == codes, and PackTile(UnpackTile(bytes)) == bytes
  absl::StatusOr<std::vector<uint8_t>> PackTile(absl::Span<const uint16_t> codes) const;
  absl::StatusOr<std::vector<uint16_t>> UnpackTile(absl::Span<const uint8_t> bytes) const;

  // A matrix of rows x columns codes, row-major, cut into tiles, row-major over the tiles; edges
  // that stick out are filled with code 0.
  // @pre (checked) a tile of rank 2; rows, columns >= 1; sizes that fit
  // @post Unpack(Pack(codes, r, c), r, c) == codes
  absl::StatusOr<std::vector<uint8_t>> Pack(absl::Span<const uint16_t> codes, int64_t rows,
                                            int64_t columns) const;
  absl::StatusOr<std::vector<uint16_t>> Unpack(absl::Span<const uint8_t> bytes, int64_t rows,
                                               int64_t columns) const;

  // How many tiles cover a matrix, in each dimension.
  struct Grid {
    int64_t rows, columns;
  };
  absl::StatusOr<Grid> TilesOf(int64_t rows, int64_t columns) const;

 private:
  absl::Status CheckCodes(absl::Span<const uint16_t> codes) const;
  // Unchecked. `codes` and `bytes` have the sizes of a tile.
  void PackInto(absl::Span<const uint16_t> codes, absl::Span<uint8_t> bytes) const;
  void UnpackInto(absl::Span<const uint8_t> bytes, absl::Span<uint16_t> codes) const;

  TransformDescriptor descriptor_;
  std::vector<int32_t> element_;  // [thread * N + local]: row-major position in the tile
  std::vector<int32_t> place_;    // [thread * n + byte]: position in the packed tile
};

}  // namespace tilus

// Dense bit strings: element k of width b occupies bits [k*b, (k+1)*b), least significant bit
// first in little-endian bytes. Widths 1 to 64; elements may straddle bytes.
#pragma once

#include <cstdint>

#include "absl/types/span.h"

namespace tilus {

// ceil(count * bits / 8); count * bits must stay below 2^66.
constexpr int64_t PackedBytes(int64_t count, int bits) {
  return count / 8 * bits + (count % 8 * bits + 7) / 8;
}

// The `bits` bits at `bit_offset` (>= 0) from `base`. Touches only the bytes that hold them.
uint64_t ReadBits(const uint8_t* base, int64_t bit_offset, int bits);

// Replaces these bits by the low bits of `code`; neighbouring bits stay. Touches only the bytes
// that hold them, by read-modify-write.
void WriteBits(uint8_t* base, int64_t bit_offset, int bits, uint64_t code);

// Packs the low `bits` bits of each code. Writes PackedBytes(codes.size(), bits) bytes, of which
// `out` must have at least as many; unused high bits of the last byte are 0.
void PackBits(absl::Span<const uint64_t> codes, int bits, absl::Span<uint8_t> out);

// Unpacks codes.size() codes from `bytes`, which must hold PackedBytes(codes.size(), bits) bytes.
void UnpackBits(absl::Span<const uint8_t> bytes, int bits, absl::Span<uint64_t> codes);

}  // namespace tilus

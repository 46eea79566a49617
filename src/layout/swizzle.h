// XOR swizzles: an order of shared memory in which columns do not collide.
//
// Shared memory has 32 banks of 4 bytes, 128 bytes a row of banks; threads of one access that touch
// different words of one bank wait for each other. Rows of a tile whose size is a multiple of 128
// bytes all start in the same bank, so a matrix instruction that reads 16 bytes of each of 8 rows
// takes 8 turns instead of 1. A swizzle XORs the row number into the position of the 16-byte group
// within the row: reads along rows stay whole, reads down columns visit all banks.
//
// Swizzle(bits, base, shift) is CuTe's Swizzle<BBits, MBase, SShift>, on element offsets:
//
//     x  ->  x ^ ((x >> shift) & ((2^bits - 1) << base))
//
//     bit of x     ... | base+shift .. base+shift+bits | ... | base .. base+bits | 0 .. base
//                               y, read, unchanged             z, becomes z ^ y    kept
//
// With 0 <= bits <= shift the two fields are apart, hence: it is its own inverse, it maps every
// aligned block of 2^(base + bits) offsets onto itself, and runs of 2^base elements stay together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace tilus {

struct Swizzle {
  int bits = 0;
  int base = 0;
  int shift = 0;

  // @pre offset >= 0 and Check() is OK
  // @post (*this)((*this)(x)) == x; x and the result differ in bits base .. base + bits only
  int64_t operator()(int64_t offset) const {
    const int64_t mask = ((int64_t{1} << bits) - 1) << base;
    return offset ^ ((offset >> shift) & mask);
  }

  // The offsets after which the pattern repeats: an address where it is applied to the address
  // itself, as the hardware does, is aligned to that.
  int64_t Period() const { return int64_t{1} << (bits + base + shift); }

  // kSwizzle unless 0 <= bits <= shift, 0 <= base, each at most 16.
  absl::Status Check() const;
  // "swizzle(3, 3, 3)": bits, base, shift
  std::string ToString() const;
  bool operator==(const Swizzle&) const = default;
};

// The smallest swizzle of a row-major tile with rows of `row_bytes` for which every access that
// takes one 16-byte column of 8 rows (from a multiple of 8) touches all banks once: ldmatrix,
// stmatrix, the 128, 64 and 32-byte modes of wgmma, and 16-byte loads and stores down a column.
// nullopt where rows need none, or where none helps: rows that are not whole 16-byte groups,
// elements whose width is no power of two.
// @post with rows of 32, 64, 128 and more bytes, powers of two: bits = log2(groups a row, at most
//       8), base = log2(elements a group), shift = log2(groups a row, at least 8)
std::optional<Swizzle> DefaultSwizzle(int64_t row_bytes, int element_bits);

}  // namespace tilus

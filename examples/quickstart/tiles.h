// Packed weights as the kernels take them, made on the host without the library, so that what the
// library's own weight transform makes can be compared byte for byte.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace quickstart {

// Codes of `bits` (1 to 8) packed densely: code i occupies bits [i * bits, (i + 1) * bits) of the
// result, least significant first; unused high bits are 0. Only the low `bits` of a code count, so
// signed codes may be given as their bytes.
std::vector<uint8_t> PackDense(std::span<const uint8_t> codes, int bits);

// The weight transform of codes [k, n] (row-major) for B operands of mma.m16n8k16: tiles of
// [16, 8] in `local(2,1).column_spatial(4,8).local(2,1)`, where thread t of 32 holds
//   (2 (t mod 4), t / 4), one row below, and the same two 8 rows further down,
// whose 4 * bits bits are its dense string of bits / 2 bytes. The result is
// u8 [k / 16, n / 8, 16 bits], and within a tile byte j of thread t is at
//   (j / s) 32 s + t s + j mod s,  s = gcd(bits / 2, 16),
// so that a warp loads it as u8 `local(bits / 2 / s).spatial(32).local(s)`.
// @pre k is a multiple of 16, n of 8, and bits is 2, 4, 6 or 8.
std::vector<uint8_t> PackTiles(std::span<const uint8_t> codes, int k, int n, int bits);

}  // namespace quickstart

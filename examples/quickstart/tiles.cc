#include "tiles.h"

#include <numeric>

namespace quickstart {
namespace {

constexpr size_t kTileRows = 16, kTileColumns = 8, kThreads = 32, kElements = 4;

}  // namespace

std::vector<uint8_t> PackDense(std::span<const uint8_t> codes, int bits) {
  std::vector<uint8_t> packed((codes.size() * bits + 7) / 8);
  for (size_t i = 0; i < codes.size(); ++i) {
    for (int b = 0; b < bits; ++b) {
      const size_t at = i * bits + b;
      packed[at / 8] |= static_cast<uint8_t>((codes[i] >> b & 1) << (at % 8));
    }
  }
  return packed;
}

std::vector<uint8_t> PackTiles(std::span<const uint8_t> codes, int k, int n, int bits) {
  const size_t columns = n, share = bits / 2, step = std::gcd(share, size_t{16});
  std::vector<uint8_t> packed(codes.size() * bits / 8);
  size_t tile_begin = 0;
  for (size_t row = 0; row < static_cast<size_t>(k); row += kTileRows) {
    for (size_t column = 0; column < columns; column += kTileColumns) {
      for (size_t t = 0; t < kThreads; ++t) {
        uint8_t held[kElements];
        for (size_t i = 0; i < kElements; ++i) {
          const size_t tile_row = i / 2 * 8 + t % 4 * 2 + i % 2;
          held[i] = codes[(row + tile_row) * columns + column + t / 4];
        }
        const std::vector<uint8_t> bytes = PackDense(held, bits);
        for (size_t j = 0; j < share; ++j) {
          packed[tile_begin + j / step * kThreads * step + t * step + j % step] = bytes[j];
        }
      }
      tile_begin += kThreads * share;
    }
  }
  return packed;
}

}  // namespace quickstart

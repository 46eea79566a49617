#include "types/packing.h"

#include <bit>
#include <cstring>

#include "types/codec.h"

namespace tilus {
namespace {

static_assert(std::endian::native == std::endian::little, "words are copied as bytes");

uint64_t LoadWord(const uint8_t* from, size_t bytes) {
  uint64_t word = 0;
  std::memcpy(&word, from, bytes);
  return word;
}

void StoreWord(uint8_t* to, size_t bytes, uint64_t word) { std::memcpy(to, &word, bytes); }

}  // namespace

uint64_t ReadBits(const uint8_t* base, int64_t bit_offset, int bits) {
  const uint8_t* const first = base + bit_offset / 8;
  const int skip = static_cast<int>(bit_offset % 8);
  const int bytes = (skip + bits + 7) / 8;  // up to 9
  if (bytes <= 8) return (LoadWord(first, bytes) >> skip) & LowBits(bits);
  const uint64_t high = static_cast<uint64_t>(first[8]) << (64 - skip);
  return ((LoadWord(first, 8) >> skip) | high) & LowBits(bits);
}

void WriteBits(uint8_t* base, int64_t bit_offset, int bits, uint64_t code) {
  uint8_t* const first = base + bit_offset / 8;
  const int skip = static_cast<int>(bit_offset % 8);
  const int bytes = (skip + bits + 7) / 8;
  const uint64_t mask = LowBits(bits);
  code &= mask;
  const size_t low_bytes = bytes <= 8 ? bytes : 8;
  const uint64_t word = LoadWord(first, low_bytes) & ~(mask << skip);
  StoreWord(first, low_bytes, word | code << skip);
  if (bytes <= 8) return;
  const int in_low = 64 - skip;  // bits of the code that the first 8 bytes hold; skip > 0 here
  first[8] = static_cast<uint8_t>((first[8] & ~(mask >> in_low)) | code >> in_low);
}

void PackBits(absl::Span<const uint64_t> codes, int bits, absl::Span<uint8_t> out) {
  uint8_t* to = out.data();
  const uint64_t mask = LowBits(bits);
  uint64_t word = 0;  // `filled` bits, not yet written
  int filled = 0;
  for (uint64_t code : codes) {
    code &= mask;
    word |= code << filled;
    filled += bits;
    if (filled < 64) continue;
    StoreWord(to, 8, word);
    to += 8;
    filled -= 64;
    word = filled == 0 ? 0 : code >> (bits - filled);
  }
  if (filled > 0) StoreWord(to, (filled + 7) / 8, word);
}

void UnpackBits(absl::Span<const uint8_t> bytes, int bits, absl::Span<uint64_t> codes) {
  const uint8_t* from = bytes.data();
  const uint8_t* const end =
      from + PackedBytes(static_cast<int64_t>(codes.size()), bits);
  const uint64_t mask = LowBits(bits);
  uint64_t word = 0;  // the next `left` bits of the string
  int left = 0;
  for (uint64_t& code : codes) {
    if (left >= bits) {
      code = word & mask;
      word = bits == 64 ? 0 : word >> bits;
      left -= bits;
      continue;
    }
    const size_t size = end - from < 8 ? end - from : 8;
    const uint64_t next = LoadWord(from, size);
    from += size;
    code = (word | next << left) & mask;
    const int taken = bits - left;  // bits of `next` in this code, 1 to 64
    word = taken == 64 ? 0 : next >> taken;
    left = static_cast<int>(size) * 8 - taken;
  }
}

}  // namespace tilus

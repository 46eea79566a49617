#include "types/packing.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tilus {
namespace {

// The model: one bit at a time.
bool GetBit(const std::vector<uint8_t>& bytes, int64_t at) {
  return (bytes[at / 8] >> (at % 8)) & 1;
}
void SetBit(std::vector<uint8_t>& bytes, int64_t at, bool value) {
  bytes[at / 8] = static_cast<uint8_t>((bytes[at / 8] & ~(1 << (at % 8))) | value << (at % 8));
}
uint64_t ModelRead(const std::vector<uint8_t>& bytes, int64_t at, int bits) {
  uint64_t code = 0;
  for (int i = 0; i < bits; ++i) code |= static_cast<uint64_t>(GetBit(bytes, at + i)) << i;
  return code;
}

std::vector<uint8_t> RandomBytes(std::mt19937_64& random, size_t size) {
  std::vector<uint8_t> bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

TEST(PackingTest, PackedBytesRoundsUpAndDoesNotOverflow) {
  for (int bits = 1; bits <= 64; ++bits) {
    for (int64_t count = 0; count < 100; ++count) {
      EXPECT_EQ(PackedBytes(count, bits), (count * bits + 7) / 8);
    }
  }
  EXPECT_EQ(PackedBytes(int64_t{1} << 59, 64), int64_t{1} << 62);
}

TEST(PackingTest, PackAndUnpackEveryWidthAsTheBitByBitModel) {
  std::mt19937_64 random(1);
  for (int bits = 1; bits <= 64; ++bits) {
    for (int64_t count : {0, 1, 2, 3, 7, 8, 9, 31, 63, 64, 65, 200}) {
      std::vector<uint64_t> codes(count);
      for (uint64_t& code : codes) code = random();  // surplus high bits must not matter
      const size_t size = static_cast<size_t>(PackedBytes(count, bits));
      std::vector<uint8_t> expected(size + 9, 0xa5);
      std::fill(expected.begin(), expected.begin() + size, 0);
      for (int64_t k = 0; k < count; ++k) {
        for (int i = 0; i < bits; ++i) SetBit(expected, k * bits + i, (codes[k] >> i) & 1);
      }
      std::vector<uint8_t> packed(size + 9, 0xa5);
      PackBits(codes, bits, absl::MakeSpan(packed));
      ASSERT_EQ(packed, expected) << bits << " bits, " << count << " codes";

      const std::vector<uint8_t> exact(packed.begin(), packed.begin() + size);
      std::vector<uint64_t> unpacked(count, ~uint64_t{0});
      UnpackBits(exact, bits, absl::MakeSpan(unpacked));
      for (int64_t k = 0; k < count; ++k) {
        ASSERT_EQ(unpacked[k], ModelRead(expected, k * bits, bits)) << bits << " bits, code " << k;
      }
    }
  }
}

TEST(PackingTest, ReadBitsAtEveryOffsetAndWidth) {
  std::mt19937_64 random(2);
  for (int bits = 1; bits <= 64; ++bits) {
    for (int64_t offset = 0; offset < 80; ++offset) {
      // Exactly as long as needed: a sanitizer sees a read past the end.
      const std::vector<uint8_t> bytes = RandomBytes(random, (offset + bits + 7) / 8);
      ASSERT_EQ(ReadBits(bytes.data(), offset, bits), ModelRead(bytes, offset, bits))
          << bits << " at " << offset;
    }
  }
}

TEST(PackingTest, WriteBitsChangesTheseBitsAlone) {
  std::mt19937_64 random(3);
  for (int bits = 1; bits <= 64; ++bits) {
    for (int64_t offset = 0; offset < 80; ++offset) {
      std::vector<uint8_t> bytes = RandomBytes(random, (offset + bits + 7) / 8);
      std::vector<uint8_t> expected = bytes;
      const uint64_t code = random();
      for (int i = 0; i < bits; ++i) SetBit(expected, offset + i, (code >> i) & 1);
      WriteBits(bytes.data(), offset, bits, code);
      ASSERT_EQ(bytes, expected) << bits << " at " << offset;
    }
  }
}

}  // namespace
}  // namespace tilus

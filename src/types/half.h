// f16 and bf16 against f32, inline for inner loops. The same results as ConvertCode: round to
// nearest even, subnormals kept, NaN becomes the canonical NaN of the target.
#pragma once

#include <bit>
#include <cstdint>

namespace tilus {

inline float F16ToF32(uint16_t code) {
  const uint32_t sign = static_cast<uint32_t>(code & 0x8000) << 16;
  const uint32_t magnitude = code & 0x7fff;
  if (magnitude >= 0x7c00) {
    return std::bit_cast<float>(magnitude > 0x7c00 ? 0x7fc00000u : sign | 0x7f800000u);
  }
  if (magnitude < 0x0400) {  // subnormal: an integer times 2^-24
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
}

inline uint16_t F32ToF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7e00;
  if (magnitude >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);  // >= 2^16
  if (magnitude < 0x38800000) {  // < 2^-14: one unit of 0.5f's last place is 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  }
  const uint32_t odd = (magnitude >> 13) & 1;
  return static_cast<uint16_t>(sign | ((magnitude - (112u << 23) + 0xfff + odd) >> 13));
}

inline float BF16ToF32(uint16_t code) {
  if ((code & 0x7fff) > 0x7f80) return std::bit_cast<float>(0x7fc00000u);
  return std::bit_cast<float>(static_cast<uint32_t>(code) << 16);
}

inline uint16_t F32ToBF16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace tilus

// Numbers as GGUF files store them: half precision, and the two block formats of the example.
//
//   Q4_1  32 elements in 20 bytes: f16 d | f16 m | 16 bytes of codes; the low nibbles are elements
//         0 to 15, the high nibbles 16 to 31. w = d * code + m.
//   Q8_0  32 elements in 34 bytes: f16 d | 32 signed bytes. w = d * code.
//
// Everything here is exact in double precision, and bit patterns of half stay as uint16_t.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gguf.h"
#include "result.h"

namespace quickstart {

// The value of a half; infinities and NaN as themselves.
double HalfToDouble(uint16_t half);
// The nearest half, ties to even; overflow gives infinity, NaN gives 7e00.
uint16_t DoubleToHalf(double value);
// True when the half is neither infinite nor NaN.
bool HalfIsFinite(uint16_t half);

struct Q41Block {
  uint16_t scale = 0;    // d
  uint16_t minimum = 0;  // m
  std::array<uint8_t, 32> codes = {};
};
// `bytes` holds the 20 bytes of one block.
Q41Block ReadQ41Block(Bytes bytes);

// Row `row` of a tensor of type F32, F16, Q4_1 or Q8_0. An error when the row is not there, the
// type is another, or a value is infinite or NaN.
Result<std::vector<double>> DecodeRow(const GgufTensor& tensor, uint64_t row);

}  // namespace quickstart

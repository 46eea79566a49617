#include "tensor_data.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace quickstart {
namespace {

uint16_t U16(Bytes bytes, size_t at) {
  return static_cast<uint16_t>(bytes[at] | bytes[at + 1] << 8);
}

void DecodeF32(Bytes bytes, std::vector<double>& out) {
  for (size_t at = 0; at < bytes.size(); at += 4) {
    const uint32_t bits = U16(bytes, at) | static_cast<uint32_t>(U16(bytes, at + 2)) << 16;
    out.push_back(std::bit_cast<float>(bits));
  }
}

void DecodeF16(Bytes bytes, std::vector<double>& out) {
  for (size_t at = 0; at < bytes.size(); at += 2) out.push_back(HalfToDouble(U16(bytes, at)));
}

void DecodeQ41(Bytes bytes, std::vector<double>& out) {
  for (size_t at = 0; at < bytes.size(); at += 20) {
    const Q41Block block = ReadQ41Block(bytes.subspan(at, 20));
    const double scale = HalfToDouble(block.scale), minimum = HalfToDouble(block.minimum);
    for (const uint8_t code : block.codes) out.push_back(scale * code + minimum);
  }
}

void DecodeQ80(Bytes bytes, std::vector<double>& out) {
  for (size_t at = 0; at < bytes.size(); at += 34) {
    const double scale = HalfToDouble(U16(bytes, at));
    for (size_t i = 0; i < 32; ++i) out.push_back(scale * static_cast<int8_t>(bytes[at + 2 + i]));
  }
}

}  // namespace

double HalfToDouble(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 0x3ff;
  double magnitude = 0;
  if (exponent == 31) {
    magnitude = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(fraction | 0x400, exponent - 25);
  }
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

uint16_t DoubleToHalf(double value) {
  if (std::isnan(value)) return 0x7e00;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520) return sign | 0x7c00;  // 65520 is half way past the largest half
  // The unit of the last place: that of the binade, and of the lowest binade for subnormals.
  const int exponent = magnitude == 0 ? -14 : std::max(std::ilogb(magnitude), -14);
  // Up to 2048 units, exactly; the default rounding mode of nearbyint is to nearest even. A carry
  // into the next binade, and from the subnormals into the first, comes out of the addition.
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return static_cast<uint16_t>(sign | (units + ((exponent + 14) << 10)));
}

bool HalfIsFinite(uint16_t half) { return (half & 0x7c00) != 0x7c00; }

Q41Block ReadQ41Block(Bytes bytes) {
  Q41Block block;
  block.scale = U16(bytes, 0);
  block.minimum = U16(bytes, 2);
  for (size_t i = 0; i < 16; ++i) {
    block.codes[i] = bytes[4 + i] & 15;
    block.codes[16 + i] = bytes[4 + i] >> 4;
  }
  return block;
}

Result<std::vector<double>> DecodeRow(const GgufTensor& tensor, uint64_t row) {
  if (row >= tensor.row_count) {
    return Error{"Tensor " + Quote(tensor.name) + " has " + std::to_string(tensor.row_count) +
                 " rows, and row " + std::to_string(row) + " was asked for"};
  }
  std::vector<double> values;
  values.reserve(tensor.row_length());
  switch (tensor.type) {
    case TensorType::kF32:
      DecodeF32(tensor.Row(row), values);
      break;
    case TensorType::kF16:
      DecodeF16(tensor.Row(row), values);
      break;
    case TensorType::kQ4_1:
      DecodeQ41(tensor.Row(row), values);
      break;
    case TensorType::kQ8_0:
      DecodeQ80(tensor.Row(row), values);
      break;
    default:
      return Error{"Tensor " + Quote(tensor.name) + " is " + TensorTypeName(tensor.type) +
                   ", and F32, F16, Q4_1 and Q8_0 are decoded here"};
  }
  for (const double value : values) {
    if (!std::isfinite(value)) {
      return Error{"Row " + std::to_string(row) + " of tensor " + Quote(tensor.name) +
                   " holds an infinity or a NaN"};
    }
  }
  return values;
}

}  // namespace quickstart

#include "types/codec.h"

#include <algorithm>
#include <bit>

namespace tilus {
namespace {

// The exact value of any code: (-1)^negative * significand * 2^exponent when finite.
enum class NumberClass : uint8_t { kFinite, kInfinite, kNan };
struct Number {
  NumberClass number_class = NumberClass::kFinite;
  bool negative = false;
  int exponent = 0;
  uint64_t significand = 0;
};

// tf32 lies in the upper bits of its storage; all other floats fill it.
constexpr int StorageShift(DataType type) {
  if (type.kind() != TypeKind::kFloat) return 0;
  return type.bits() - 1 - type.exponent_bits() - type.mantissa_bits();
}

// Floats of at most 8 bits convert overflow and infinity to the largest finite value.
constexpr bool Saturates(DataType type) { return type.bits() <= 8; }

// The functions named *Magnitude work on the exponent and mantissa fields of a kFloat code: no
// sign, no storage shift.

constexpr uint64_t ExponentOnes(DataType type) {
  return LowBits(type.exponent_bits()) << type.mantissa_bits();
}

constexpr uint64_t LargestFiniteMagnitude(DataType type) {
  if (type.has_infinity()) return ExponentOnes(type) - 1;
  return LowBits(type.exponent_bits() + type.mantissa_bits()) - (type.has_nan() ? 1 : 0);
}

constexpr uint64_t NanMagnitude(DataType type) {
  if (!type.has_nan()) return LargestFiniteMagnitude(type);
  if (Saturates(type)) return LowBits(type.exponent_bits() + type.mantissa_bits());
  return ExponentOnes(type) | uint64_t{1} << (type.mantissa_bits() - 1);
}

constexpr uint64_t Assemble(DataType type, bool negative, uint64_t magnitude) {
  const uint64_t sign = static_cast<uint64_t>(negative)
                        << (type.exponent_bits() + type.mantissa_bits());
  return (sign | magnitude) << StorageShift(type);
}

Number UnpackFloat(DataType type, uint64_t code) {
  const int mantissa_bits = type.mantissa_bits();
  code >>= StorageShift(type);
  const uint64_t magnitude = code & LowBits(type.exponent_bits() + mantissa_bits);
  Number number;
  number.negative = (code >> (type.exponent_bits() + mantissa_bits)) & 1;
  if (magnitude > LargestFiniteMagnitude(type)) {
    const bool infinite = type.has_infinity() && magnitude == ExponentOnes(type);
    number.number_class = infinite ? NumberClass::kInfinite : NumberClass::kNan;
    return number;
  }
  const int field = static_cast<int>(magnitude >> mantissa_bits);
  number.significand = magnitude & LowBits(mantissa_bits);
  if (field != 0) number.significand |= uint64_t{1} << mantissa_bits;
  number.exponent = std::max(field, 1) - type.exponent_bias() - mantissa_bits;
  return number;
}

Number Unpack(DataType type, uint64_t code) {
  code &= CodeMask(type);
  Number number;
  switch (type.kind()) {
    case TypeKind::kBool:
      number.significand = code != 0;
      return number;
    case TypeKind::kUInt:
      number.significand = code;
      return number;
    case TypeKind::kInt: {
      const int64_t value = DecodeToInt64(type, code);
      number.negative = value < 0;
      number.significand =
          value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
      return number;
    }
    case TypeKind::kScale:
      number.number_class = code == 0xff ? NumberClass::kNan : NumberClass::kFinite;
      number.significand = 1;
      number.exponent = static_cast<int>(code) - type.exponent_bias();
      return number;
    case TypeKind::kFloat:
      return UnpackFloat(type, code);
  }
  return number;
}

// The nearest magnitude, ties to the even code, or more than the largest finite on overflow.
// Rounding the code instead of the mantissa carries into the exponent by itself and is right for
// types without mantissa bits.
uint64_t RoundMagnitude(DataType type, const Number& number) {
  const int zeros = std::countl_zero(number.significand);
  const uint64_t significand = number.significand << zeros;  // 1.xxx in units of 2^-63
  const int field = number.exponent - zeros + 63 + type.exponent_bias();
  const int mantissa_bits = type.mantissa_bits();
  // Normal numbers keep 1 + mantissa_bits bits (the leading one adds 1 to the exponent field);
  // each step below the smallest exponent keeps one bit less.
  const int shift = 63 - mantissa_bits + std::max(1 - field, 0);
  if (shift > 64) return 0;
  const uint64_t base = static_cast<uint64_t>(std::max(field, 1) - 1) << mantissa_bits;
  const uint64_t kept = base + (shift == 64 ? 0 : significand >> shift);
  const uint64_t rest = significand & LowBits(shift);
  const uint64_t half = uint64_t{1} << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1)));
}

uint64_t PackFloat(DataType type, const Number& number) {
  switch (number.number_class) {
    case NumberClass::kNan:
      return NanCode(type);
    case NumberClass::kInfinite:
      return OverflowCode(type, number.negative);
    case NumberClass::kFinite:
      break;
  }
  if (number.significand == 0) return Assemble(type, number.negative, 0);
  const uint64_t magnitude = RoundMagnitude(type, number);
  if (magnitude > LargestFiniteMagnitude(type)) return OverflowCode(type, number.negative);
  return Assemble(type, number.negative, magnitude);
}

uint64_t PackScale(DataType type, const Number& number) {
  if (number.number_class == NumberClass::kNan) return NanCode(type);
  if (number.number_class == NumberClass::kInfinite) return OverflowCode(type, number.negative);
  if (number.negative || number.significand == 0) return 0;
  const int zeros = std::countl_zero(number.significand);
  const int code = number.exponent - zeros + 63 + type.exponent_bias();
  if (code < 0) return 0;
  const uint64_t rest = (number.significand << zeros) & LowBits(63);
  const uint64_t half = uint64_t{1} << 62;
  const bool up = rest > half || (rest == half && (code & 1));
  return static_cast<uint64_t>(std::min(code + up, 0xfe));
}

// Toward zero, saturating.
uint64_t PackInteger(DataType type, const Number& number) {
  if (number.number_class == NumberClass::kNan) return 0;
  uint64_t magnitude = 0;
  if (number.number_class == NumberClass::kInfinite) {
    magnitude = ~uint64_t{0};
  } else if (number.exponent < 0) {
    magnitude = number.exponent > -64 ? number.significand >> -number.exponent : 0;
  } else if (number.significand != 0) {
    const bool fits = std::countl_zero(number.significand) >= number.exponent;
    magnitude = fits ? number.significand << number.exponent : ~uint64_t{0};
  }
  if (type.kind() == TypeKind::kUInt) {
    return number.negative ? 0 : std::min(magnitude, CodeMask(type));
  }
  magnitude = std::min(magnitude, LowBits(type.bits() - 1) + number.negative);
  return (number.negative ? 0 - magnitude : magnitude) & CodeMask(type);
}

bool IsNonZero(DataType type, uint64_t code) {
  switch (type.kind()) {
    case TypeKind::kScale:
      return true;
    case TypeKind::kFloat:
      return ((code & LowBits(type.bits() - 1)) >> StorageShift(type)) != 0;
    default:
      return (code & CodeMask(type)) != 0;
  }
}

}  // namespace

uint64_t CanonicalCode(DataType type, uint64_t code) {
  code &= CodeMask(type);
  if (type.is_bool()) return code != 0;
  if (!type.is_float()) return code;
  if (IsNan(type, code)) return NanCode(type);
  return code >> StorageShift(type) << StorageShift(type);
}

uint64_t NanCode(DataType type) {
  if (type.kind() == TypeKind::kScale) return 0xff;
  return Assemble(type, false, NanMagnitude(type));
}

uint64_t OverflowCode(DataType type, bool negative) {
  if (type.kind() == TypeKind::kScale || Saturates(type)) return LargestFiniteCode(type, negative);
  return Assemble(type, negative, ExponentOnes(type));
}

uint64_t LargestFiniteCode(DataType type, bool negative) {
  if (type.kind() == TypeKind::kScale) return negative ? 0 : 0xfe;
  return Assemble(type, negative, LargestFiniteMagnitude(type));
}

bool IsNan(DataType type, uint64_t code) {
  return type.is_float() && Unpack(type, code).number_class == NumberClass::kNan;
}

int64_t DecodeToInt64(DataType type, uint64_t code) {
  if (type.is_bool()) return (code & CodeMask(type)) != 0;
  const int unused = 64 - type.bits();
  if (type.kind() == TypeKind::kInt) return static_cast<int64_t>(code << unused) >> unused;
  return static_cast<int64_t>(code & CodeMask(type));
}

double DecodeToDouble(DataType type, uint64_t code) {
  return std::bit_cast<double>(ConvertCode(type, kF64, code));
}

uint32_t DecodeToF32Bits(DataType type, uint64_t code) {
  return static_cast<uint32_t>(ConvertCode(type, kF32, code));
}

float DecodeToFloat(DataType type, uint64_t code) {
  return std::bit_cast<float>(DecodeToF32Bits(type, code));
}

uint64_t EncodeFromDouble(DataType type, double value) {
  return ConvertCode(kF64, type, std::bit_cast<uint64_t>(value));
}

uint64_t EncodeFromFloat(DataType type, float value) {
  return ConvertCode(kF32, type, std::bit_cast<uint32_t>(value));
}

uint64_t EncodeFromInt64(DataType type, int64_t value) {
  return ConvertCode(kI64, type, static_cast<uint64_t>(value));
}

uint64_t EncodeFromUInt64(DataType type, uint64_t value) { return ConvertCode(kU64, type, value); }

uint64_t ConvertCode(DataType from, DataType to, uint64_t code) {
  switch (to.kind()) {
    case TypeKind::kBool:
      return IsNonZero(from, code);
    case TypeKind::kUInt:
    case TypeKind::kInt:
      if (from.is_float()) return PackInteger(to, Unpack(from, code));
      return DecodeToUInt64(from, code) & CodeMask(to);
    case TypeKind::kFloat:
      return PackFloat(to, Unpack(from, code));
    case TypeKind::kScale:
      return PackScale(to, Unpack(from, code));
  }
  return 0;
}

Converter::Converter(DataType from, DataType to) : from_(from), to_(to), mask_(CodeMask(from)) {
  if (from.bits() > 16) return;
  table_.resize(mask_ + 1);
  for (uint64_t code = 0; code <= mask_; ++code) table_[code] = ConvertCode(from, to, code);
}

void Converter::Convert(absl::Span<const uint64_t> codes, absl::Span<uint64_t> out) const {
  const size_t count = std::min(codes.size(), out.size());
  for (size_t i = 0; i < count; ++i) out[i] = (*this)(codes[i]);
}

}  // namespace tilus

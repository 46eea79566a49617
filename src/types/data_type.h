// Data types: what the bits of one element mean.
//
//   family        names                                   code
//   bool          bool                                    8 bits of storage, 0 or 1
//   unsigned      u1 .. u16, u32, u64                     the value
//   signed        i1 .. i16, i32, i64                     two's complement (i1: 0, -1)
//   small floats  fXeYmZ, 3 <= X <= 8, Y >= 1             sign, exponent, mantissa; X = 1 + Y + Z
//   floats        f16 bf16 tf32 f32 f64                   IEEE; tf32 in the upper 19 of 32 bits
//   scale         f8e8m0                                  2^(code - 127), no sign, ff = NaN
//
// Small floats have no infinity and no NaN, their all-ones exponent is a normal number, except
// f8e4m3 (NaN in 7f and ff) and f8e5m2 (IEEE-like), which follow the OCP standard.
//
// A *code* is the bit pattern of one element, in the low bits of a uint64_t; codec.h says what
// codes mean, arithmetic.h how they compute, packing.h how they lie in memory.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tilus {

enum class TypeKind : uint8_t { kBool, kUInt, kInt, kFloat, kScale };

// A small value. The factories take any width that the codecs can handle (integers of 1 to 64
// bits); is_supported() tells the types that programs may name.
class DataType {
 public:
  constexpr DataType() = default;  // u8

  static constexpr DataType UInt(int bits) { return DataType(TypeKind::kUInt, bits, 0, 0); }
  static constexpr DataType Int(int bits) { return DataType(TypeKind::kInt, bits, 0, 0); }
  // 1 + e + m bits, but tf32 = (8, 10) is stored in 32; (5, 10) is f16, (8, 7) is bf16.
  static constexpr DataType Float(int exponent_bits, int mantissa_bits) {
    const bool is_tf32 = exponent_bits == 8 && mantissa_bits == 10;
    return DataType(TypeKind::kFloat, is_tf32 ? 32 : 1 + exponent_bits + mantissa_bits,
                    exponent_bits, mantissa_bits);
  }
  static constexpr DataType Bool() { return DataType(TypeKind::kBool, 8, 0, 0); }
  static constexpr DataType Scale() { return DataType(TypeKind::kScale, 8, 8, 0); }

  constexpr TypeKind kind() const { return kind_; }
  // Bits of storage of one element: the element stride in registers and memory.
  constexpr int bits() const { return bits_; }
  constexpr int exponent_bits() const { return exponent_bits_; }
  constexpr int mantissa_bits() const { return mantissa_bits_; }

  // Includes the scale type.
  constexpr bool is_float() const { return kind_ >= TypeKind::kFloat; }
  // Signed or unsigned, not bool.
  constexpr bool is_integer() const { return kind_ == TypeKind::kUInt || kind_ == TypeKind::kInt; }
  // Has negative values.
  constexpr bool is_signed() const {
    return kind_ == TypeKind::kInt || kind_ == TypeKind::kFloat;
  }
  constexpr bool is_bool() const { return kind_ == TypeKind::kBool; }
  // Not whole bytes: elements straddle bytes in memory.
  constexpr bool is_subbyte() const { return bits_ % 8 != 0; }

  constexpr bool has_infinity() const {
    return kind_ == TypeKind::kFloat && (bits_ > 8 || (exponent_bits_ == 5 && mantissa_bits_ == 2));
  }
  constexpr bool has_nan() const {
    return has_infinity() || kind_ == TypeKind::kScale ||
           (kind_ == TypeKind::kFloat && exponent_bits_ == 4 && mantissa_bits_ == 3);
  }
  // Of float types; 0 for the others.
  constexpr int exponent_bias() const {
    return exponent_bits_ == 0 ? 0 : (1 << (exponent_bits_ - 1)) - 1;
  }

  // One of AllDataTypes().
  bool is_supported() const;
  // "u4", "i6", "f6e3m2", "f8e8m0", "f16", "bf16", "tf32", "f32", "f64", "bool".
  std::string name() const;

  friend constexpr bool operator==(DataType, DataType) = default;
  friend constexpr auto operator<=>(DataType, DataType) = default;
  template <typename H>
  friend H AbslHashValue(H h, DataType t) {
    return H::combine(std::move(h), t.kind_, t.bits_, t.exponent_bits_, t.mantissa_bits_);
  }

 private:
  constexpr DataType(TypeKind kind, int bits, int exponent_bits, int mantissa_bits)
      : kind_(kind),
        bits_(static_cast<uint8_t>(bits)),
        exponent_bits_(static_cast<uint8_t>(exponent_bits)),
        mantissa_bits_(static_cast<uint8_t>(mantissa_bits)) {}

  TypeKind kind_ = TypeKind::kUInt;
  uint8_t bits_ = 8;
  uint8_t exponent_bits_ = 0;
  uint8_t mantissa_bits_ = 0;
};
static_assert(sizeof(DataType) <= 8);

inline constexpr DataType kBool = DataType::Bool();
inline constexpr DataType kU8 = DataType::UInt(8);
inline constexpr DataType kU16 = DataType::UInt(16);
inline constexpr DataType kU32 = DataType::UInt(32);
inline constexpr DataType kU64 = DataType::UInt(64);
inline constexpr DataType kI8 = DataType::Int(8);
inline constexpr DataType kI16 = DataType::Int(16);
inline constexpr DataType kI32 = DataType::Int(32);
inline constexpr DataType kI64 = DataType::Int(64);
inline constexpr DataType kF16 = DataType::Float(5, 10);
inline constexpr DataType kBF16 = DataType::Float(8, 7);
inline constexpr DataType kTF32 = DataType::Float(8, 10);
inline constexpr DataType kF32 = DataType::Float(8, 23);
inline constexpr DataType kF64 = DataType::Float(11, 52);
inline constexpr DataType kF8E8M0 = DataType::Scale();
inline constexpr DataType kF8E4M3 = DataType::Float(4, 3);
inline constexpr DataType kF8E5M2 = DataType::Float(5, 2);

// The type of a name, exactly as name() spells it. Errors: kUnknownType, kTypeWidth,
// kTypeFloatFormat, each with the types that do exist as the hint.
absl::StatusOr<DataType> ParseDataType(absl::string_view name);

// Every type that programs may name: bool, u1..u16, u32, u64, i1..i16, i32, i64, the 27 small
// floats by width, f8e8m0, f16, bf16, tf32, f32, f64.
std::vector<DataType> AllDataTypes();

}  // namespace tilus

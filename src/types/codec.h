// What codes mean, and the conversion of every type to every other.
//
//   to                       from     rule
//   f16 bf16 tf32 f32 f64    any      nearest even; overflow, infinity -> infinity; NaN ->
//                                     canonical NaN (positive, quiet)
//   floats of <= 8 bits      any      nearest even; overflow, infinity -> largest finite; NaN ->
//                                     7f (f8e4m3, f8e5m2), largest positive (no NaN)
//   f8e8m0                   any      nearest power of two, ties to the even code; zero, negative
//                                     or below range -> 00; above range -> fe; NaN -> ff
//   integers                 float    toward zero, saturating; NaN -> 0
//   integers                 integer  the low bits of the value
//   bool                     any      x != 0 (NaN is true)
//   any                      bool     0 or 1
//
// The rules hold between equal types too: f8e5m2 -> f8e5m2 makes infinity the largest finite.
// Every conversion rounds once, from the exact value. Bits of an argument above the width of its
// type are ignored, and so are the low 13 bits of a tf32 code (the tensor cores ignore them).
// Results have no bits above their width.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "types/data_type.h"

namespace tilus {

// The low `bits` bits set, 0 <= bits <= 64.
constexpr uint64_t LowBits(int bits) {
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}
// The bits that a code of this type may have.
constexpr uint64_t CodeMask(DataType type) { return LowBits(type.bits()); }

// The code that stands for `code`'s value where several do: surplus bits cleared, bool 0 or 1,
// tf32 without its low bits, NaN the canonical one. Values, infinities and signs of zero stay.
uint64_t CanonicalCode(DataType type, uint64_t code);

// Codes of special values of float types. The canonical NaN, or the largest positive for a type
// without NaN: what a NaN converts to.
uint64_t NanCode(DataType type);
// Infinity of that sign, or the largest finite where the conversion to the type saturates.
uint64_t OverflowCode(DataType type, bool negative);
// The largest finite value, of either sign (00 for a negative f8e8m0).
uint64_t LargestFiniteCode(DataType type, bool negative);
// False for integers and bool.
bool IsNan(DataType type, uint64_t code);

// The value of an integer or bool, sign-extended; u64 modulo 2^64.
int64_t DecodeToInt64(DataType type, uint64_t code);
inline uint64_t DecodeToUInt64(DataType type, uint64_t code) {
  return static_cast<uint64_t>(DecodeToInt64(type, code));
}

// Exact for every type but 64-bit integers of more than 53 significant bits (nearest even).
double DecodeToDouble(DataType type, uint64_t code);
// The f32 pattern of the value; rounded for f64 and wide integers.
uint32_t DecodeToF32Bits(DataType type, uint64_t code);
float DecodeToFloat(DataType type, uint64_t code);

// ConvertCode from f64, f32, i64, u64.
uint64_t EncodeFromDouble(DataType type, double value);
uint64_t EncodeFromFloat(DataType type, float value);
uint64_t EncodeFromInt64(DataType type, int64_t value);
uint64_t EncodeFromUInt64(DataType type, uint64_t value);

// The whole table above.
uint64_t ConvertCode(DataType from, DataType to, uint64_t code);

// ConvertCode for many codes: sources of at most 16 bits go through a table made at construction
// (2^bits conversions; a millisecond at most).
class Converter {
 public:
  Converter(DataType from, DataType to);

  DataType from() const { return from_; }
  DataType to() const { return to_; }
  uint64_t operator()(uint64_t code) const {
    return table_.empty() ? ConvertCode(from_, to_, code) : table_[code & mask_];
  }
  // Converts min(codes.size(), out.size()) codes; the two may be the same span.
  void Convert(absl::Span<const uint64_t> codes, absl::Span<uint64_t> out) const;

 private:
  DataType from_;
  DataType to_;
  uint64_t mask_;
  std::vector<uint64_t> table_;
};

}  // namespace tilus

// Scalar arithmetic on codes: what each operation means on each type, bit for bit. Interpreter,
// simulator and constant folding all compute through these functions.
//
// Integers (any width) wrap. Division and remainder truncate; x / 0 = 0, x % 0 = x,
//   INT_MIN / -1 = INT_MIN, INT_MIN % -1 = 0. A shift count is taken as unsigned; by the width or
//   more the result is 0, for an arithmetic right shift the sign.
// f32, f64: IEEE, nearest even; fma rounds once; mod is C fmod (the sign of the dividend).
// f16, bf16: add, sub, mul and fma are one correctly rounded operation; all others are the f32
//   operation, then rounded.
// Other floats (8 bits and narrower, f8e8m0, tf32): the f32 operation, then converted back by the
//   table of codec.h (so they saturate where that does).
// min, max: the other operand if one is NaN; -0 is below +0. clip(x, lo, hi) = min(max(x, lo), hi).
// Comparisons with NaN are false, `ne` is true. Every NaN result is the canonical one.
// exp .. tanh: f32 within one ulp of the correctly rounded result, by way of f64. sqrt is correctly
//   rounded. round: to an integral value, ties to even.
// bool: and, or, xor, not are logical; false < true.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "types/data_type.h"

namespace tilus {

enum class ScalarOp : uint8_t {
#define TILUS_SCALAR_OP(op, name, arity, families, result) op,
#include "types/scalar_ops.def"
#undef TILUS_SCALAR_OP
};

// Sets of type families, for ScalarOpInfo.
enum TypeFamilies : uint8_t {
  kBools = 1,
  kIntegers = 2,
  kFloats = 4,  // with the scale type
  kNumbers = kIntegers | kFloats,
  kBitwise = kBools | kIntegers,
  kAnyFamily = kBools | kIntegers | kFloats,
};
enum class ScalarResult : uint8_t { kSameType, kBoolResult };

struct ScalarOpInfo {
  ScalarOp op;
  absl::string_view name;
  int arity;  // operands, all of one type
  TypeFamilies families;
  ScalarResult result;
};

const ScalarOpInfo& GetScalarOpInfo(ScalarOp op);
absl::Span<const ScalarOpInfo> AllScalarOps();
std::optional<ScalarOp> ParseScalarOp(absl::string_view name);

// Whether the operation is defined on operands of `type`.
bool IsScalarOpAllowed(ScalarOp op, DataType type);
// The type of the result: `type` or bool.
DataType ScalarOpResultType(ScalarOp op, DataType type);

// The function of an operation on operands of a type, to be found once outside a loop. It takes
// the type it was found for. nullptr when not allowed or of another arity.
using UnaryFunction = uint64_t (*)(DataType type, uint64_t a);
using BinaryFunction = uint64_t (*)(DataType type, uint64_t a, uint64_t b);
using TernaryFunction = uint64_t (*)(DataType type, uint64_t a, uint64_t b, uint64_t c);
UnaryFunction FindUnary(ScalarOp op, DataType type);
BinaryFunction FindBinary(ScalarOp op, DataType type);
TernaryFunction FindTernary(ScalarOp op, DataType type);

// The code of the result. The operation must be allowed on `type` and have this arity; otherwise
// the answer is 0. Bits of operands above the type's width are ignored.
uint64_t EvaluateUnary(ScalarOp op, DataType type, uint64_t a);
uint64_t EvaluateBinary(ScalarOp op, DataType type, uint64_t a, uint64_t b);
uint64_t EvaluateTernary(ScalarOp op, DataType type, uint64_t a, uint64_t b, uint64_t c);

}  // namespace tilus

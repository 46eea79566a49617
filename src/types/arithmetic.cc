#include "types/arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "types/codec.h"
#include "types/half.h"

namespace tilus {
namespace {

constexpr TypeFamilies FamilyOf(DataType type) {
  if (type.is_bool()) return kBools;
  return type.is_integer() ? kIntegers : kFloats;
}

// ---- How operands are read and results written ---------------------------------------------
// A domain is a C++ type that computes, with Load and Store between it and codes. DomainOf says
// which data types it serves.

struct BoolDomain {
  using Value = bool;
  static Value Load(DataType type, uint64_t code) { return (code & CodeMask(type)) != 0; }
  static uint64_t Store(DataType, Value value) { return value; }
};

// Signed and unsigned values of any width, in 64 bits.
struct SignedDomain {
  using Value = int64_t;
  static Value Load(DataType type, uint64_t code) { return DecodeToInt64(type, code); }
  static uint64_t Store(DataType type, Value value) {
    return static_cast<uint64_t>(value) & CodeMask(type);
  }
};

struct UnsignedDomain {
  using Value = uint64_t;
  static Value Load(DataType type, uint64_t code) { return code & CodeMask(type); }
  static uint64_t Store(DataType type, Value value) { return value & CodeMask(type); }
};

struct F32Domain {
  using Value = float;
  static Value Load(DataType, uint64_t code) {
    return std::bit_cast<float>(static_cast<uint32_t>(code));
  }
  static uint64_t Store(DataType, Value value) {
    return std::isnan(value) ? 0x7fc00000 : std::bit_cast<uint32_t>(value);
  }
};

struct F64Domain {
  using Value = double;
  static Value Load(DataType, uint64_t code) { return std::bit_cast<double>(code); }
  static uint64_t Store(DataType, Value value) {
    return std::isnan(value) ? 0x7ff8000000000000 : std::bit_cast<uint64_t>(value);
  }
};

// f32 operations on f16 and bf16. add, sub and mul come out correctly rounded: f32 has 24 >= 2p + 2
// bits, so rounding to f32 first does not change the second rounding. (Where a bf16 product is
// subnormal, its at most 16 bits fit above 2^-149 unless it is below half the least bf16.)
struct F16Domain {
  using Value = float;
  static Value Load(DataType, uint64_t code) { return F16ToF32(static_cast<uint16_t>(code)); }
  static uint64_t Store(DataType, Value value) { return F32ToF16(value); }
};

struct BF16Domain {
  using Value = float;
  static Value Load(DataType, uint64_t code) { return BF16ToF32(static_cast<uint16_t>(code)); }
  static uint64_t Store(DataType, Value value) { return F32ToBF16(value); }
};

// tf32, f8e8m0 and the small floats.
struct ThroughF32Domain {
  using Value = float;
  static Value Load(DataType type, uint64_t code) { return DecodeToFloat(type, code); }
  static uint64_t Store(DataType type, Value value) { return EncodeFromFloat(type, value); }
};

template <typename Domain>
constexpr bool kIsFloatDomain = std::is_floating_point_v<typename Domain::Value>;
template <typename Domain>
constexpr bool kIsIntegerDomain =
    std::is_integral_v<typename Domain::Value> && !std::is_same_v<typename Domain::Value, bool>;

// ---- Operations ------------------------------------------------------------------------------

template <typename F>
F FloatMin(F a, F b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <typename F>
F FloatMax(F a, F b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

// x + y rounded to odd: rounding the result again, to at most 51 bits, gives x + y rounded once.
double AddRoundToOdd(double x, double y) {
  const double sum = x + y;
  if (!std::isfinite(sum)) return sum;
  const double y_part = sum - x;
  const double error = (x - (sum - y_part)) + (y - y_part);  // sum + error = x + y exactly
  const uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || (bits & 1)) return sum;
  // The odd neighbour on the side of the exact value; sum is not 0, since error is not.
  const bool away_from_zero = (error > 0) == (sum > 0);
  return std::bit_cast<double>(away_from_zero ? bits + 1 : bits - 1);
}

template <ScalarOp kOp, typename F>
F FloatUnary(F x) {
  // The functions of f32 are computed in f64 and rounded.
  const double wide = x;
  switch (kOp) {
    case ScalarOp::kNeg:
      return -x;
    case ScalarOp::kAbs:
      return std::fabs(x);
    case ScalarOp::kExp:
      return static_cast<F>(std::exp(wide));
    case ScalarOp::kExp2:
      return static_cast<F>(std::exp2(wide));
    case ScalarOp::kLog:
      return static_cast<F>(std::log(wide));
    case ScalarOp::kLog2:
      return static_cast<F>(std::log2(wide));
    case ScalarOp::kSqrt:
      return std::sqrt(x);
    case ScalarOp::kRsqrt:
      return static_cast<F>(1.0 / std::sqrt(wide));
    case ScalarOp::kSin:
      return static_cast<F>(std::sin(wide));
    case ScalarOp::kCos:
      return static_cast<F>(std::cos(wide));
    case ScalarOp::kTanh:
      return static_cast<F>(std::tanh(wide));
    case ScalarOp::kRound:
      return std::nearbyint(x);
    default:
      return F{};
  }
}

template <ScalarOp kOp, typename F>
F FloatBinary(F a, F b) {
  switch (kOp) {
    case ScalarOp::kAdd:
      return a + b;
    case ScalarOp::kSub:
      return a - b;
    case ScalarOp::kMul:
      return a * b;
    case ScalarOp::kDiv:
      return a / b;
    case ScalarOp::kMod:
      return std::fmod(a, b);
    case ScalarOp::kMin:
      return FloatMin(a, b);
    case ScalarOp::kMax:
      return FloatMax(a, b);
    default:
      return F{};
  }
}

template <ScalarOp kOp, typename V>
V IntegerUnary(V x) {
  switch (kOp) {
    case ScalarOp::kNeg:
      return static_cast<V>(0 - static_cast<uint64_t>(x));
    case ScalarOp::kAbs:
      return x < V{0} ? static_cast<V>(0 - static_cast<uint64_t>(x)) : x;
    case ScalarOp::kNot:
      return ~x;
    default:
      return V{};
  }
}

template <typename V>
V IntegerDivide(V a, V b) {
  if (b == 0) return 0;
  if (std::is_signed_v<V> && b == static_cast<V>(-1)) return IntegerUnary<ScalarOp::kNeg>(a);
  return a / b;
}

template <typename V>
V IntegerRemainder(V a, V b) {
  if (b == 0) return a;
  if (std::is_signed_v<V> && b == static_cast<V>(-1)) return 0;
  return a % b;
}

template <ScalarOp kOp, typename V>
V IntegerBinary(V a, V b) {
  const uint64_t x = static_cast<uint64_t>(a);
  const uint64_t y = static_cast<uint64_t>(b);
  switch (kOp) {
    case ScalarOp::kAdd:
      return static_cast<V>(x + y);
    case ScalarOp::kSub:
      return static_cast<V>(x - y);
    case ScalarOp::kMul:
      return static_cast<V>(x * y);
    case ScalarOp::kDiv:
      return IntegerDivide(a, b);
    case ScalarOp::kMod:
      return IntegerRemainder(a, b);
    case ScalarOp::kMin:
      return std::min(a, b);
    case ScalarOp::kMax:
      return std::max(a, b);
    case ScalarOp::kAnd:
      return static_cast<V>(x & y);
    case ScalarOp::kOr:
      return static_cast<V>(x | y);
    case ScalarOp::kXor:
      return static_cast<V>(x ^ y);
    default:
      return V{};
  }
}

// The count is the unsigned value of the code: a negative count is at least the width.
template <ScalarOp kOp, typename V>
V IntegerShift(DataType type, V value, uint64_t count) {
  const uint64_t width = static_cast<uint64_t>(type.bits());
  if (kOp == ScalarOp::kShl) {
    return count >= width ? V{0} : static_cast<V>(static_cast<uint64_t>(value) << count);
  }
  if (count >= width) return value < V{0} ? static_cast<V>(-1) : V{0};
  return value >> count;
}

template <ScalarOp kOp, typename V>
bool Compare(V a, V b) {
  switch (kOp) {
    case ScalarOp::kEq:
      return a == b;
    case ScalarOp::kNe:
      return a != b;
    case ScalarOp::kLt:
      return a < b;
    case ScalarOp::kLe:
      return a <= b;
    case ScalarOp::kGt:
      return a > b;
    case ScalarOp::kGe:
      return a >= b;
    default:
      return false;
  }
}

template <ScalarOp kOp>
bool BoolBinary(bool a, bool b) {
  switch (kOp) {
    case ScalarOp::kAnd:
    case ScalarOp::kMin:
      return a && b;
    case ScalarOp::kOr:
    case ScalarOp::kMax:
      return a || b;
    case ScalarOp::kXor:
      return a != b;
    default:
      return false;
  }
}

// ---- The functions of the table ----------------------------------------------------------------

constexpr bool IsCompare(ScalarOp op) { return op >= ScalarOp::kEq && op <= ScalarOp::kGe; }
constexpr bool IsShift(ScalarOp op) { return op == ScalarOp::kShl || op == ScalarOp::kShr; }

template <ScalarOp kOp, typename Domain>
uint64_t Unary(DataType type, uint64_t a) {
  const auto x = Domain::Load(type, a);
  if constexpr (kIsFloatDomain<Domain>) {
    return Domain::Store(type, FloatUnary<kOp>(x));
  } else if constexpr (kIsIntegerDomain<Domain>) {
    return Domain::Store(type, IntegerUnary<kOp>(x));
  } else {
    return Domain::Store(type, !x);
  }
}

template <ScalarOp kOp, typename Domain>
uint64_t Binary(DataType type, uint64_t a, uint64_t b) {
  const auto x = Domain::Load(type, a);
  if constexpr (IsShift(kOp) && kIsIntegerDomain<Domain>) {
    return Domain::Store(type, IntegerShift<kOp>(type, x, b & CodeMask(type)));
  }
  const auto y = Domain::Load(type, b);
  if constexpr (IsCompare(kOp)) {
    return Compare<kOp>(x, y);
  } else if constexpr (kIsFloatDomain<Domain>) {
    return Domain::Store(type, FloatBinary<kOp>(x, y));
  } else if constexpr (kIsIntegerDomain<Domain>) {
    return Domain::Store(type, IntegerBinary<kOp>(x, y));
  } else {
    return Domain::Store(type, BoolBinary<kOp>(x, y));
  }
}

template <typename Domain>
uint64_t Fma(DataType type, uint64_t a, uint64_t b, uint64_t c) {
  const auto x = Domain::Load(type, a);
  const auto y = Domain::Load(type, b);
  const auto z = Domain::Load(type, c);
  if constexpr (std::is_same_v<Domain, F16Domain> || std::is_same_v<Domain, BF16Domain>) {
    // The product of two 11-bit significands is exact in f64.
    return EncodeFromDouble(type, AddRoundToOdd(static_cast<double>(x) * y, z));
  } else if constexpr (kIsFloatDomain<Domain>) {
    return Domain::Store(type, std::fma(x, y, z));
  } else {
    return Binary<ScalarOp::kAdd, Domain>(type, Binary<ScalarOp::kMul, Domain>(type, a, b), c);
  }
}

template <ScalarOp kOp, typename Domain>
uint64_t Ternary(DataType type, uint64_t a, uint64_t b, uint64_t c) {
  if constexpr (kOp == ScalarOp::kFma) {
    return Fma<Domain>(type, a, b, c);
  } else {
    const uint64_t raised = Binary<ScalarOp::kMax, Domain>(type, a, b);
    return Binary<ScalarOp::kMin, Domain>(type, raised, c);
  }
}

// The functions of one operation, those of its arity, one in each domain where it is allowed.
struct Functions {
  UnaryFunction unary = nullptr;
  BinaryFunction binary = nullptr;
  TernaryFunction ternary = nullptr;
};

template <ScalarOp kOp, int kArity, TypeFamilies kFamilies, typename Domain>
constexpr Functions FunctionsIn() {
  constexpr TypeFamilies family =
      kIsFloatDomain<Domain> ? kFloats : kIsIntegerDomain<Domain> ? kIntegers : kBools;
  Functions functions;
  if constexpr ((kFamilies & family) == 0) {
    return functions;
  } else if constexpr (kArity == 1) {
    functions.unary = Unary<kOp, Domain>;
  } else if constexpr (kArity == 2) {
    functions.binary = Binary<kOp, Domain>;
  } else {
    functions.ternary = Ternary<kOp, Domain>;
  }
  return functions;
}

enum DomainIndex { kBoolD, kSignedD, kUnsignedD, kF32D, kF64D, kF16D, kBF16D, kThroughF32D };

struct OpRow {
  Functions domains[kThroughF32D + 1];
};

template <ScalarOp kOp, int kArity, TypeFamilies kFamilies>
constexpr OpRow MakeRow() {
  return {{FunctionsIn<kOp, kArity, kFamilies, BoolDomain>(),
           FunctionsIn<kOp, kArity, kFamilies, SignedDomain>(),
           FunctionsIn<kOp, kArity, kFamilies, UnsignedDomain>(),
           FunctionsIn<kOp, kArity, kFamilies, F32Domain>(),
           FunctionsIn<kOp, kArity, kFamilies, F64Domain>(),
           FunctionsIn<kOp, kArity, kFamilies, F16Domain>(),
           FunctionsIn<kOp, kArity, kFamilies, BF16Domain>(),
           FunctionsIn<kOp, kArity, kFamilies, ThroughF32Domain>()}};
}

constexpr OpRow kRows[] = {
#define TILUS_SCALAR_OP(op, name, arity, families, result) \
  MakeRow<ScalarOp::op, arity, families>(),
#include "types/scalar_ops.def"
#undef TILUS_SCALAR_OP
};

constexpr ScalarOpInfo kInfos[] = {
#define TILUS_SCALAR_OP(op, name, arity, families, result) \
  {ScalarOp::op, name, arity, families, ScalarResult::result},
#include "types/scalar_ops.def"
#undef TILUS_SCALAR_OP
};

DomainIndex DomainOf(DataType type) {
  if (type.is_bool()) return kBoolD;
  if (type.kind() == TypeKind::kInt) return kSignedD;
  if (type.kind() == TypeKind::kUInt) return kUnsignedD;
  if (type == kF32) return kF32D;
  if (type == kF64) return kF64D;
  if (type == kF16) return kF16D;
  if (type == kBF16) return kBF16D;
  return kThroughF32D;
}

const Functions& FunctionsOf(ScalarOp op, DataType type) {
  return kRows[static_cast<size_t>(op)].domains[DomainOf(type)];
}

}  // namespace

const ScalarOpInfo& GetScalarOpInfo(ScalarOp op) { return kInfos[static_cast<size_t>(op)]; }

absl::Span<const ScalarOpInfo> AllScalarOps() { return kInfos; }

std::optional<ScalarOp> ParseScalarOp(absl::string_view name) {
  for (const ScalarOpInfo& info : kInfos) {
    if (info.name == name) return info.op;
  }
  return std::nullopt;
}

bool IsScalarOpAllowed(ScalarOp op, DataType type) {
  return (GetScalarOpInfo(op).families & FamilyOf(type)) != 0;
}

DataType ScalarOpResultType(ScalarOp op, DataType type) {
  return GetScalarOpInfo(op).result == ScalarResult::kBoolResult ? kBool : type;
}

UnaryFunction FindUnary(ScalarOp op, DataType type) { return FunctionsOf(op, type).unary; }
BinaryFunction FindBinary(ScalarOp op, DataType type) { return FunctionsOf(op, type).binary; }
TernaryFunction FindTernary(ScalarOp op, DataType type) { return FunctionsOf(op, type).ternary; }

uint64_t EvaluateUnary(ScalarOp op, DataType type, uint64_t a) {
  const UnaryFunction function = FindUnary(op, type);
  return function ? function(type, a) : 0;
}

uint64_t EvaluateBinary(ScalarOp op, DataType type, uint64_t a, uint64_t b) {
  const BinaryFunction function = FindBinary(op, type);
  return function ? function(type, a, b) : 0;
}

uint64_t EvaluateTernary(ScalarOp op, DataType type, uint64_t a, uint64_t b, uint64_t c) {
  const TernaryFunction function = FindTernary(op, type);
  return function ? function(type, a, b, c) : 0;
}

}  // namespace tilus

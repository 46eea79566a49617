#include "machine/evaluate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace tilus::machine {
namespace {

using Answer = std::optional<uint64_t>;

// Integers of type T out of and into bits.
template <typename T>
T In(uint64_t bits) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(bits));
}
template <typename T>
uint64_t Out(T v) {
  return static_cast<std::make_unsigned_t<T>>(v);
}

template <typename T>
Answer Divide(uint64_t a, uint64_t b) {
  const T x = In<T>(a), y = In<T>(b);
  if (y == 0) return std::nullopt;
  if constexpr (std::is_signed_v<T>) {
    if (y == -1) return Out<T>(static_cast<T>(std::make_unsigned_t<T>(0) - Out<T>(x)));
  }
  return Out<T>(static_cast<T>(x / y));
}

template <typename T>
Answer Remainder(uint64_t a, uint64_t b) {
  const T x = In<T>(a), y = In<T>(b);
  if (y == 0) return std::nullopt;
  if constexpr (std::is_signed_v<T>) {
    if (y == -1) return 0;
  }
  return Out<T>(static_cast<T>(x % y));
}

template <typename T>
uint64_t MulHi(uint64_t a, uint64_t b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  const Wide product = static_cast<Wide>(In<T>(a)) * static_cast<Wide>(In<T>(b));
  return Out<T>(static_cast<T>(product >> (8 * sizeof(T))));
}

template <typename T>
uint64_t ShiftLeft(uint64_t a, uint32_t n) {
  return n >= 8 * sizeof(T) ? 0 : Out<T>(static_cast<T>(In<T>(a) << n));
}

template <typename T>
uint64_t ShiftRight(uint64_t a, uint32_t n) {
  constexpr uint32_t kBits = 8 * sizeof(T);
  if constexpr (std::is_signed_v<T>) {
    return Out<T>(static_cast<T>(In<T>(a) >> std::min(n, kBits - 1)));
  }
  return n >= kBits ? 0 : Out<T>(static_cast<T>(In<T>(a) >> n));
}

uint64_t Funnel(Op op, uint64_t low, uint64_t high, uint32_t n) {
  const bool wrap = op == Op::kShfLWrapB32 || op == Op::kShfRWrapB32;
  const bool left = op == Op::kShfLWrapB32 || op == Op::kShfLClampB32;
  n = wrap ? n & 31 : std::min<uint32_t>(n, 32);
  const uint64_t both = high << 32 | low;
  return static_cast<uint32_t>(left ? both >> (32 - n) : both >> n);
}

uint64_t Lop3(uint64_t a, uint64_t b, uint64_t c, uint64_t table) {
  uint32_t result = 0;
  for (int row = 0; row < 8; ++row) {
    if ((table >> row & 1) == 0) continue;
    result |= static_cast<uint32_t>((row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c));
  }
  return result;
}

uint64_t Permute(uint64_t a, uint64_t b, uint64_t selector) {
  const uint64_t bytes = b << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint64_t pick = selector >> (4 * i) & 15;
    uint32_t byte = bytes >> (8 * (pick & 7)) & 0xff;
    if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

// PTX bfe: bits past the word are the sign (or zero); position and length are taken modulo 256.
uint64_t ExtractField(uint32_t a, uint32_t position, uint32_t length, bool is_signed) {
  position &= 255;
  length &= 255;
  const uint32_t top = std::min<uint32_t>(position + length - 1, 31);
  const bool sign = is_signed && length != 0 && (a >> top & 1);
  uint32_t result = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    const bool bit = i < length && position + i <= 31 ? (a >> (position + i) & 1) : sign;
    result |= static_cast<uint32_t>(bit) << i;
  }
  return result;
}

uint64_t InsertField(uint32_t field, uint32_t into, uint32_t position, uint32_t length) {
  position &= 255;
  length &= 255;
  for (uint32_t i = 0; i < length && position + i < 32; ++i) {
    const uint32_t mask = uint32_t{1} << (position + i);
    into = (field >> i & 1) ? into | mask : into & ~mask;
  }
  return into;
}

template <typename T>
Answer CompareIntegers(Compare compare, uint64_t a, uint64_t b) {
  const T x = In<T>(a), y = In<T>(b);
  switch (compare) {
    case Compare::kEq: return x == y;
    case Compare::kNe: return x != y;
    case Compare::kLt: return x < y;
    case Compare::kLe: return x <= y;
    case Compare::kGt: return x > y;
    case Compare::kGe: return x >= y;
    default: return std::nullopt;
  }
}

// Floats of type F out of and into bits; a NaN is not folded.
template <typename F>
using BitsFor = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;
template <typename F>
F Float(uint64_t bits) {
  return std::bit_cast<F>(static_cast<BitsFor<F>>(bits));
}
template <typename F>
Answer Bits(F v) {
  if (std::isnan(v)) return std::nullopt;
  return std::bit_cast<BitsFor<F>>(v);
}

template <typename F>
Answer CompareFloats(Compare compare, uint64_t a, uint64_t b) {
  const F x = Float<F>(a), y = Float<F>(b);
  const bool unordered = std::isnan(x) || std::isnan(y);
  switch (compare) {
    case Compare::kEq: return x == y;
    case Compare::kNe: return !unordered && x != y;
    case Compare::kLt: return x < y;
    case Compare::kLe: return x <= y;
    case Compare::kGt: return x > y;
    case Compare::kGe: return x >= y;
    case Compare::kNeu: return x != y;
    case Compare::kNum: return !unordered;
    case Compare::kNan: return unordered;
    default: return std::nullopt;
  }
}

// min or max; zeros of either sign are left to the target.
template <typename F>
Answer Extreme(uint64_t a, uint64_t b, bool want_max) {
  const F x = Float<F>(a), y = Float<F>(b);
  if (std::isnan(x) || std::isnan(y) || (x == 0 && y == 0)) return std::nullopt;
  return Bits<F>(want_max ? std::max(x, y) : std::min(x, y));
}

// A value of an integer type, from the low bits of a register, as the mathematical integer.
__int128 Integer(Type type, uint64_t bits) {
  const int width = BitsOf(type);
  const uint64_t low = width == 64 ? bits : bits & ((uint64_t{1} << width) - 1);
  if (!IsSigned(type)) return static_cast<__int128>(low);
  return static_cast<int64_t>(low << (64 - width)) >> (64 - width);
}

// The register bits of an integer type: its low bits, extended to the register.
uint64_t RegisterBits(Type type, __int128 value) {
  const __int128 kept = Integer(type, static_cast<uint64_t>(value));
  return BitsOf(type) == 64 ? static_cast<uint64_t>(kept) : static_cast<uint32_t>(kept);
}

Answer ConvertInteger(const Modifiers& mods, uint64_t bits) {
  __int128 value = Integer(mods.from, bits);
  if (mods.saturate) {
    const __int128 one = 1;
    const int width = BitsOf(mods.type);
    const __int128 low = IsSigned(mods.type) ? -(one << (width - 1)) : 0;
    const __int128 high = (one << (IsSigned(mods.type) ? width - 1 : width)) - 1;
    value = std::clamp(value, low, high);
  }
  return RegisterBits(mods.type, value);
}

Answer Convert(const Modifiers& mods, uint64_t bits) {
  if (IsInteger(mods.type) && IsInteger(mods.from)) return ConvertInteger(mods, bits);
  if (mods.saturate) return std::nullopt;
  const bool nearest = mods.round == Round::kRn;
  if (IsInteger(mods.from) && nearest) {
    // A 64-bit integer converts in one rounding either way.
    const __int128 value = Integer(mods.from, bits);
    const auto as = [&](auto zero) {
      using F = decltype(zero);
      return Bits<F>(IsSigned(mods.from) ? static_cast<F>(static_cast<int64_t>(value))
                                         : static_cast<F>(static_cast<uint64_t>(value)));
    };
    if (mods.type == Type::kF32) return as(0.0f);
    if (mods.type == Type::kF64) return as(0.0);
  }
  if (mods.type == Type::kF64 && mods.from == Type::kF32) return Bits<double>(Float<float>(bits));
  if (mods.type == Type::kF32 && mods.from == Type::kF64 && nearest) {
    return Bits<float>(static_cast<float>(Float<double>(bits)));
  }
  return std::nullopt;
}

Answer EvaluateFloat(Op op, const Modifiers& mods, absl::Span<const uint64_t> s) {
  const auto f = [&](int i) { return Float<float>(s[i]); };
  const auto d = [&](int i) { return Float<double>(s[i]); };
  switch (op) {
    case Op::kAddF32: return Bits<float>(f(0) + f(1));
    case Op::kSubF32: return Bits<float>(f(0) - f(1));
    case Op::kMulF32: return Bits<float>(f(0) * f(1));
    case Op::kFmaF32: return Bits<float>(std::fma(f(0), f(1), f(2)));
    case Op::kDivRnF32: return Bits<float>(f(0) / f(1));
    case Op::kSqrtRnF32: return Bits<float>(std::sqrt(f(0)));
    case Op::kRcpRnF32: return Bits<float>(1.0f / f(0));
    case Op::kMinF32: return Extreme<float>(s[0], s[1], false);
    case Op::kMaxF32: return Extreme<float>(s[0], s[1], true);
    case Op::kAbsF32: return Bits<float>(std::fabs(f(0)));
    case Op::kNegF32: return Bits<float>(-f(0));
    case Op::kAddF64: return Bits<double>(d(0) + d(1));
    case Op::kSubF64: return Bits<double>(d(0) - d(1));
    case Op::kMulF64: return Bits<double>(d(0) * d(1));
    case Op::kFmaF64: return Bits<double>(std::fma(d(0), d(1), d(2)));
    case Op::kDivRnF64: return Bits<double>(d(0) / d(1));
    case Op::kSqrtRnF64: return Bits<double>(std::sqrt(d(0)));
    case Op::kMinF64: return Extreme<double>(s[0], s[1], false);
    case Op::kMaxF64: return Extreme<double>(s[0], s[1], true);
    case Op::kAbsF64: return Bits<double>(std::fabs(d(0)));
    case Op::kNegF64: return Bits<double>(-d(0));
    case Op::kSetpF32: return CompareFloats<float>(mods.compare, s[0], s[1]);
    case Op::kSetpF64: return CompareFloats<double>(mods.compare, s[0], s[1]);
    case Op::kCvt: return Convert(mods, s[0]);
    default: return std::nullopt;
  }
}

Answer EvaluateBits(Op op, absl::Span<const uint64_t> s) {
  const auto amount = [&](int i) { return static_cast<uint32_t>(s[i]); };
  switch (op) {
    case Op::kAndB32: case Op::kAndB64: case Op::kAndPred: return s[0] & s[1];
    case Op::kOrB32: case Op::kOrB64: case Op::kOrPred: return s[0] | s[1];
    case Op::kXorB32: case Op::kXorB64: case Op::kXorPred: return s[0] ^ s[1];
    case Op::kNotPred: return s[0] ^ 1;
    case Op::kNotB32: return static_cast<uint32_t>(~s[0]);
    case Op::kNotB64: return ~s[0];
    case Op::kShlB32: return ShiftLeft<uint32_t>(s[0], amount(1));
    case Op::kShlB64: return ShiftLeft<uint64_t>(s[0], amount(1));
    case Op::kShrU32: return ShiftRight<uint32_t>(s[0], amount(1));
    case Op::kShrS32: return ShiftRight<int32_t>(s[0], amount(1));
    case Op::kShrU64: return ShiftRight<uint64_t>(s[0], amount(1));
    case Op::kShrS64: return ShiftRight<int64_t>(s[0], amount(1));
    case Op::kShfLWrapB32: case Op::kShfLClampB32: case Op::kShfRWrapB32: case Op::kShfRClampB32:
      return Funnel(op, s[0], s[1], amount(2));
    case Op::kLop3B32: return Lop3(s[0], s[1], s[2], s[3]);
    case Op::kPrmtB32: return Permute(s[0], s[1], s[2]);
    case Op::kBfeU32: return ExtractField(amount(0), amount(1), amount(2), false);
    case Op::kBfeS32: return ExtractField(amount(0), amount(1), amount(2), true);
    case Op::kBfiB32: return InsertField(amount(0), amount(1), amount(2), amount(3));
    case Op::kPopcB32: return static_cast<uint64_t>(std::popcount(amount(0)));
    case Op::kClzB32: return static_cast<uint64_t>(std::countl_zero(amount(0)));
    case Op::kBrevB32: {
      uint32_t result = 0;
      for (int i = 0; i < 32; ++i) result |= (amount(0) >> i & 1) << (31 - i);
      return result;
    }
    case Op::kPackB32: return (s[1] & 0xffff) << 16 | (s[0] & 0xffff);
    case Op::kPackB64: return s[1] << 32 | static_cast<uint32_t>(s[0]);
    case Op::kExtendB16: case Op::kTruncateB32: return s[0] & 0xffff;
    case Op::kSelpB16: case Op::kSelpB32: case Op::kSelpB64: return s[2] & 1 ? s[0] : s[1];
    default: return std::nullopt;
  }
}

Answer EvaluateInteger(Op op, const Modifiers& mods, absl::Span<const uint64_t> s) {
  const auto word = [](uint64_t v) -> uint64_t { return static_cast<uint32_t>(v); };
  const auto wide_s = [&] {
    return static_cast<uint64_t>(int64_t{In<int32_t>(s[0])} * In<int32_t>(s[1]));
  };
  switch (op) {
    case Op::kAddS32: return word(s[0] + s[1]);
    case Op::kAddS64: return s[0] + s[1];
    case Op::kSubS32: return word(s[0] - s[1]);
    case Op::kSubS64: return s[0] - s[1];
    case Op::kMulLoS32: return word(s[0] * s[1]);
    case Op::kMulLoS64: return s[0] * s[1];
    case Op::kMulHiS32: return MulHi<int32_t>(s[0], s[1]);
    case Op::kMulHiU32: return MulHi<uint32_t>(s[0], s[1]);
    case Op::kMulHiS64: return MulHi<int64_t>(s[0], s[1]);
    case Op::kMulHiU64: return MulHi<uint64_t>(s[0], s[1]);
    case Op::kMulWideS32: return wide_s();
    case Op::kMulWideU32: return word(s[0]) * word(s[1]);
    case Op::kMadLoS32: return word(s[0] * s[1] + s[2]);
    case Op::kMadLoS64: return s[0] * s[1] + s[2];
    case Op::kMadWideS32: return wide_s() + s[2];
    case Op::kMadWideU32: return word(s[0]) * word(s[1]) + s[2];
    case Op::kDivS32: return Divide<int32_t>(s[0], s[1]);
    case Op::kDivU32: return Divide<uint32_t>(s[0], s[1]);
    case Op::kDivS64: return Divide<int64_t>(s[0], s[1]);
    case Op::kDivU64: return Divide<uint64_t>(s[0], s[1]);
    case Op::kRemS32: return Remainder<int32_t>(s[0], s[1]);
    case Op::kRemU32: return Remainder<uint32_t>(s[0], s[1]);
    case Op::kRemS64: return Remainder<int64_t>(s[0], s[1]);
    case Op::kRemU64: return Remainder<uint64_t>(s[0], s[1]);
    case Op::kMinS32: return Out(std::min(In<int32_t>(s[0]), In<int32_t>(s[1])));
    case Op::kMinU32: return std::min(word(s[0]), word(s[1]));
    case Op::kMinS64: return Out(std::min(In<int64_t>(s[0]), In<int64_t>(s[1])));
    case Op::kMinU64: return std::min(s[0], s[1]);
    case Op::kMaxS32: return Out(std::max(In<int32_t>(s[0]), In<int32_t>(s[1])));
    case Op::kMaxU32: return std::max(word(s[0]), word(s[1]));
    case Op::kMaxS64: return Out(std::max(In<int64_t>(s[0]), In<int64_t>(s[1])));
    case Op::kMaxU64: return std::max(s[0], s[1]);
    case Op::kAbsS32: return In<int32_t>(s[0]) < 0 ? word(0 - s[0]) : s[0];
    case Op::kAbsS64: return In<int64_t>(s[0]) < 0 ? 0 - s[0] : s[0];
    case Op::kNegS32: return word(0 - s[0]);
    case Op::kNegS64: return 0 - s[0];
    case Op::kSetpS32: return CompareIntegers<int32_t>(mods.compare, s[0], s[1]);
    case Op::kSetpU32: return CompareIntegers<uint32_t>(mods.compare, s[0], s[1]);
    case Op::kSetpS64: return CompareIntegers<int64_t>(mods.compare, s[0], s[1]);
    case Op::kSetpU64: return CompareIntegers<uint64_t>(mods.compare, s[0], s[1]);
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<uint64_t> Evaluate(Op op, const Modifiers& mods, absl::Span<const uint64_t> srcs) {
  if (Answer answer = EvaluateInteger(op, mods, srcs)) return answer;
  if (Answer answer = EvaluateBits(op, srcs)) return answer;
  return EvaluateFloat(op, mods, srcs);
}

}  // namespace tilus::machine

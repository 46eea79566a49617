// Conversions: the hot ones as loops, all others value by value.
#include <algorithm>
#include <cmath>

#include "simulate/elementwise.h"
#include "types/codec.h"
#include "types/half.h"

namespace tilus::simulate {
namespace {

using machine::IsFloat;
using machine::IsInteger;
using machine::IsSigned;
using machine::Modifiers;
using machine::Op;
using machine::Round;
using machine::Type;

DataType FloatType(Type type) {
  switch (type) {
    case Type::kF16:
      return kF16;
    case Type::kBF16:
      return kBF16;
    case Type::kF64:
      return kF64;
    default:
      return kF32;
  }
}

// What the machine makes of a NaN. Conversions with f64 keep the sign and the top of the payload,
// made quiet; bf16 becomes f32 by its bits; tf32 keeps what it holds of a canonical NaN (of the
// NaN itself when rounding away); all others give the canonical NaN.
uint64_t ConvertNan(const Modifiers& mods, uint64_t bits) {
  if (mods.type == Type::kTF32) {
    return (mods.round == Round::kRna ? bits | 0x00400000 : uint64_t{kNanF32}) & 0xffffe000;
  }
  if (mods.type == Type::kF32 && mods.from == Type::kBF16) return bits << 16;
  if (mods.type != Type::kF64 && mods.from != Type::kF64) {
    return mods.type == Type::kF32 ? uint64_t{kNanF32} : uint64_t{kNanHalf};
  }
  const int from_bits = BitsOf(mods.from), to_bits = BitsOf(mods.type);
  const int from_fraction = FloatType(mods.from).mantissa_bits();
  const int to_fraction = FloatType(mods.type).mantissa_bits();
  const uint64_t sign = bits >> (from_bits - 1) & 1;
  const uint64_t payload = (bits & LowBits(from_fraction)) << (52 - from_fraction) | uint64_t{1}
                                                                                         << 51;
  const uint64_t exponent = LowBits(to_bits - 1) & ~LowBits(to_fraction);
  return sign << (to_bits - 1) | exponent | payload >> (52 - to_fraction);
}

uint64_t LowBitsOf(Type type) { return LowBits(BitsOf(type)); }

// An integer type's value in a register, of which only the low bits count.
__int128 IntegerValue(Type type, uint64_t bits) {
  const int width = BitsOf(type);
  const uint64_t low = bits & LowBits(width);
  if (!IsSigned(type)) return static_cast<__int128>(low);
  return static_cast<int64_t>(low << (64 - width)) >> (64 - width);
}

// The register of an integer value: the low bits, extended to 32 (or 64) by the type's sign.
uint64_t IntegerBits(Type type, __int128 value) {
  const __int128 kept = IntegerValue(type, static_cast<uint64_t>(value));
  return BitsOf(type) == 64 ? static_cast<uint64_t>(kept) : static_cast<uint32_t>(kept);
}

__int128 Lowest(Type type) {
  return IsSigned(type) ? -(static_cast<__int128>(1) << (BitsOf(type) - 1)) : 0;
}
__int128 Highest(Type type) {
  return (static_cast<__int128>(1) << (BitsOf(type) - (IsSigned(type) ? 1 : 0))) - 1;
}

uint64_t IntegerToInteger(const Modifiers& mods, uint64_t bits) {
  __int128 value = IntegerValue(mods.from, bits);
  if (mods.saturate) value = std::min(std::max(value, Lowest(mods.type)), Highest(mods.type));
  return IntegerBits(mods.type, value);
}

double RoundToIntegral(Round round, double value) {
  switch (round) {
    case Round::kRzi:
      return std::trunc(value);
    case Round::kRmi:
      return std::floor(value);
    case Round::kRpi:
      return std::ceil(value);
    default:
      return std::nearbyint(value);
  }
}

uint64_t FloatToInteger(const Modifiers& mods, double value) {
  if (std::isnan(value)) {
    const bool wide = mods.from == Type::kF64 || BitsOf(mods.type) == 64;
    return wide ? IntegerBits(mods.type, static_cast<__int128>(1) << (BitsOf(mods.type) - 1)) : 0;
  }
  const double whole = RoundToIntegral(mods.round, value);
  if (whole < static_cast<double>(Lowest(mods.type))) {
    return IntegerBits(mods.type, Lowest(mods.type));
  }
  if (whole >= std::ldexp(1.0, BitsOf(mods.type) - (IsSigned(mods.type) ? 1 : 0))) {
    return IntegerBits(mods.type, Highest(mods.type));
  }
  return IntegerBits(mods.type, static_cast<__int128>(whole));
}

// The nearest code of a float type, moved to where a directed rounding wants it: `side` is the
// sign of what the code stands for minus the exact value.
uint64_t Directed(DataType type, uint64_t code, int side, Round round) {
  const bool negative = (code >> (type.bits() - 1) & 1) != 0;
  const bool down = round == Round::kRm || (round == Round::kRz && !negative);
  if (round == Round::kRn || round == Round::kNone || side == 0) return code;
  // Codes of one sign are ordered as their magnitudes.
  if (down && side > 0) return negative ? code + 1 : code - 1;
  if (!down && side < 0) return negative ? code - 1 : code + 1;
  return code;
}

int Sign(__int128 difference) { return difference > 0 ? 1 : difference < 0 ? -1 : 0; }

uint64_t IntegerToFloat(const Modifiers& mods, uint64_t bits) {
  const DataType type = FloatType(mods.type);
  const __int128 value = IntegerValue(mods.from, bits);
  const uint64_t code = IsSigned(mods.from) ? EncodeFromInt64(type, static_cast<int64_t>(value))
                                            : EncodeFromUInt64(type, static_cast<uint64_t>(value));
  const double nearest = DecodeToDouble(type, code);
  const int side =
      std::isinf(nearest) ? (nearest > 0 ? 1 : -1) : Sign(static_cast<__int128>(nearest) - value);
  return Directed(type, code, side, mods.round);
}

uint64_t ToTf32(Round round, uint32_t bits) {
  if ((bits & 0x7fffffff) == 0x7f800000) return bits;
  if (round == Round::kRna) bits += 0x1000;
  if (round == Round::kRn) bits += 0xfff + (bits >> 13 & 1);
  return bits & 0xffffe000;
}

uint64_t FloatToFloat(const Modifiers& mods, double value) {
  const DataType type = FloatType(mods.type);
  if (mods.type == mods.from && mods.round != Round::kNone) {
    return EncodeFromDouble(type, RoundToIntegral(mods.round, value));
  }
  const uint64_t code = EncodeFromDouble(type, value);
  const double nearest = DecodeToDouble(type, code);
  return Directed(type, code, nearest > value ? 1 : nearest < value ? -1 : 0, mods.round);
}

// .sat of a float result: into [0, 1], NaN to 0.
uint64_t Saturate(Type type, uint64_t code) {
  const double value = DecodeToDouble(FloatType(type), code);
  return value > 0 ? EncodeFromDouble(FloatType(type), std::fmin(value, 1.0)) : 0;
}

uint64_t Convert(const Modifiers& mods, uint64_t bits) {
  if (IsInteger(mods.from) && IsInteger(mods.type)) return IntegerToInteger(mods, bits);
  uint64_t result;
  if (IsInteger(mods.from)) {
    result = IntegerToFloat(mods, bits);
  } else {
    const double value = DecodeToDouble(FloatType(mods.from), bits);
    if (IsInteger(mods.type)) return FloatToInteger(mods, value);
    result = std::isnan(value)          ? ConvertNan(mods, bits)
             : mods.type == Type::kTF32 ? ToTf32(mods.round, static_cast<uint32_t>(bits))
                                        : FloatToFloat(mods, value);
  }
  return mods.saturate ? Saturate(mods.type, result) : result;
}

// ---- Conversions that programs run much of.

float FromF16(uint16_t code) { return F16ToF32(code); }
uint32_t FromBF16(uint16_t code) { return uint32_t{code} << 16; }
// The host keeps signs and payloads of NaNs as the machine does.
double WidenF32(float value) { return value; }
uint32_t NarrowF64(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }
uint16_t ToF16(float value) { return std::isnan(value) ? kNanHalf : F32ToF16(value); }
uint16_t ToBF16(float value) { return std::isnan(value) ? kNanHalf : F32ToBF16(value); }
float FromS32(int32_t value) { return static_cast<float>(value); }
float FromU32(uint32_t value) { return static_cast<float>(value); }
int64_t WidenS32(int32_t value) { return value; }
uint64_t WidenU32(uint32_t value) { return value; }
uint32_t LowU8(uint32_t value) { return value & 0xff; }
uint32_t LowS8(uint32_t value) {
  return static_cast<uint32_t>(static_cast<int32_t>(static_cast<int8_t>(value)));
}
uint32_t LowU16(uint32_t value) { return value & 0xffff; }
uint32_t LowS16(uint32_t value) {
  return static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(value)));
}

struct HotConversion {
  Type to, from;
  Round round;
  Handler run;
};
constexpr HotConversion kHot[] = {
    {Type::kF32, Type::kF16, Round::kNone, Elementwise<FromF16>},
    {Type::kF32, Type::kBF16, Round::kNone, Elementwise<FromBF16>},
    {Type::kF16, Type::kF32, Round::kRn, Elementwise<ToF16>},
    {Type::kBF16, Type::kF32, Round::kRn, Elementwise<ToBF16>},
    {Type::kF64, Type::kF32, Round::kNone, Elementwise<WidenF32>},
    {Type::kF32, Type::kF64, Round::kRn, Elementwise<NarrowF64>},
    {Type::kF32, Type::kS32, Round::kRn, Elementwise<FromS32>},
    {Type::kF32, Type::kU32, Round::kRn, Elementwise<FromU32>},
    {Type::kS64, Type::kS32, Round::kNone, Elementwise<WidenS32>},
    {Type::kU64, Type::kU32, Round::kNone, Elementwise<WidenU32>},
    {Type::kU8, Type::kU32, Round::kNone, Elementwise<LowU8>},
    {Type::kS8, Type::kS32, Round::kNone, Elementwise<LowS8>},
    {Type::kU16, Type::kU32, Round::kNone, Elementwise<LowU16>},
    {Type::kS16, Type::kS32, Round::kNone, Elementwise<LowS16>},
};

void ConvertLanes(Warp& warp, const Inst& inst, uint32_t lanes) {
  for (const HotConversion& hot : kHot) {
    if (hot.to == inst.mods.type && hot.from == inst.mods.from && hot.round == inst.mods.round &&
        !inst.mods.saturate) {
      return hot.run(warp, inst, lanes);
    }
  }
  ForEachLane(lanes, [&](int lane) {
    warp.SetValue(inst.dst(0), lane, Convert(inst.mods, warp.Value(inst.src(0), lane)));
  });
  warp.SetDefined(inst.dst(0), lanes);
}

// Undefined bits matter below the width of the source type. Between integers they stay where they
// are, an undefined sign spreads.
uint64_t UndefinedAfter(const Modifiers& mods, uint64_t undefined) {
  undefined &= LowBitsOf(mods.from);
  if (undefined == 0) return 0;
  if (!IsInteger(mods.from) || !IsInteger(mods.type) || mods.saturate) return ~uint64_t{0};
  Modifiers plain = mods;
  return IntegerToInteger(plain, undefined);
}

void RunConvert(Warp& warp, const Inst& inst, uint32_t lanes) {
  const uint32_t some = warp.UndefinedSources(inst, lanes);
  LaneBits undefined;
  ForEachLane(some, [&](int lane) {
    undefined.bits[lane] = UndefinedAfter(inst.mods, warp.UndefinedBits(inst.src(0), lane));
  });
  ConvertLanes(warp, inst, lanes);
  if (some != 0) warp.SetUndefinedBits(inst.dst(0), lanes, undefined);
}

// ---- Pairs. The first source becomes the high half.

template <uint16_t (*F)(float)>
uint32_t ToHalves(float high, float low) {
  return uint32_t{F(high)} << 16 | F(low);
}
template <int kExponent>
constexpr DataType kByteFloat = DataType::Float(kExponent, 7 - kExponent);

template <int kExponent>
uint16_t ToBytes(float high, float low) {
  return static_cast<uint16_t>(EncodeFromFloat(kByteFloat<kExponent>, high) << 8 |
                               EncodeFromFloat(kByteFloat<kExponent>, low));
}
template <int kExponent>
uint16_t HalvesToBytes(uint32_t halves) {
  return ToBytes<kExponent>(F16ToF32(static_cast<uint16_t>(halves >> 16)),
                            F16ToF32(static_cast<uint16_t>(halves)));
}
template <int kExponent>
uint32_t BytesToHalves(uint16_t bytes) {
  return ToHalves<ToF16>(DecodeToFloat(kByteFloat<kExponent>, bytes >> 8),
                         DecodeToFloat(kByteFloat<kExponent>, bytes & 0xff));
}

constexpr Semantics kRows[] = {
    {Op::kCvt, RunConvert},
    {Op::kCvtF16x2F32, Elementwise<ToHalves<ToF16>>, UndefinedRule::kPair},
    {Op::kCvtBF16x2F32, Elementwise<ToHalves<ToBF16>>, UndefinedRule::kPair},
    {Op::kCvtE4M3x2F32, Elementwise<ToBytes<4>>, UndefinedRule::kPair},
    {Op::kCvtE5M2x2F32, Elementwise<ToBytes<5>>, UndefinedRule::kPair},
    {Op::kCvtE4M3x2F16x2, Elementwise<HalvesToBytes<4>>, UndefinedRule::kBytePairs},
    {Op::kCvtE5M2x2F16x2, Elementwise<HalvesToBytes<5>>, UndefinedRule::kBytePairs},
    {Op::kCvtF16x2E4M3x2, Elementwise<BytesToHalves<4>>, UndefinedRule::kBytePairs},
    {Op::kCvtF16x2E5M2x2, Elementwise<BytesToHalves<5>>, UndefinedRule::kBytePairs},
};

}  // namespace

absl::Span<const Semantics> ConvertSemantics() { return kRows; }

}  // namespace tilus::simulate

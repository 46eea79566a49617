// Conversions between types in compute form: the table of semantics in types/codec.h, in machine
// instructions. NaN results are canonical, every result is rounded once.
#include "lower/arithmetic.h"
#include "types/codec.h"

namespace tilus::lower {
namespace {

using machine::Builder;
using machine::Compare;
using machine::ImmF32;
using machine::ImmF64;
using machine::ImmS32;
using machine::ImmS64;
using machine::ImmU32;
using machine::Round;
using machine::Type;

constexpr uint32_t kF32Nan = 0x7fc00000;

float PowerOfTwo(int exponent) {
  float value = 1;
  for (; exponent > 0; --exponent) value *= 2;
  for (; exponent < 0; ++exponent) value /= 2;
  return value;
}

// ---- From f32.

// Nearest even at `bits` fraction bits, on the magnitude's bits.
Operand RoundFraction(Builder& b, Operand bits, int fraction_bits) {
  const uint32_t drop = static_cast<uint32_t>(23 - fraction_bits);
  const Operand odd = b.BfeU32(bits, ImmU32(drop), ImmU32(1));
  return b.AddS32(b.AddS32(bits, ImmU32((1u << (drop - 1)) - 1)), odd);
}

// Subnormals of the target round by an addition whose unit in the last place is theirs, normals on
// their bits; the magnitude is clamped first, so nothing overflows.
Operand SmallFloatCode(Builder& b, DataType type, Operand value) {
  const int m = type.mantissa_bits();
  const int bias = type.exponent_bias();
  const uint32_t largest = static_cast<uint32_t>(LargestFiniteCode(type, false));
  const Operand magnitude =
      b.MinF32(b.AbsF32(value), ImmF32(DecodeToFloat(type, largest)));
  const Operand magic = ImmF32(PowerOfTwo(23 + 1 - bias - m));
  const Operand subnormal = b.SubS32(b.AddF32(magnitude, magic), magic);
  const Operand normal =
      b.SubS32(b.ShrU32(RoundFraction(b, magnitude, m), ImmU32(static_cast<uint32_t>(23 - m))),
               ImmS32((127 - bias) << m));
  const Operand is_subnormal =
      b.SetpF32(Compare::kLt, magnitude, ImmF32(PowerOfTwo(1 - bias)));
  const Operand sign = b.AndB32(b.ShrU32(value, ImmU32(static_cast<uint32_t>(32 - type.bits()))),
                                ImmU32(1u << (type.bits() - 1)));
  const Operand code = b.OrB32(b.SelpB32(subnormal, normal, is_subnormal), sign);
  const Operand nan = b.SetpF32(Compare::kNan, value, value);
  const uint32_t nan_code = static_cast<uint32_t>(
      type.has_nan() ? NanCode(type) : LargestFiniteCode(type, false));
  return b.SelpB32(ImmU32(nan_code), code, nan);
}

// f8e8m0: the exponent of the nearest power of two, ties to the even code.
Operand ScaleCode(Builder& b, Operand value) {
  const Operand normal = b.ShrU32(RoundFraction(b, value, 0), ImmU32(23));
  const Operand above_half = b.SetpU32(Compare::kGt, value, ImmU32(0x00600000));
  const Operand subnormal = b.SelpB32(ImmU32(1), ImmU32(0), above_half);
  const Operand is_subnormal = b.SetpU32(Compare::kLt, value, ImmU32(0x00800000));
  Operand code = b.MinU32(b.SelpB32(subnormal, normal, is_subnormal), ImmU32(0xfe));
  code = b.SelpB32(code, ImmU32(0), b.SetpF32(Compare::kGt, value, ImmF32(0)));
  return b.SelpB32(ImmU32(0xff), code, b.SetpF32(Compare::kNan, value, value));
}

Operand F32ToCode(Builder& b, DataType type, Operand value) {
  if (type == kF32) {
    return b.SelpB32(ImmU32(kF32Nan), value, b.SetpF32(Compare::kNan, value, value));
  }
  if (type == kF16 || type == kBF16) {
    const Type to = type == kF16 ? Type::kF16 : Type::kBF16;
    const Operand code = b.ExtendB16(b.Cvt(to, Type::kF32, value, Round::kRn));
    const uint32_t nan = static_cast<uint32_t>(NanCode(type));
    return b.SelpB32(ImmU32(nan), code, b.SetpF32(Compare::kNan, value, value));
  }
  if (type == kTF32) {
    const Operand rounded = b.AndB32(RoundFraction(b, value, 10), ImmU32(0xffffe000));
    const Operand finite = b.SetpU32(Compare::kLt, b.AndB32(value, ImmU32(0x7fffffff)), ImmU32(0x7f800000));
    const Operand code = b.SelpB32(rounded, value, finite);
    return b.SelpB32(ImmU32(kF32Nan), code, b.SetpF32(Compare::kNan, value, value));
  }
  return type.kind() == TypeKind::kScale ? ScaleCode(b, value) : SmallFloatCode(b, type, value);
}

// ---- To f32.

Operand SmallFloatValue(Builder& b, DataType type, Operand code) {
  const int m = type.mantissa_bits();
  const uint32_t sign_bit = static_cast<uint32_t>(type.bits() - 1);
  const Operand magnitude_code = b.AndB32(code, ImmU32((1u << sign_bit) - 1));
  const Operand scaled =
      b.MulF32(b.ShlB32(magnitude_code, ImmU32(static_cast<uint32_t>(23 - m))),
               ImmF32(PowerOfTwo(127 - type.exponent_bias())));
  const Operand sign =
      b.AndB32(b.ShlB32(code, ImmU32(31 - sign_bit)), ImmU32(0x80000000));
  Operand value = b.OrB32(scaled, sign);
  if (type.has_infinity()) {
    const uint32_t infinity = ((1u << type.exponent_bits()) - 1) << m;
    value = b.SelpB32(b.OrB32(sign, ImmU32(0x7f800000)), value,
                      b.SetpU32(Compare::kEq, magnitude_code, ImmU32(infinity)));
    value = b.SelpB32(ImmU32(kF32Nan), value,
                      b.SetpU32(Compare::kGt, magnitude_code, ImmU32(infinity)));
  } else if (type.has_nan()) {
    value = b.SelpB32(ImmU32(kF32Nan), value,
                      b.SetpU32(Compare::kEq, magnitude_code,
                                ImmU32(static_cast<uint32_t>(NanCode(type)))));
  }
  return value;
}

Operand CodeToF32(Builder& b, DataType type, Operand code) {
  if (type == kF32 || type == kTF32) return code;
  if (type == kF16) return b.Cvt(Type::kF32, Type::kF16, b.TruncateB32(code));
  if (type == kBF16) return b.ShlB32(code, ImmU32(16));
  if (type.kind() == TypeKind::kScale) {
    const Operand power = b.ShlB32(code, ImmU32(23));
    const Operand value = b.SelpB32(ImmU32(0x00400000), power, b.SetpU32(Compare::kEq, code, ImmU32(0)));
    return b.SelpB32(ImmU32(kF32Nan), value, b.SetpU32(Compare::kEq, code, ImmU32(0xff)));
  }
  return SmallFloatValue(b, type, code);
}

// ---- Wider sources, rounded to odd so that a second rounding to fewer bits is the right one.

Operand F64ToOddF32(Builder& b, Operand value) {
  const Operand cut = b.Cvt(Type::kF32, Type::kF64, value, Round::kRz);
  const Operand inexact = b.SetpF64(Compare::kNe, b.Cvt(Type::kF64, Type::kF32, cut), value);
  return b.SelpB32(b.OrB32(cut, ImmU32(1)), cut, inexact);
}

// The magnitude of 64-bit integers beyond 2^53 does not fit f64.
Operand Int64ToOddF64(Builder& b, Type type, Operand value) {
  const Operand cut = b.Cvt(Type::kF64, type, value, Round::kRz);
  const Operand back = b.Cvt(type, Type::kF64, cut, Round::kRzi);
  const Operand inexact = b.SetpS64(Compare::kNe, back, value);
  return b.SelpB64(b.OrB64(cut, ImmS64(1)), cut, inexact);
}

// ---- The four quarters of the table.

Operand FloatToFloat(Builder& b, DataType from, DataType to, Operand value) {
  if (from == to) return value;
  if (from == kF64) {
    if (to == kF32) return CodeToF32(b, to, F32ToCode(b, to, b.Cvt(Type::kF32, Type::kF64, value, Round::kRn)));
    return CodeToF32(b, to, F32ToCode(b, to, F64ToOddF32(b, value)));
  }
  if (to == kF64) {
    const Operand wide = b.Cvt(Type::kF64, Type::kF32, value);
    return b.SelpB64(ImmS64(0x7ff8000000000000), wide, b.SetpF32(Compare::kNan, value, value));
  }
  return CodeToF32(b, to, F32ToCode(b, to, value));
}

Operand NormalizeInt(Builder& b, DataType type, Operand value) {
  const uint32_t bits = static_cast<uint32_t>(type.bits());
  if (bits < 32) {
    return type.is_signed() ? b.BfeS32(value, ImmU32(0), ImmU32(bits))
                            : b.AndB32(value, ImmU32((1u << bits) - 1));
  }
  if (bits == 32 || bits == 64) return value;
  const Operand shift = ImmU32(64 - bits);
  const Operand high = b.ShlB64(value, shift);
  return type.is_signed() ? b.ShrS64(high, shift) : b.ShrU64(high, shift);
}

Operand IntToInt(Builder& b, DataType from, DataType to, Operand value) {
  const bool wide_from = from.bits() > 32, wide_to = to.bits() > 32;
  Operand converted = value;
  if (wide_to && !wide_from) {
    converted = b.Cvt(Type::kS64, from.is_signed() ? Type::kS32 : Type::kU32, value);
  } else if (wide_from && !wide_to) {
    converted = b.Cvt(Type::kU32, Type::kU64, value);
  }
  // What fits already needs no cutting.
  const bool fits = to.is_signed() == from.is_signed() ? to.bits() >= from.bits()
                                                       : to.is_signed() && to.bits() > from.bits();
  return fits ? converted : NormalizeInt(b, to, converted);
}

Type IntMachineType(DataType type) {
  if (type.bits() <= 32) return type.is_signed() ? Type::kS32 : Type::kU32;
  return type.is_signed() ? Type::kS64 : Type::kU64;
}

Operand IntToFloat(Builder& b, DataType from, DataType to, Operand value) {
  const Type type = IntMachineType(from);
  if (to == kF64) return b.Cvt(Type::kF64, type, value, Round::kRn);
  if (to == kF32) return b.Cvt(Type::kF32, type, value, Round::kRn);
  if (from.bits() <= 24) {
    return FloatToFloat(b, kF32, to, b.Cvt(Type::kF32, type, value, Round::kRn));
  }
  if (from.bits() <= 32) {
    return FloatToFloat(b, kF64, to, b.Cvt(Type::kF64, type, value, Round::kRn));
  }
  return FloatToFloat(b, kF64, to, Int64ToOddF64(b, type, value));
}

Operand FloatToInt(Builder& b, DataType from, DataType to, Operand value) {
  const Type source = from == kF64 ? Type::kF64 : Type::kF32;
  const Type type = IntMachineType(to);
  const bool wide = to.bits() > 32;
  Operand number = b.Cvt(type, source, value, Round::kRzi);
  if (to.bits() < (wide ? 64 : 32)) {
    const int64_t highest = static_cast<int64_t>(LowBits(to.bits() - (to.is_signed() ? 1 : 0)));
    const int64_t lowest = to.is_signed() ? -highest - 1 : 0;
    if (wide) {
      number = to.is_signed() ? b.MaxS64(b.MinS64(number, ImmS64(highest)), ImmS64(lowest))
                              : b.MinU64(number, ImmS64(highest));
    } else {
      number = to.is_signed()
                   ? b.MaxS32(b.MinS32(number, ImmS32(static_cast<int32_t>(highest))),
                              ImmS32(static_cast<int32_t>(lowest)))
                   : b.MinU32(number, ImmU32(static_cast<uint32_t>(highest)));
    }
  }
  // The hardware gives 0 for a NaN only between 32-bit types.
  if (source == Type::kF32 && !wide) return number;
  const Operand nan = source == Type::kF64 ? b.SetpF64(Compare::kNan, value, value)
                                           : b.SetpF32(Compare::kNan, value, value);
  return wide ? b.SelpB64(ImmS64(0), number, nan) : b.SelpB32(ImmU32(0), number, nan);
}

Operand ToBool(Builder& b, DataType from, Operand value) {
  const Operand zero = ComputeImmediate(from, 0);
  return FromPredicate(b, EmitCompare(b, ScalarOp::kNe, from, value, zero));
}

}  // namespace

Operand ComputeImmediate(DataType type, uint64_t code) {
  switch (ComputeTypeOf(type)) {
    case ComputeType::kF64: return Operand::Imm(code);
    case ComputeType::kF32: return Operand::Imm(DecodeToF32Bits(type, code));
    case ComputeType::kS64:
    case ComputeType::kU64: return ImmS64(DecodeToInt64(type, code));
    case ComputeType::kBool: return ImmU32(code != 0 ? 1 : 0);
    case ComputeType::kS32:
    case ComputeType::kU32: break;
  }
  return ImmU32(static_cast<uint32_t>(DecodeToInt64(type, code)));
}

Operand ToPredicate(Builder& b, Operand value) {
  return b.SetpU32(Compare::kNe, value, ImmU32(0));
}

Operand FromPredicate(Builder& b, Operand predicate) {
  return b.SelpB32(ImmU32(1), ImmU32(0), predicate);
}

Operand Select(Builder& b, DataType type, Operand predicate, Operand yes, Operand no) {
  return ClassOf(ComputeTypeOf(type)) == machine::RegClass::kB64 ? b.SelpB64(yes, no, predicate)
                                                                 : b.SelpB32(yes, no, predicate);
}

Operand EmitConvert(Builder& b, const ArithmeticOptions&, DataType from, DataType to,
                    Operand value) {
  if (from == to) return value;
  if (to.is_bool()) return ToBool(b, from, value);
  // A bool is the integer 0 or 1.
  const DataType source = from.is_bool() ? kU8 : from;
  if (source.is_float()) {
    return to.is_float() ? FloatToFloat(b, source, to, value) : FloatToInt(b, source, to, value);
  }
  return to.is_float() ? IntToFloat(b, source, to, value) : IntToInt(b, source, to, value);
}

Operand CodeToCompute(Builder& b, const ArithmeticOptions&, DataType type, Operand code) {
  switch (ComputeTypeOf(type)) {
    case ComputeType::kF32: return CodeToF32(b, type, code);
    case ComputeType::kS32:
      return type.bits() < 32
                 ? b.BfeS32(code, ImmU32(0), ImmU32(static_cast<uint32_t>(type.bits())))
                 : code;
    case ComputeType::kS64:
      return type.bits() < 64 ? NormalizeInt(b, type, code) : code;
    default: return code;
  }
}

Operand ComputeToCode(Builder& b, const ArithmeticOptions&, DataType type, Operand value) {
  switch (ComputeTypeOf(type)) {
    case ComputeType::kF32:
      // f32 results keep whatever NaN they have; converting canonicalises.
      return type == kF32 ? value : F32ToCode(b, type, value);
    case ComputeType::kS32:
      return type.bits() < 32 ? b.AndB32(value, ImmU32((1u << type.bits()) - 1)) : value;
    case ComputeType::kS64: {
      if (type.bits() == 64) return value;
      return b.AndB64(value, ImmS64(static_cast<int64_t>(LowBits(type.bits()))));
    }
    default: return value;
  }
}

}  // namespace tilus::lower

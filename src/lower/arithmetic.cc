#include "lower/arithmetic.h"

#include "lower/transcendental.h"
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
using machine::RegClass;
using machine::Round;
using machine::Type;

Compare CompareOf(ScalarOp op, bool is_float) {
  switch (op) {
    case ScalarOp::kEq: return Compare::kEq;
    case ScalarOp::kNe: return is_float ? Compare::kNeu : Compare::kNe;
    case ScalarOp::kLt: return Compare::kLt;
    case ScalarOp::kLe: return Compare::kLe;
    case ScalarOp::kGt: return Compare::kGt;
    default: return Compare::kGe;
  }
}

bool IsComparison(ScalarOp op) { return op >= ScalarOp::kEq && op <= ScalarOp::kGe; }

// Division and remainder as semantics has them: x / 0 = 0, x % 0 = x, and no -1 for the hardware.
Operand DivideInt(Builder& b, ScalarOp op, ComputeType type, Operand x, Operand y) {
  const bool wide = ClassOf(type) == RegClass::kB64;
  const bool is_signed = type == ComputeType::kS32 || type == ComputeType::kS64;
  const auto quotient = [&](Operand divisor) {
    if (wide) return is_signed ? b.DivS64(x, divisor) : b.DivU64(x, divisor);
    return is_signed ? b.DivS32(x, divisor) : b.DivU32(x, divisor);
  };
  const auto rest = [&](Operand divisor) {
    if (wide) return is_signed ? b.RemS64(x, divisor) : b.RemU64(x, divisor);
    return is_signed ? b.RemS32(x, divisor) : b.RemU32(x, divisor);
  };
  const Operand zero = wide ? ImmS64(0) : ImmS32(0);
  const Operand one = wide ? ImmS64(1) : ImmS32(1);
  const Operand minus_one = wide ? ImmS64(-1) : ImmS32(-1);
  const bool divide = op == ScalarOp::kDiv;
  if (y.is_imm() && y != zero && (!is_signed || y != minus_one)) {
    return divide ? quotient(y) : rest(y);
  }
  const auto equal = [&](Operand value) {
    return wide ? b.SetpS64(Compare::kEq, y, value) : b.SetpS32(Compare::kEq, y, value);
  };
  const auto select = [&](Operand yes, Operand no, Operand predicate) {
    return wide ? b.SelpB64(yes, no, predicate) : b.SelpB32(yes, no, predicate);
  };
  const Operand is_zero = equal(zero);
  Operand safe = select(one, y, is_zero);
  if (!is_signed) {
    return divide ? select(zero, quotient(safe), is_zero) : select(x, rest(safe), is_zero);
  }
  const Operand is_minus_one = equal(minus_one);
  safe = select(one, safe, is_minus_one);
  if (divide) {
    const Operand negated = wide ? b.NegS64(x) : b.NegS32(x);
    return select(zero, select(negated, quotient(safe), is_minus_one), is_zero);
  }
  return select(x, rest(safe), is_zero);
}

// A shift count is unsigned; the machine's own shifts give 0 or the sign beyond 32.
Operand ShiftCount(Builder& b, ComputeType type, Operand count) {
  if (ClassOf(type) == RegClass::kB32) return count;
  return b.Cvt(Type::kU32, Type::kU64, b.MinU64(count, ImmS64(64)));
}

Operand EmitInt32(Builder& b, ScalarOp op, bool is_signed, Operand x, Operand y) {
  switch (op) {
    case ScalarOp::kAdd: return b.AddS32(x, y);
    case ScalarOp::kSub: return b.SubS32(x, y);
    case ScalarOp::kMul: return b.MulLoS32(x, y);
    case ScalarOp::kNeg: return b.NegS32(x);
    case ScalarOp::kAbs: return is_signed ? b.AbsS32(x) : x;
    case ScalarOp::kMin: return is_signed ? b.MinS32(x, y) : b.MinU32(x, y);
    case ScalarOp::kMax: return is_signed ? b.MaxS32(x, y) : b.MaxU32(x, y);
    case ScalarOp::kAnd: return b.AndB32(x, y);
    case ScalarOp::kOr: return b.OrB32(x, y);
    case ScalarOp::kXor: return b.XorB32(x, y);
    case ScalarOp::kNot: return b.NotB32(x);
    case ScalarOp::kShl: return b.ShlB32(x, y);
    default: return is_signed ? b.ShrS32(x, y) : b.ShrU32(x, y);
  }
}

Operand EmitInt64(Builder& b, ScalarOp op, bool is_signed, Operand x, Operand y) {
  switch (op) {
    case ScalarOp::kAdd: return b.AddS64(x, y);
    case ScalarOp::kSub: return b.SubS64(x, y);
    case ScalarOp::kMul: return b.MulLoS64(x, y);
    case ScalarOp::kNeg: return b.NegS64(x);
    case ScalarOp::kAbs: return is_signed ? b.AbsS64(x) : x;
    case ScalarOp::kMin: return is_signed ? b.MinS64(x, y) : b.MinU64(x, y);
    case ScalarOp::kMax: return is_signed ? b.MaxS64(x, y) : b.MaxU64(x, y);
    case ScalarOp::kAnd: return b.AndB64(x, y);
    case ScalarOp::kOr: return b.OrB64(x, y);
    case ScalarOp::kXor: return b.XorB64(x, y);
    case ScalarOp::kNot: return b.NotB64(x);
    case ScalarOp::kShl: return b.ShlB64(x, y);
    default: return is_signed ? b.ShrS64(x, y) : b.ShrU64(x, y);
  }
}

Operand EmitInt(Builder& b, const ArithmeticOptions& options, ScalarOp op, DataType type,
                absl::Span<const Operand> args) {
  const ComputeType compute = ComputeTypeOf(type);
  const Operand x = args[0];
  const Operand y = args.size() > 1 ? args[1] : Operand();
  Operand result;
  if (op == ScalarOp::kDiv || op == ScalarOp::kMod) {
    result = DivideInt(b, op, compute, x, y);
  } else if (op == ScalarOp::kFma) {
    const Operand product = EmitOp(b, options, ScalarOp::kMul, type, {x, y});
    return EmitOp(b, options, ScalarOp::kAdd, type, {product, args[2]});
  } else if (op == ScalarOp::kShl || op == ScalarOp::kShr) {
    const Operand count = ShiftCount(b, compute, y);
    result = ClassOf(compute) == RegClass::kB64 ? EmitInt64(b, op, type.is_signed(), x, count)
                                                : EmitInt32(b, op, type.is_signed(), x, count);
  } else {
    result = ClassOf(compute) == RegClass::kB64 ? EmitInt64(b, op, type.is_signed(), x, y)
                                                : EmitInt32(b, op, type.is_signed(), x, y);
  }
  if (type.bits() == 32 || type.bits() == 64) return result;
  // Wrap at the type's own width.
  const DataType wide = type.bits() < 32 ? (type.is_signed() ? kI32 : kU32)
                                         : (type.is_signed() ? kI64 : kU64);
  return EmitConvert(b, options, wide, type, result);
}

// The remainder with the sign of the dividend, exact: doubles the divisor up to the dividend, then
// subtracts it wherever it still fits.
Operand EmitFmod(Builder& b, DataType type, Operand x, Operand y) {
  const bool wide = type == kF64;
  const RegClass c = wide ? RegClass::kB64 : RegClass::kB32;
  const auto compare = [&](Compare how, Operand p, Operand q) {
    return b.Materialize(RegClass::kPred,
                         wide ? b.SetpF64(how, p, q) : b.SetpF32(how, p, q));
  };
  const auto sub = [&](Operand p, Operand q) { return wide ? b.SubF64(p, q) : b.SubF32(p, q); };
  const auto mul = [&](Operand p, Operand q) { return wide ? b.MulF64(p, q) : b.MulF32(p, q); };
  const auto magnitude = [&](Operand p) { return wide ? b.AbsF64(p) : b.AbsF32(p); };
  const Operand zero = wide ? ImmF64(0) : ImmF32(0);
  const Operand half = wide ? ImmF64(0.5) : ImmF32(0.5f);
  const Operand divisor = magnitude(y);
  const Reg rest = b.Copy(c, magnitude(x));
  const Reg step = b.Copy(c, divisor);
  const Operand infinity = wide ? Operand::Imm(0x7ff0000000000000) : ImmU32(0x7f800000);
  // NaN, infinite dividend or zero divisor: no loop, the answer is NaN.
  const Operand valid = b.AndPred(compare(Compare::kLt, rest, infinity), compare(Compare::kGt, divisor, zero));
  b.BeginIf(machine::When(b.Materialize(RegClass::kPred, valid)));
  b.BeginLoop();
  b.Break(machine::Unless(compare(Compare::kGe, sub(rest, step), step)));
  b.Mov(step, wide ? b.AddF64(step, step) : b.AddF32(step, step));
  b.EndLoop();
  b.BeginLoop();
  b.BeginIf(machine::When(compare(Compare::kGe, rest, step)));
  b.Mov(rest, sub(rest, step));
  b.EndIf();
  b.Break(machine::Unless(compare(Compare::kGt, step, divisor)));
  b.Mov(step, mul(step, half));
  b.EndLoop();
  b.EndIf();
  const Operand sign = wide ? b.AndB64(x, Operand::Imm(uint64_t{1} << 63))
                            : b.AndB32(x, ImmU32(0x80000000));
  const Operand result = wide ? b.OrB64(rest, sign) : b.OrB32(rest, sign);
  const Operand nan = wide ? Operand::Imm(0x7ff8000000000000) : ImmU32(0x7fc00000);
  return wide ? b.SelpB64(result, nan, valid) : b.SelpB32(result, nan, valid);
}

Operand EmitF32(Builder& b, const ArithmeticOptions& options, ScalarOp op,
                absl::Span<const Operand> args) {
  const Operand x = args[0];
  const Operand y = args.size() > 1 ? args[1] : Operand();
  switch (op) {
    case ScalarOp::kAdd: return b.AddF32(x, y);
    case ScalarOp::kSub: return b.SubF32(x, y);
    case ScalarOp::kMul: return b.MulF32(x, y);
    case ScalarOp::kDiv: return options.fast ? b.DivFullF32(x, y) : b.DivRnF32(x, y);
    case ScalarOp::kMod: return EmitFmod(b, kF32, x, y);
    case ScalarOp::kNeg: return b.NegF32(x);
    case ScalarOp::kAbs: return b.AbsF32(x);
    case ScalarOp::kMin: return b.MinF32(x, y);
    case ScalarOp::kMax: return b.MaxF32(x, y);
    case ScalarOp::kFma: return b.FmaF32(x, y, args[2]);
    case ScalarOp::kSqrt: return options.fast ? b.SqrtApproxF32(x) : b.SqrtRnF32(x);
    case ScalarOp::kRound: return b.Cvt(Type::kF32, Type::kF32, x, Round::kRni);
    default: return options.fast ? EmitFastTranscendental(b, op, x) : EmitTranscendental(b, op, x);
  }
}

Operand EmitF64(Builder& b, ScalarOp op, absl::Span<const Operand> args) {
  const Operand x = args[0];
  const Operand y = args.size() > 1 ? args[1] : Operand();
  switch (op) {
    case ScalarOp::kAdd: return b.AddF64(x, y);
    case ScalarOp::kSub: return b.SubF64(x, y);
    case ScalarOp::kMul: return b.MulF64(x, y);
    case ScalarOp::kDiv: return b.DivRnF64(x, y);
    case ScalarOp::kMod: return EmitFmod(b, kF64, x, y);
    case ScalarOp::kNeg: return b.NegF64(x);
    case ScalarOp::kAbs: return b.AbsF64(x);
    case ScalarOp::kMin: return b.MinF64(x, y);
    case ScalarOp::kMax: return b.MaxF64(x, y);
    case ScalarOp::kFma: return b.FmaF64(x, y, args[2]);
    case ScalarOp::kSqrt: return b.SqrtRnF64(x);
    case ScalarOp::kRound: return b.Cvt(Type::kF64, Type::kF64, x, Round::kRni);
    default: return EmitTranscendentalF64(b, op, x);
  }
}

// f16 and bf16 have an fma of their own; by way of f32 it would round twice.
Operand EmitHalfFma(Builder& b, DataType type, absl::Span<const Operand> args) {
  const Type half = type == kF16 ? Type::kF16 : Type::kBF16;
  Operand h[3];
  for (int i = 0; i < 3; ++i) h[i] = b.Cvt(half, Type::kF32, args[static_cast<size_t>(i)], Round::kRn);
  const Operand result = type == kF16 ? b.FmaF16(h[0], h[1], h[2]) : b.FmaBF16(h[0], h[1], h[2]);
  return CodeToCompute(b, {}, type, b.ExtendB16(result));
}

// Operations that give one of their operands need no rounding.
bool IsExactOnFloats(ScalarOp op) {
  return op == ScalarOp::kNeg || op == ScalarOp::kAbs || op == ScalarOp::kMin || op == ScalarOp::kMax;
}

Operand EmitBool(Builder& b, ScalarOp op, absl::Span<const Operand> args) {
  switch (op) {
    case ScalarOp::kOr:
    case ScalarOp::kMax: return b.OrB32(args[0], args[1]);
    case ScalarOp::kXor: return b.XorB32(args[0], args[1]);
    case ScalarOp::kNot: return b.XorB32(args[0], ImmU32(1));
    default: return b.AndB32(args[0], args[1]);
  }
}

}  // namespace

Operand EmitCompare(Builder& b, ScalarOp op, DataType type, Operand x, Operand y) {
  const Compare compare = CompareOf(op, type.is_float());
  switch (ComputeTypeOf(type)) {
    case ComputeType::kS32: return b.SetpS32(compare, x, y);
    case ComputeType::kS64: return b.SetpS64(compare, x, y);
    case ComputeType::kU64: return b.SetpU64(compare, x, y);
    case ComputeType::kF32: return b.SetpF32(compare, x, y);
    case ComputeType::kF64: return b.SetpF64(compare, x, y);
    case ComputeType::kU32:
    case ComputeType::kBool: break;
  }
  return b.SetpU32(compare, x, y);
}

Operand EmitOp(Builder& b, const ArithmeticOptions& options, ScalarOp op, DataType type,
               absl::Span<const Operand> args) {
  if (IsComparison(op)) return FromPredicate(b, EmitCompare(b, op, type, args[0], args[1]));
  if (op == ScalarOp::kClip) {
    const Operand low = EmitOp(b, options, ScalarOp::kMax, type, {args[0], args[1]});
    return EmitOp(b, options, ScalarOp::kMin, type, {low, args[2]});
  }
  if (type.is_bool()) return EmitBool(b, op, args);
  if (!type.is_float()) return EmitInt(b, options, op, type, args);
  if (type == kF64) return EmitF64(b, op, args);
  if (op == ScalarOp::kFma && (type == kF16 || type == kBF16)) return EmitHalfFma(b, type, args);
  const Operand result = EmitF32(b, options, op, args);
  if (type == kF32 || (IsExactOnFloats(op) && type.kind() != TypeKind::kScale)) return result;
  return EmitConvert(b, options, kF32, type, result);
}

}  // namespace tilus::lower

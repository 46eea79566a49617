#include "lower/transcendental.h"

namespace tilus::lower {
namespace {

using machine::Builder;
using machine::Compare;
using machine::ImmF32;
using machine::ImmF64;
using machine::ImmS32;
using machine::ImmU32;
using machine::Round;
using machine::Type;

constexpr double kLn2 = 0.6931471805599453094;
constexpr double kLn2Low = 2.3190468138462996e-17;  // ln 2 - kLn2
constexpr double kLog2E = 1.4426950408889634074;
constexpr double kHalfPi = 1.5707963267948965580;
constexpr double kHalfPiLow = 6.1232339957367660e-17;  // pi / 2 - kHalfPi
constexpr uint64_t kNan = 0x7ff8000000000000;
constexpr uint64_t kInfinity = 0x7ff0000000000000;

// sum of coefficients[k] * x^k, by Horner's rule.
Operand Polynomial(Builder& b, absl::Span<const double> coefficients, Operand x) {
  Operand sum = ImmF64(coefficients.back());
  for (size_t k = coefficients.size() - 1; k-- > 0;) sum = b.FmaF64(sum, x, ImmF64(coefficients[k]));
  return sum;
}

Operand NanWhere(Builder& b, Operand nan, Operand value) {
  return b.SelpB64(Operand::Imm(kNan), value, nan);
}

// 2^n for |n| <= 1022, as bits.
Operand PowerOfTwo(Builder& b, Operand n) {
  const Operand biased = b.Cvt(Type::kS64, Type::kS32, b.AddS32(n, ImmS32(1023)));
  return b.ShlB64(biased, ImmU32(52));
}

// e^r * 2^n, |r| <= ln(2) / 2.
Operand ScaledExp(Builder& b, Operand r, Operand n) {
  static constexpr double kTaylor[] = {1.0,       1.0,        1.0 / 2,     1.0 / 6,      1.0 / 24,
                                       1.0 / 120, 1.0 / 720,  1.0 / 5040,  1.0 / 40320,  1.0 / 362880,
                                       1.0 / 3628800};
  const Operand value = Polynomial(b, kTaylor, r);
  // In two steps, so that results beyond the range of normal numbers come out right.
  const Operand half = b.ShrS32(n, ImmU32(1));
  const Operand rest = b.SubS32(n, half);
  return b.MulF64(b.MulF64(value, PowerOfTwo(b, half)), PowerOfTwo(b, rest));
}

Operand Exp(Builder& b, Operand x, double log2_of_base) {
  constexpr double kLargest = 2000;  // beyond it 2^x is 0 or infinite in any format
  const double bound = kLargest / log2_of_base;
  const Operand clamped = b.MaxF64(b.MinF64(x, ImmF64(bound)), ImmF64(-bound));
  const Operand n =
      b.Cvt(Type::kS32, Type::kF64, b.MulF64(clamped, ImmF64(log2_of_base)), Round::kRni);
  const Operand whole = b.Cvt(Type::kF64, Type::kS32, n, Round::kRn);
  Operand r;
  if (log2_of_base == 1.0) {
    r = b.MulF64(b.SubF64(clamped, whole), ImmF64(kLn2));
  } else {
    r = b.FmaF64(whole, ImmF64(-kLn2), clamped);
    r = b.FmaF64(whole, ImmF64(-kLn2Low), r);
  }
  return NanWhere(b, b.SetpF64(Compare::kNan, x, x), ScaledExp(b, r, n));
}

// x = m * 2^e with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh((m - 1) / (m + 1)).
Operand Log(Builder& b, Operand x, double scale) {
  static constexpr double kSeries[] = {2.0, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13};
  // Subnormals are scaled up; 1023 - 54 is what their exponent then lacks.
  const Operand tiny = b.SetpF64(Compare::kLt, x, ImmF64(2.2250738585072014e-308));
  const Operand scaled = b.SelpB64(b.MulF64(x, ImmF64(18014398509481984.0)), x, tiny);
  const Operand exponent_bias = b.SelpB32(ImmS32(1023 + 54), ImmS32(1023), tiny);
  constexpr int64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  const Operand offset = b.SubS64(scaled, machine::ImmS64(kSqrtHalf));
  const Operand e = b.SubS32(b.Cvt(Type::kS32, Type::kS64, b.ShrS64(offset, ImmU32(52))),
                             b.SubS32(exponent_bias, ImmS32(1023)));
  const Operand fraction = b.AndB64(offset, machine::ImmS64((int64_t{1} << 52) - 1));
  const Operand m = b.AddS64(fraction, machine::ImmS64(kSqrtHalf));
  const Operand s = b.DivRnF64(b.SubF64(m, ImmF64(1)), b.AddF64(m, ImmF64(1)));
  const Operand log_m = b.MulF64(s, Polynomial(b, kSeries, b.MulF64(s, s)));
  const Operand whole = b.Cvt(Type::kF64, Type::kS32, e, Round::kRn);
  // scale is 1 for the natural logarithm, log2(e) to base 2.
  const Operand value = scale == 1.0 ? b.FmaF64(whole, ImmF64(kLn2), log_m)
                                     : b.FmaF64(log_m, ImmF64(scale), whole);
  Operand result = b.SelpB64(Operand::Imm(kInfinity), value,
                             b.SetpF64(Compare::kEq, x, Operand::Imm(kInfinity)));
  result = b.SelpB64(Operand::Imm(kInfinity | (uint64_t{1} << 63)), result,
                     b.SetpF64(Compare::kEq, x, ImmF64(0)));
  // Negative or NaN.
  return b.SelpB64(result, Operand::Imm(kNan), b.SetpF64(Compare::kGe, x, ImmF64(0)));
}

// r = x - n pi/2, |r| <= pi/4; sine and cosine of r by series, chosen and signed by n mod 4.
Operand SinCos(Builder& b, Operand x, int quarter_turns) {
  static constexpr double kSin[] = {1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880,
                                    -1.0 / 39916800, 1.0 / 6227020800.0};
  static constexpr double kCos[] = {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320,
                                    -1.0 / 3628800, 1.0 / 479001600.0};
  const Operand turns = b.MulF64(x, ImmF64(1 / kHalfPi));
  const Operand whole = b.Cvt(Type::kF64, Type::kF64, turns, Round::kRni);
  Operand r = b.FmaF64(whole, ImmF64(-kHalfPi), x);
  r = b.FmaF64(whole, ImmF64(-kHalfPiLow), r);
  const Operand n = b.AddS32(b.Cvt(Type::kS32, Type::kF64, whole, Round::kRni), ImmS32(quarter_turns));
  const Operand r2 = b.MulF64(r, r);
  const Operand sine = b.MulF64(r, Polynomial(b, kSin, r2));
  const Operand cosine = Polynomial(b, kCos, r2);
  const Operand odd = b.SetpU32(Compare::kNe, b.AndB32(n, ImmU32(1)), ImmU32(0));
  const Operand negative = b.SetpU32(Compare::kNe, b.AndB32(n, ImmU32(2)), ImmU32(0));
  const Operand value = b.SelpB64(cosine, sine, odd);
  const Operand signed_value = b.SelpB64(b.NegF64(value), value, negative);
  if (quarter_turns != 0) return signed_value;
  // sin keeps the sign of a zero.
  return b.SelpB64(x, signed_value, b.SetpF64(Compare::kEq, x, ImmF64(0)));
}

// (e^2|x| - 1) / (e^2|x| + 1) with the sign of x; near 0, where that cancels, its series.
Operand Tanh(Builder& b, Operand x) {
  const Operand magnitude = b.AbsF64(x);
  const Operand e = Exp(b, b.MinF64(b.AddF64(magnitude, magnitude), ImmF64(100)), kLog2E);
  const Operand large = b.SubF64(ImmF64(1), b.DivRnF64(ImmF64(2), b.AddF64(e, ImmF64(1))));
  const Operand x2 = b.MulF64(magnitude, magnitude);
  static constexpr double kSeries[] = {1.0, -1.0 / 3, 2.0 / 15, -17.0 / 315, 62.0 / 2835};
  const Operand small = b.MulF64(magnitude, Polynomial(b, kSeries, x2));
  const Operand is_small = b.SetpF64(Compare::kLt, magnitude, ImmF64(0.0625));
  const Operand value = b.SelpB64(small, large, is_small);
  const Operand sign = b.AndB64(x, Operand::Imm(uint64_t{1} << 63));
  return NanWhere(b, b.SetpF64(Compare::kNan, x, x), b.OrB64(value, sign));
}

Operand Rsqrt(Builder& b, Operand x) { return b.DivRnF64(ImmF64(1), b.SqrtRnF64(x)); }

}  // namespace

Operand EmitTranscendentalF64(Builder& b, ScalarOp op, Operand x) {
  switch (op) {
    case ScalarOp::kExp: return Exp(b, x, kLog2E);
    case ScalarOp::kExp2: return Exp(b, x, 1.0);
    case ScalarOp::kLog: return Log(b, x, 1.0);
    case ScalarOp::kLog2: return Log(b, x, kLog2E);
    case ScalarOp::kRsqrt: return Rsqrt(b, x);
    case ScalarOp::kSin: return SinCos(b, x, 0);
    case ScalarOp::kCos: return SinCos(b, x, 1);
    default: return Tanh(b, x);
  }
}

Operand EmitTranscendental(Builder& b, ScalarOp op, Operand x) {
  const Operand wide = b.Cvt(Type::kF64, Type::kF32, x);
  return b.Cvt(Type::kF32, Type::kF64, EmitTranscendentalF64(b, op, wide), Round::kRn);
}

Operand EmitFastTranscendental(Builder& b, ScalarOp op, Operand x) {
  switch (op) {
    case ScalarOp::kExp:
      return b.Ex2ApproxF32(b.MulF32(x, ImmF32(static_cast<float>(kLog2E))));
    case ScalarOp::kExp2: return b.Ex2ApproxF32(x);
    case ScalarOp::kLog: return b.MulF32(b.Lg2ApproxF32(x), ImmF32(static_cast<float>(kLn2)));
    case ScalarOp::kLog2: return b.Lg2ApproxF32(x);
    case ScalarOp::kRsqrt: return b.RsqrtApproxF32(x);
    case ScalarOp::kSin: return b.SinApproxF32(x);
    case ScalarOp::kCos: return b.CosApproxF32(x);
    default: return b.TanhApproxF32(x);
  }
}

}  // namespace tilus::lower

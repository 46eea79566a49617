// f32 and f64 arithmetic.
#include <cmath>

#include "simulate/elementwise.h"

namespace tilus::simulate {
namespace {

using machine::Op;

template <typename F>
F Add(F a, F b) {
  return a + b;
}
template <typename F>
F Subtract(F a, F b) {
  return a - b;
}
template <typename F>
F Multiply(F a, F b) {
  return a * b;
}
template <typename F>
F Divide(F a, F b) {
  return a / b;
}
template <typename F>
F MultiplyAdd(F a, F b, F c) {
  return std::fma(a, b, c);
}
template <typename F>
F SquareRoot(F a) {
  return std::sqrt(a);
}
// The sign of a NaN stays.
template <typename F>
F Absolute(F a) {
  return std::isnan(a) ? a + a : std::fabs(a);
}
template <typename F>
F Negate(F a) {
  return std::isnan(a) ? a + a : -a;
}

// The other operand if one is NaN (the second if both are); -0 is below +0.
template <typename F>
F Min(F a, F b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <typename F>
F Max(F a, F b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

// Approximations: the function in f64, rounded to f32. The machine's differ in the last bits.
float Reciprocal(float a) { return 1.0f / a; }
float Exp2(float a) { return static_cast<float>(std::exp2(static_cast<double>(a))); }
float Log2(float a) { return static_cast<float>(std::log2(static_cast<double>(a))); }
float Sine(float a) { return static_cast<float>(std::sin(static_cast<double>(a))); }
float Cosine(float a) { return static_cast<float>(std::cos(static_cast<double>(a))); }
float Tanh(float a) { return static_cast<float>(std::tanh(static_cast<double>(a))); }
float ReciprocalSquareRoot(float a) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a)));
}

constexpr UndefinedRule kAll = UndefinedRule::kAll;

constexpr Semantics kRows[] = {
    {Op::kAddF32, Elementwise<Add<float>>, kAll},
    {Op::kSubF32, Elementwise<Subtract<float>>, kAll},
    {Op::kMulF32, Elementwise<Multiply<float>>, kAll},
    {Op::kFmaF32, Elementwise<MultiplyAdd<float>>, kAll},
    {Op::kDivRnF32, Elementwise<Divide<float>>, kAll},
    {Op::kDivFullF32, Elementwise<Divide<float>>, kAll},
    {Op::kSqrtRnF32, Elementwise<SquareRoot<float>>, kAll},
    {Op::kRcpRnF32, Elementwise<Reciprocal>, kAll},
    {Op::kMinF32, Elementwise<Min<float>>, kAll},
    {Op::kMaxF32, Elementwise<Max<float>>, kAll},
    {Op::kAbsF32, Elementwise<Absolute<float>>, kAll},
    {Op::kNegF32, Elementwise<Negate<float>>, kAll},
    {Op::kEx2ApproxF32, Elementwise<Exp2>, kAll},
    {Op::kLg2ApproxF32, Elementwise<Log2>, kAll},
    {Op::kSinApproxF32, Elementwise<Sine>, kAll},
    {Op::kCosApproxF32, Elementwise<Cosine>, kAll},
    {Op::kTanhApproxF32, Elementwise<Tanh>, kAll},
    {Op::kRsqrtApproxF32, Elementwise<ReciprocalSquareRoot>, kAll},
    {Op::kRcpApproxF32, Elementwise<Reciprocal>, kAll},
    {Op::kSqrtApproxF32, Elementwise<SquareRoot<float>>, kAll},
    {Op::kAddF64, Elementwise<Add<double>>, kAll},
    {Op::kSubF64, Elementwise<Subtract<double>>, kAll},
    {Op::kMulF64, Elementwise<Multiply<double>>, kAll},
    {Op::kFmaF64, Elementwise<MultiplyAdd<double>>, kAll},
    {Op::kDivRnF64, Elementwise<Divide<double>>, kAll},
    {Op::kSqrtRnF64, Elementwise<SquareRoot<double>>, kAll},
    {Op::kMinF64, Elementwise<Min<double>>, kAll},
    {Op::kMaxF64, Elementwise<Max<double>>, kAll},
    {Op::kAbsF64, Elementwise<Absolute<double>>, kAll},
    {Op::kNegF64, Elementwise<Negate<double>>, kAll},
};

}  // namespace

absl::Span<const Semantics> FloatSemantics() { return kRows; }

}  // namespace tilus::simulate

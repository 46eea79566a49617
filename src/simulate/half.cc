// f16 and bf16 arithmetic, and pairs of them in a 32-bit register. One rounding each.
#include "types/half.h"

#include <cmath>

#include "simulate/elementwise.h"

namespace tilus::simulate {
namespace {

using machine::Op;

struct F16 {
  static float Load(uint16_t code) { return F16ToF32(code); }
  static uint16_t Store(float value) { return std::isnan(value) ? kNanHalf : F32ToF16(value); }
};
struct BF16 {
  static float Load(uint16_t code) { return BF16ToF32(code); }
  static uint16_t Store(float value) { return std::isnan(value) ? kNanHalf : F32ToBF16(value); }
};

// The sum rounded to odd in f32, which rounded again to a half rounds once. `product` is exact.
float SumToOdd(double product, double addend) {
  const double sum = product + addend;
  if (!std::isfinite(sum)) return static_cast<float>(sum);
  const double part = sum - product;
  const double lost = (product - (sum - part)) + (addend - part);
  const float nearest = static_cast<float>(sum);
  const double excess = (static_cast<double>(nearest) - sum) - lost;
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (excess == 0 || (bits & 1) != 0) return nearest;
  // The odd neighbour on the side of the exact sum; zero has one of either sign.
  if ((bits & 0x7fffffff) == 0) return excess > 0 ? -0x1p-149f : 0x1p-149f;
  const bool toward_zero = (excess > 0) == (nearest > 0);
  return std::bit_cast<float>(toward_zero ? bits - 1 : bits + 1);
}

// f32 has more than twice the bits of either format: rounding its result again rounds once.
template <typename Format>
struct Half {
  static uint16_t Add(uint16_t a, uint16_t b) {
    return Format::Store(Format::Load(a) + Format::Load(b));
  }
  static uint16_t Subtract(uint16_t a, uint16_t b) {
    return Format::Store(Format::Load(a) - Format::Load(b));
  }
  static uint16_t Multiply(uint16_t a, uint16_t b) {
    return Format::Store(Format::Load(a) * Format::Load(b));
  }
  static uint16_t MultiplyAdd(uint16_t a, uint16_t b, uint16_t c) {
    const double product = static_cast<double>(Format::Load(a)) * Format::Load(b);
    return Format::Store(SumToOdd(product, Format::Load(c)));
  }
  static uint16_t Min(uint16_t a, uint16_t b) { return Extreme<Side::kLower>(a, b); }
  static uint16_t Max(uint16_t a, uint16_t b) { return Extreme<Side::kUpper>(a, b); }
  static uint16_t Absolute(uint16_t a) { return Format::Store(std::fabs(Format::Load(a))); }
  static uint16_t Negate(uint16_t a) { return Format::Store(-Format::Load(a)); }

 private:
  enum class Side : uint8_t { kLower, kUpper };
  // The other operand if one is NaN; -0 is below +0.
  template <Side kSide>
  static uint16_t Extreme(uint16_t a, uint16_t b) {
    const float x = Format::Load(a), y = Format::Load(b);
    if (std::isnan(x)) return Format::Store(y);
    if (std::isnan(y)) return a;
    const bool a_below = x < y || (x == y && std::signbit(x));
    return a_below == (kSide == Side::kLower) ? a : b;
  }
};

// The function on the low and the high halves.
template <uint16_t (*F)(uint16_t)>
uint32_t Both1(uint32_t a) {
  return uint32_t{F(static_cast<uint16_t>(a >> 16))} << 16 | F(static_cast<uint16_t>(a));
}
template <uint16_t (*F)(uint16_t, uint16_t)>
uint32_t Both2(uint32_t a, uint32_t b) {
  return uint32_t{F(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16))} << 16 |
         F(static_cast<uint16_t>(a), static_cast<uint16_t>(b));
}
template <uint16_t (*F)(uint16_t, uint16_t, uint16_t)>
uint32_t Both3(uint32_t a, uint32_t b, uint32_t c) {
  return uint32_t{F(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16),
                    static_cast<uint16_t>(c >> 16))}
             << 16 |
         F(static_cast<uint16_t>(a), static_cast<uint16_t>(b), static_cast<uint16_t>(c));
}

constexpr UndefinedRule kAll = UndefinedRule::kAll;
constexpr UndefinedRule kHalves = UndefinedRule::kHalves;

constexpr Semantics kRows[] = {
    {Op::kAddF16, Elementwise<Half<F16>::Add>, kAll},
    {Op::kSubF16, Elementwise<Half<F16>::Subtract>, kAll},
    {Op::kMulF16, Elementwise<Half<F16>::Multiply>, kAll},
    {Op::kFmaF16, Elementwise<Half<F16>::MultiplyAdd>, kAll},
    {Op::kMinF16, Elementwise<Half<F16>::Min>, kAll},
    {Op::kMaxF16, Elementwise<Half<F16>::Max>, kAll},
    {Op::kAbsF16, Elementwise<Half<F16>::Absolute>, kAll},
    {Op::kNegF16, Elementwise<Half<F16>::Negate>, kAll},
    {Op::kAddF16x2, Elementwise<Both2<Half<F16>::Add>>, kHalves},
    {Op::kSubF16x2, Elementwise<Both2<Half<F16>::Subtract>>, kHalves},
    {Op::kMulF16x2, Elementwise<Both2<Half<F16>::Multiply>>, kHalves},
    {Op::kFmaF16x2, Elementwise<Both3<Half<F16>::MultiplyAdd>>, kHalves},
    {Op::kMinF16x2, Elementwise<Both2<Half<F16>::Min>>, kHalves},
    {Op::kMaxF16x2, Elementwise<Both2<Half<F16>::Max>>, kHalves},
    {Op::kAbsF16x2, Elementwise<Both1<Half<F16>::Absolute>>, kHalves},
    {Op::kNegF16x2, Elementwise<Both1<Half<F16>::Negate>>, kHalves},
    {Op::kAddBF16, Elementwise<Half<BF16>::Add>, kAll},
    {Op::kSubBF16, Elementwise<Half<BF16>::Subtract>, kAll},
    {Op::kMulBF16, Elementwise<Half<BF16>::Multiply>, kAll},
    {Op::kFmaBF16, Elementwise<Half<BF16>::MultiplyAdd>, kAll},
    {Op::kMinBF16, Elementwise<Half<BF16>::Min>, kAll},
    {Op::kMaxBF16, Elementwise<Half<BF16>::Max>, kAll},
    {Op::kAbsBF16, Elementwise<Half<BF16>::Absolute>, kAll},
    {Op::kNegBF16, Elementwise<Half<BF16>::Negate>, kAll},
    {Op::kAddBF16x2, Elementwise<Both2<Half<BF16>::Add>>, kHalves},
    {Op::kSubBF16x2, Elementwise<Both2<Half<BF16>::Subtract>>, kHalves},
    {Op::kMulBF16x2, Elementwise<Both2<Half<BF16>::Multiply>>, kHalves},
    {Op::kFmaBF16x2, Elementwise<Both3<Half<BF16>::MultiplyAdd>>, kHalves},
    {Op::kMinBF16x2, Elementwise<Both2<Half<BF16>::Min>>, kHalves},
    {Op::kMaxBF16x2, Elementwise<Both2<Half<BF16>::Max>>, kHalves},
    {Op::kAbsBF16x2, Elementwise<Both1<Half<BF16>::Absolute>>, kHalves},
    {Op::kNegBF16x2, Elementwise<Both1<Half<BF16>::Negate>>, kHalves},
};

}  // namespace

absl::Span<const Semantics> HalfSemantics() { return kRows; }

}  // namespace tilus::simulate

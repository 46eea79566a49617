// Moves and integer arithmetic.
#include <algorithm>
#include <type_traits>

#include "simulate/elementwise.h"

namespace tilus::simulate {
namespace {

using machine::Op;

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

template <typename T>
T Same(T a) {
  return a;
}

template <typename T>
T Add(T a, T b) {
  return a + b;
}
template <typename T>
T Subtract(T a, T b) {
  return a - b;
}
template <typename T>
T Multiply(T a, T b) {
  return a * b;
}
template <typename T>
T MultiplyAdd(T a, T b, T c) {
  return a * b + c;
}
template <typename T>
T Negate(T a) {
  return T{0} - a;
}
template <typename T>
T Min(T a, T b) {
  return std::min(a, b);
}
template <typename T>
T Max(T a, T b) {
  return std::max(a, b);
}

template <typename T>
T Absolute(T a) {
  return a < 0 ? static_cast<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(a)) : a;
}

template <typename T>
T MultiplyHigh(T a, T b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (8 * sizeof(T)));
}

int64_t MultiplyWide(int32_t a, int32_t b) { return int64_t{a} * b; }
uint64_t MultiplyWideUnsigned(uint32_t a, uint32_t b) { return uint64_t{a} * b; }
uint64_t MultiplyAddWide(int32_t a, int32_t b, uint64_t c) {
  return static_cast<uint64_t>(int64_t{a} * b) + c;
}
uint64_t MultiplyAddWideUnsigned(uint32_t a, uint32_t b, uint64_t c) { return uint64_t{a} * b + c; }

// By zero: all ones, and the dividend as the remainder, as the hardware gives; lowering does not
// let anything depend on it.
template <typename T>
T Divide(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) {
    return static_cast<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(a));
  }
  return a / b;
}
template <typename T>
T Remainder(T a, T b) {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
  return a % b;
}

// Two destinations, the low one first.
template <typename Whole, typename Part>
void Unpack(Warp& warp, const Inst& inst, uint32_t lanes) {
  constexpr int kPartBits = sizeof(Whole) * 4;
  const Whole* source = warp.Lanes<const Whole>(inst.src(0));
  alignas(64) Part low[kLanes], high[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    low[lane] = static_cast<Part>(source[lane] & ((Whole{1} << kPartBits) - 1));
    high[lane] = static_cast<Part>(source[lane] >> kPartBits);
  }
  const uint32_t some = warp.UndefinedSources(inst, lanes);
  LaneBits low_undefined, high_undefined;
  ForEachLane(some, [&](int lane) {
    low_undefined.bits[lane] = warp.UndefinedBits(inst.src(0), lane);
    high_undefined.bits[lane] = low_undefined.bits[lane] >> kPartBits;
  });
  WriteLanes(warp, inst.dst(0), lanes, low);
  WriteLanes(warp, inst.dst(1), lanes, high);
  if (some != 0) {
    warp.SetUndefinedBits(inst.dst(0), lanes, low_undefined);
    warp.SetUndefinedBits(inst.dst(1), lanes, high_undefined);
  } else {
    warp.SetDefined(inst.dst(0), lanes);
    warp.SetDefined(inst.dst(1), lanes);
  }
}

uint32_t PackHalves(uint16_t low, uint16_t high) { return uint32_t{high} << 16 | low; }
uint64_t PackWords(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }
uint32_t Extend(uint16_t a) { return a; }
uint16_t Truncate(uint32_t a) { return static_cast<uint16_t>(a); }

constexpr UndefinedRule kAll = UndefinedRule::kAll;
constexpr UndefinedRule kBits = UndefinedRule::kBits;
constexpr UndefinedRule kCarry = UndefinedRule::kCarry;
constexpr UndefinedRule kStructure1 = UndefinedRule::kStructure1;
constexpr UndefinedRule kStructure2 = UndefinedRule::kStructure2;

constexpr Semantics kMoves[] = {
    {Op::kMovPred, Elementwise<Same<bool>>, kBits},
    {Op::kMovB16, Elementwise<Same<uint16_t>>, kBits},
    {Op::kMovB32, Elementwise<Same<uint32_t>>, kBits},
    {Op::kMovB64, Elementwise<Same<uint64_t>>, kBits},
    {Op::kPackB32, Elementwise<PackHalves>, kStructure2},
    {Op::kUnpackB32, Unpack<uint32_t, uint32_t>, UndefinedRule::kNone},
    {Op::kPackB64, Elementwise<PackWords>, kStructure2},
    {Op::kUnpackB64, Unpack<uint64_t, uint32_t>, UndefinedRule::kNone},
    {Op::kExtendB16, Elementwise<Extend>, kStructure1},
    {Op::kTruncateB32, Elementwise<Truncate>, kStructure1},
};

constexpr Semantics kIntegers[] = {
    {Op::kAddS32, Elementwise<Add<uint32_t>>, kCarry},
    {Op::kAddS64, Elementwise<Add<uint64_t>>, kCarry},
    {Op::kSubS32, Elementwise<Subtract<uint32_t>>, kCarry},
    {Op::kSubS64, Elementwise<Subtract<uint64_t>>, kCarry},
    {Op::kMulLoS32, Elementwise<Multiply<uint32_t>>, kCarry},
    {Op::kMulLoS64, Elementwise<Multiply<uint64_t>>, kCarry},
    {Op::kMulHiS32, Elementwise<MultiplyHigh<int32_t>>, kAll},
    {Op::kMulHiU32, Elementwise<MultiplyHigh<uint32_t>>, kAll},
    {Op::kMulHiS64, Elementwise<MultiplyHigh<int64_t>>, kAll},
    {Op::kMulHiU64, Elementwise<MultiplyHigh<uint64_t>>, kAll},
    {Op::kMulWideS32, Elementwise<MultiplyWide>, kCarry},
    {Op::kMulWideU32, Elementwise<MultiplyWideUnsigned>, kCarry},
    {Op::kMadLoS32, Elementwise<MultiplyAdd<uint32_t>>, kCarry},
    {Op::kMadLoS64, Elementwise<MultiplyAdd<uint64_t>>, kCarry},
    {Op::kMadWideS32, Elementwise<MultiplyAddWide>, kCarry},
    {Op::kMadWideU32, Elementwise<MultiplyAddWideUnsigned>, kCarry},
    {Op::kDivS32, Elementwise<Divide<int32_t>>, kAll},
    {Op::kDivU32, Elementwise<Divide<uint32_t>>, kAll},
    {Op::kDivS64, Elementwise<Divide<int64_t>>, kAll},
    {Op::kDivU64, Elementwise<Divide<uint64_t>>, kAll},
    {Op::kRemS32, Elementwise<Remainder<int32_t>>, kAll},
    {Op::kRemU32, Elementwise<Remainder<uint32_t>>, kAll},
    {Op::kRemS64, Elementwise<Remainder<int64_t>>, kAll},
    {Op::kRemU64, Elementwise<Remainder<uint64_t>>, kAll},
    {Op::kMinS32, Elementwise<Min<int32_t>>, kAll},
    {Op::kMinU32, Elementwise<Min<uint32_t>>, kAll},
    {Op::kMinS64, Elementwise<Min<int64_t>>, kAll},
    {Op::kMinU64, Elementwise<Min<uint64_t>>, kAll},
    {Op::kMaxS32, Elementwise<Max<int32_t>>, kAll},
    {Op::kMaxU32, Elementwise<Max<uint32_t>>, kAll},
    {Op::kMaxS64, Elementwise<Max<int64_t>>, kAll},
    {Op::kMaxU64, Elementwise<Max<uint64_t>>, kAll},
    {Op::kAbsS32, Elementwise<Absolute<int32_t>>, kAll},
    {Op::kAbsS64, Elementwise<Absolute<int64_t>>, kAll},
    {Op::kNegS32, Elementwise<Negate<uint32_t>>, kCarry},
    {Op::kNegS64, Elementwise<Negate<uint64_t>>, kCarry},
};

}  // namespace

absl::Span<const Semantics> MoveSemantics() { return kMoves; }
absl::Span<const Semantics> IntegerSemantics() { return kIntegers; }

}  // namespace tilus::simulate

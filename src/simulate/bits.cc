// Bits, predicates, comparison and selection.
#include <algorithm>
#include <bit>
#include <cmath>

#include "simulate/elementwise.h"
#include "types/half.h"

namespace tilus::simulate {
namespace {

using machine::Compare;
using machine::Op;

template <typename T>
T And(T a, T b) {
  return a & b;
}
template <typename T>
T Or(T a, T b) {
  return a | b;
}
template <typename T>
T Xor(T a, T b) {
  return a ^ b;
}
template <typename T>
T Not(T a) {
  return static_cast<T>(~a);
}
bool NotPred(bool a) { return !a; }
bool XorPred(bool a, bool b) { return a != b; }

template <typename T>
T ShiftLeft(T a, uint32_t n) {
  return n >= 8 * sizeof(T) ? 0 : a << n;
}
template <typename T>
T ShiftRight(T a, uint32_t n) {
  constexpr uint32_t kBits = 8 * sizeof(T);
  if (n < kBits) return a >> n;
  return a < T{0} ? static_cast<T>(-1) : 0;
}

uint32_t FunnelLeft(uint32_t low, uint32_t high, uint32_t n) {
  return static_cast<uint32_t>((uint64_t{high} << 32 | low) >> (32 - n));
}
uint32_t FunnelRight(uint32_t low, uint32_t high, uint32_t n) {
  return static_cast<uint32_t>((uint64_t{high} << 32 | low) >> n);
}
uint32_t FunnelLeftWrap(uint32_t low, uint32_t high, uint32_t n) {
  return FunnelLeft(low, high, n & 31);
}
uint32_t FunnelLeftClamp(uint32_t low, uint32_t high, uint32_t n) {
  return FunnelLeft(low, high, std::min(n, 32u));
}
uint32_t FunnelRightWrap(uint32_t low, uint32_t high, uint32_t n) {
  return FunnelRight(low, high, n & 31);
}
uint32_t FunnelRightClamp(uint32_t low, uint32_t high, uint32_t n) {
  return FunnelRight(low, high, std::min(n, 32u));
}

uint32_t Lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (int row = 0; row < 8; ++row) {
    const uint32_t term = (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    result |= term & (0 - (table >> row & 1));
  }
  return result;
}

uint32_t Permute(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t pick = selector >> (4 * i);
    const uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (pick & 7))) & 0xff;
    const uint32_t sign = 0 - (byte >> 7);
    result |= (pick & 8 ? sign & 0xff : byte) << (8 * i);
  }
  return result;
}

// Position and length are taken modulo 256; bits past the word are the sign, or zero.
uint32_t ExtractUnsigned(uint32_t a, uint32_t position, uint32_t length) {
  position &= 255;
  length &= 255;
  const uint32_t field = position > 31 ? 0 : a >> position;
  return length >= 32 ? field : field & ((1u << length) - 1);
}
uint32_t ExtractSigned(uint32_t a, uint32_t position, uint32_t length) {
  position &= 255;
  length &= 255;
  if (length == 0) return 0;
  const int32_t value = static_cast<int32_t>(a);
  const int32_t field = value >> std::min(position, 31u);
  if (position + length >= 32) return static_cast<uint32_t>(field);
  return static_cast<uint32_t>(
      static_cast<int32_t>(static_cast<uint32_t>(field) << (32 - length)) >> (32 - length));
}
uint32_t Insert(uint32_t field, uint32_t into, uint32_t position, uint32_t length) {
  position &= 255;
  length &= 255;
  if (position > 31) return into;
  const uint32_t mask = (length >= 32 ? ~0u : (1u << length) - 1) << position;
  return (into & ~mask) | (field << position & mask);
}

uint32_t PopulationCount(uint32_t a) { return static_cast<uint32_t>(std::popcount(a)); }
uint32_t LeadingZeros(uint32_t a) { return static_cast<uint32_t>(std::countl_zero(a)); }
uint32_t Reverse(uint32_t a) {
  a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
  a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
  a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(a);
}

template <typename T>
T Select(T a, T b, bool p) {
  return p ? a : b;
}

// ---- Comparison. The Compare of the instruction picks one loop.
template <typename T>
struct AsIs {
  using Read = T;
  static T Value(T v) { return v; }
};
struct F16 {
  using Read = uint16_t;
  static float Value(uint16_t code) { return F16ToF32(code); }
};
struct BF16 {
  using Read = uint16_t;
  static float Value(uint16_t code) { return BF16ToF32(code); }
};

template <typename Format, typename Test>
void CompareLanes(Warp& warp, const Inst& inst, uint32_t lanes, Test test) {
  const LaneReader<typename Format::Read> a(warp, inst.src(0)), b(warp, inst.src(1));
  uint32_t mask = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    mask |= static_cast<uint32_t>(test(Format::Value(a[lane]), Format::Value(b[lane]))) << lane;
  }
  uint32_t& d = warp.Pred(inst.dst(0));
  d = (d & ~lanes) | (mask & lanes);
}

template <typename Format>
void SetPredicate(Warp& warp, const Inst& inst, uint32_t lanes) {
  const auto nan = [](auto a, auto b) { return a != a || b != b; };
  const auto run = [&](auto test) { CompareLanes<Format>(warp, inst, lanes, test); };
  WithUndefined(warp, inst, lanes, [&] {
    switch (inst.mods.compare) {
      case Compare::kEq:
        return run([](auto a, auto b) { return a == b; });
      case Compare::kNe:
        return run([=](auto a, auto b) { return a != b && !nan(a, b); });
      case Compare::kLt:
        return run([](auto a, auto b) { return a < b; });
      case Compare::kLe:
        return run([](auto a, auto b) { return a <= b; });
      case Compare::kGt:
        return run([](auto a, auto b) { return a > b; });
      case Compare::kGe:
        return run([](auto a, auto b) { return a >= b; });
      case Compare::kNeu:
        return run([](auto a, auto b) { return a != b; });
      case Compare::kNum:
        return run([=](auto a, auto b) { return !nan(a, b); });
      case Compare::kNan:
        return run(nan);
      case Compare::kNone:
        break;
    }
  });
}

constexpr UndefinedRule kAll = UndefinedRule::kAll;
constexpr UndefinedRule kAnd = UndefinedRule::kAnd;
constexpr UndefinedRule kOr = UndefinedRule::kOr;
constexpr UndefinedRule kBits = UndefinedRule::kBits;
constexpr UndefinedRule kStructure1 = UndefinedRule::kStructure1;
constexpr UndefinedRule kStructure2 = UndefinedRule::kStructure2;

constexpr Semantics kBitRows[] = {
    {Op::kAndB32, Elementwise<And<uint32_t>>, kAnd},
    {Op::kAndB64, Elementwise<And<uint64_t>>, kAnd},
    {Op::kOrB32, Elementwise<Or<uint32_t>>, kOr},
    {Op::kOrB64, Elementwise<Or<uint64_t>>, kOr},
    {Op::kXorB32, Elementwise<Xor<uint32_t>>, kBits},
    {Op::kXorB64, Elementwise<Xor<uint64_t>>, kBits},
    {Op::kNotB32, Elementwise<Not<uint32_t>>, kBits},
    {Op::kNotB64, Elementwise<Not<uint64_t>>, kBits},
    {Op::kShlB32, Elementwise<ShiftLeft<uint32_t>>, kStructure1},
    {Op::kShlB64, Elementwise<ShiftLeft<uint64_t>>, kStructure1},
    {Op::kShrU32, Elementwise<ShiftRight<uint32_t>>, kStructure1},
    {Op::kShrS32, Elementwise<ShiftRight<int32_t>>, kStructure1},
    {Op::kShrU64, Elementwise<ShiftRight<uint64_t>>, kStructure1},
    {Op::kShrS64, Elementwise<ShiftRight<int64_t>>, kStructure1},
    {Op::kShfLWrapB32, Elementwise<FunnelLeftWrap>, kStructure2},
    {Op::kShfLClampB32, Elementwise<FunnelLeftClamp>, kStructure2},
    {Op::kShfRWrapB32, Elementwise<FunnelRightWrap>, kStructure2},
    {Op::kShfRClampB32, Elementwise<FunnelRightClamp>, kStructure2},
    {Op::kLop3B32, Elementwise<Lop3>, UndefinedRule::kLop3},
    {Op::kPrmtB32, Elementwise<Permute>, kStructure2},
    {Op::kBfeU32, Elementwise<ExtractUnsigned>, kStructure1},
    {Op::kBfeS32, Elementwise<ExtractSigned>, kStructure1},
    {Op::kBfiB32, Elementwise<Insert>, kStructure2},
    {Op::kPopcB32, Elementwise<PopulationCount>, kAll},
    {Op::kClzB32, Elementwise<LeadingZeros>, kAll},
    {Op::kBrevB32, Elementwise<Reverse>, kStructure1},
};

constexpr Semantics kCompareRows[] = {
    {Op::kSetpS32, SetPredicate<AsIs<int32_t>>, kAll},
    {Op::kSetpU32, SetPredicate<AsIs<uint32_t>>, kAll},
    {Op::kSetpS64, SetPredicate<AsIs<int64_t>>, kAll},
    {Op::kSetpU64, SetPredicate<AsIs<uint64_t>>, kAll},
    {Op::kSetpF32, SetPredicate<AsIs<float>>, kAll},
    {Op::kSetpF64, SetPredicate<AsIs<double>>, kAll},
    {Op::kSetpF16, SetPredicate<F16>, kAll},
    {Op::kSetpBF16, SetPredicate<BF16>, kAll},
    {Op::kSelpB16, Elementwise<Select<uint16_t>>, kStructure2},
    {Op::kSelpB32, Elementwise<Select<uint32_t>>, kStructure2},
    {Op::kSelpB64, Elementwise<Select<uint64_t>>, kStructure2},
    {Op::kAndPred, Elementwise<And<bool>>, kAnd},
    {Op::kOrPred, Elementwise<Or<bool>>, kOr},
    {Op::kXorPred, Elementwise<XorPred>, kBits},
    {Op::kNotPred, Elementwise<NotPred>, kBits},
};

}  // namespace

absl::Span<const Semantics> BitSemantics() { return kBitRows; }
absl::Span<const Semantics> CompareSemantics() { return kCompareRows; }

}  // namespace tilus::simulate

// Undefined bits: how they pass through instructions.
#include <algorithm>
#include <array>

#include "machine/evaluate.h"
#include "simulate/warp.h"

namespace tilus::simulate {
namespace {

using machine::RegClass;

uint64_t AllBits(RegClass c) {
  return c == RegClass::kPred  ? 1
         : c == RegClass::kB16 ? 0xffff
         : c == RegClass::kB32 ? 0xffffffff
                               : ~uint64_t{0};
}

// Bits of a three-input table that differ between some choice of the undefined bits.
uint64_t Lop3Depends(const uint64_t* value, const uint64_t* undefined, uint64_t table) {
  uint64_t any = 0, all = ~uint64_t{0};
  for (int choice = 0; choice < 8; ++choice) {
    uint64_t in[3];
    for (int i = 0; i < 3; ++i) {
      in[i] = choice >> i & 1 ? value[i] | undefined[i] : value[i] & ~undefined[i];
    }
    uint64_t out = 0;
    for (int row = 0; row < 8; ++row) {
      if ((table >> row & 1) == 0) continue;
      out |= (row & 4 ? in[0] : ~in[0]) & (row & 2 ? in[1] : ~in[1]) & (row & 1 ? in[2] : ~in[2]);
    }
    any |= out;
    all &= out;
  }
  return any & ~all;
}

// The undefined bits of data sources go where the instruction sends the bits.
uint64_t Structure(const Inst& inst, absl::Span<const uint64_t> value,
                   absl::Span<const uint64_t> undefined, size_t num_data) {
  std::array<uint64_t, 4> moved{};
  for (size_t i = 0; i < value.size(); ++i) {
    if (i >= num_data && undefined[i] != 0) return ~uint64_t{0};
    moved[i] = i < num_data ? undefined[i] : value[i];
  }
  const auto bits =
      machine::Evaluate(inst.op, inst.mods, absl::MakeConstSpan(moved.data(), value.size()));
  return bits.value_or(~uint64_t{0});
}

uint64_t Halves(uint64_t undefined) {
  return ((undefined & 0xffff) != 0 ? 0xffff : 0) | ((undefined >> 16) != 0 ? 0xffff0000 : 0);
}

// Between two bytes in 16 bits and two halves in 32.
uint64_t BytePairs(uint64_t undefined, RegClass from) {
  if (from == RegClass::kB16) {
    return ((undefined & 0xff) != 0 ? 0xffff : 0) | ((undefined >> 8) != 0 ? 0xffff0000 : 0);
  }
  return ((undefined & 0xffff) != 0 ? 0xff : 0) | ((undefined >> 16) != 0 ? 0xff00 : 0);
}

// The halves of a 16- or 32-bit answer.
uint64_t Pair(uint64_t high, uint64_t low, RegClass c) {
  const int half = machine::BitsOf(c) / 2;
  const uint64_t mask = (uint64_t{1} << half) - 1;
  return (low != 0 ? mask : 0) | (high != 0 ? mask << half : 0);
}

uint64_t Combine(const Inst& inst, absl::Span<const uint64_t> value,
                 absl::Span<const uint64_t> undefined) {
  uint64_t any = 0;
  for (const uint64_t bits : undefined) any |= bits;
  if (any == 0) return 0;
  switch (inst.rule) {
    case UndefinedRule::kNone:
      return 0;
    case UndefinedRule::kAll:
      return ~uint64_t{0};
    case UndefinedRule::kCarry:
      return ~uint64_t{0} << std::countr_zero(any);
    case UndefinedRule::kAnd:
      return any & ~((~undefined[0] & ~value[0]) | (~undefined[1] & ~value[1]));
    case UndefinedRule::kOr:
      return any & ~((~undefined[0] & value[0]) | (~undefined[1] & value[1]));
    case UndefinedRule::kBits:
      return any;
    case UndefinedRule::kLop3:
      return Lop3Depends(value.data(), undefined.data(), value[3]);
    case UndefinedRule::kStructure1:
      return Structure(inst, value, undefined, 1);
    case UndefinedRule::kStructure2:
      return Structure(inst, value, undefined, 2);
    case UndefinedRule::kHalves:
      return Halves(any);
    case UndefinedRule::kPair:
      return Pair(undefined[0], undefined[1], inst.dst(0).reg_class);
    case UndefinedRule::kBytePairs:
      return BytePairs(any, inst.src(0).reg_class);
  }
  return ~uint64_t{0};
}

}  // namespace

uint64_t Warp::UndefinedBits(const Place& place, int lane) const {
  const SlotState& state = states[place.slot];
  if ((state.undefined >> lane & 1) == 0) return 0;
  const uint64_t all = AllBits(place.reg_class);
  if (place.reg_class == RegClass::kPred || (state.partial >> lane & 1) == 0) return all;
  const uint8_t* mask = undefined + place.offset;
  return all & (place.reg_class == RegClass::kB64 ? reinterpret_cast<const uint64_t*>(mask)[lane]
                                                  : reinterpret_cast<const uint32_t*>(mask)[lane]);
}

void Warp::SetUndefinedBits(const Place& place, uint32_t lanes, const LaneBits& bits) const {
  SlotState& state = states[place.slot];
  const uint64_t all = AllBits(place.reg_class);
  uint8_t* mask = undefined + place.offset;
  ForEachLane(lanes, [&](int lane) {
    const uint32_t bit = 1u << lane;
    const uint64_t value = bits.bits[lane] & all;
    state.undefined = value != 0 ? state.undefined | bit : state.undefined & ~bit;
    if (place.reg_class == RegClass::kPred) return;
    state.partial |= bit;
    if (place.reg_class == RegClass::kB64) {
      reinterpret_cast<uint64_t*>(mask)[lane] = value;
    } else {
      reinterpret_cast<uint32_t*>(mask)[lane] = static_cast<uint32_t>(value);
    }
  });
}

void UndefinedAnswer(const Warp& warp, const Inst& inst, uint32_t lanes, LaneBits* undefined) {
  std::array<uint64_t, 4> value{}, bits{};
  const size_t n = std::min<size_t>(inst.num_src, value.size());
  ForEachLane(lanes, [&](int lane) {
    for (size_t i = 0; i < n; ++i) {
      const Place& src = inst.src(static_cast<int>(i));
      value[i] = warp.Value(src, lane);
      bits[i] = warp.UndefinedBits(src, lane);
    }
    undefined->bits[lane] =
        Combine(inst, absl::MakeConstSpan(value.data(), n), absl::MakeConstSpan(bits.data(), n));
  });
}

}  // namespace tilus::simulate

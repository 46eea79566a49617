// Atomics and reductions: read, compute, write, lane by lane.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "simulate/access.h"

namespace tilus::simulate {
namespace {

using machine::Op;
using machine::Type;

enum class Update : uint8_t { kAdd, kMin, kMax, kAnd, kOr, kXor, kExchange, kCompareAndSwap };

template <typename T>
T Updated(Update update, T old, T value, T compared) {
  if constexpr (std::is_floating_point_v<T>) {
    return old + value;
  } else {
    switch (update) {
      case Update::kAdd:
        return static_cast<T>(static_cast<uint64_t>(old) + static_cast<uint64_t>(value));
      case Update::kMin:
        return std::min(old, value);
      case Update::kMax:
        return std::max(old, value);
      case Update::kAnd:
        return old & value;
      case Update::kOr:
        return old | value;
      case Update::kXor:
        return old ^ value;
      case Update::kExchange:
        return value;
      case Update::kCompareAndSwap:
        return old == compared ? value : old;
    }
  }
  return old;
}

uint64_t UpdatedBits(Update update, Type type, uint64_t old, uint64_t value, uint64_t compared) {
  const auto as = [&](auto zero) -> uint64_t {
    using T = decltype(zero);
    return ToLane<T>(Updated<T>(update, FromLane<T>(static_cast<LaneOf<T>>(old)),
                                FromLane<T>(static_cast<LaneOf<T>>(value)),
                                FromLane<T>(static_cast<LaneOf<T>>(compared))));
  };
  switch (type) {
    case Type::kS32:
      return as(int32_t{});
    case Type::kS64:
      return as(int64_t{});
    case Type::kF32:
      return as(float{});
    case Type::kF64:
      return as(double{});
    default:
      return BitsOf(type) == 64 ? as(uint64_t{}) : as(uint32_t{});
  }
}

// The undefined bits of the new value.
uint64_t UpdatedUndefined(Update update, uint64_t old, uint64_t old_undefined, uint64_t value,
                          uint64_t undefined) {
  const uint64_t any = old_undefined | undefined;
  if (any == 0) return 0;
  switch (update) {
    case Update::kAnd:
      return any & ~((~old_undefined & ~old) | (~undefined & ~value));
    case Update::kOr:
      return any & ~((~old_undefined & old) | (~undefined & value));
    case Update::kXor:
      return any;
    case Update::kExchange:
      return undefined;
    default:
      return ~uint64_t{0};
  }
}

struct Operands {
  uint64_t value = 0;
  uint64_t undefined = 0;  // of value, or of what it is compared with
  uint64_t compared = 0;
};

Operands OperandsOf(const Warp& warp, const Inst& inst, Update update, int lane) {
  Operands o;
  const bool swap = update == Update::kCompareAndSwap;
  const Place& value = inst.src(swap ? 2 : 1);
  o.value = warp.Value(value, lane);
  o.undefined = warp.UndefinedBits(value, lane);
  if (swap) {
    o.compared = warp.Value(inst.src(1), lane);
    o.undefined |= warp.UndefinedBits(inst.src(1), lane);
  }
  return o;
}

void SetOld(const Warp& warp, const Inst& inst, int lane, uint64_t old, uint64_t undefined) {
  if (inst.num_dst == 0) return;
  LaneBits bits;
  bits.bits[lane] = undefined;
  warp.SetValue(inst.dst(0), lane, old);
  warp.SetUndefinedBits(inst.dst(0), 1u << lane, bits);
}

// Additions of f32 in global memory flush subnormals, operands and result, to zero of their sign.
uint64_t Flushed(uint64_t bits) { return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits; }

template <Update kUpdate>
uint64_t UpdatedGlobal(Type type, uint64_t old, const Operands& operands) {
  if (kUpdate == Update::kAdd && type == Type::kF32) {
    return Flushed(UpdatedBits(kUpdate, type, Flushed(old), Flushed(operands.value), 0));
  }
  return UpdatedBits(kUpdate, type, old, operands.value, operands.compared);
}

template <Update kUpdate>
void AtomicGlobal(Warp& warp, const Inst& inst, uint32_t lanes) {
  const Place& place = inst.src(0);
  const uint32_t bytes = static_cast<uint32_t>(BitsOf(inst.mods.type)) / 8;
  GlobalMemory& global = warp.block->global();
  ForEachLane(DefinedAddresses(warp, inst, place, lanes), [&](int lane) {
    const Site site{warp, inst, lane};
    const uint64_t address = GlobalAddress(warp, place, lane);
    const Operands operands = OperandsOf(warp, inst, kUpdate, lane);
    Findings& findings = warp.block->findings();
    if (operands.undefined != 0 && findings.IsNew(Fault::kUninitialised, inst)) {
      findings.Add(Fault::kUninitialised, site, "uninitialised data goes into global memory");
    }
    if (!global.Check(site, address, bytes, bytes)) return SetOld(warp, inst, lane, 0, 0);
    uint64_t old = 0;
    CopyBytes(&old, HostPointer(address), bytes);
    const uint64_t value = UpdatedGlobal<kUpdate>(inst.mods.type, old, operands);
    BeforeOrderedWrite(warp, inst, address);
    global.NoteWrite(site, address, bytes, Strength::kStrong, &value);
    CopyBytes(HostPointer(address), &value, bytes);
    AfterOrderedRead(warp, inst, address);
    SetOld(warp, inst, lane, old, 0);
  });
}

template <Update kUpdate>
void AtomicShared(Warp& warp, const Inst& inst, uint32_t lanes) {
  const uint32_t bytes = static_cast<uint32_t>(BitsOf(inst.mods.type)) / 8;
  SharedMemory& shared = warp.block->shared();
  uint32_t offsets[kLanes];
  const uint32_t good = LocateShared(warp, inst, inst.src(0), lanes, bytes, offsets);
  shared.CountWavefronts(good, offsets, bytes);
  ForEachLane(lanes & ~good, [&](int lane) { SetOld(warp, inst, lane, 0, 0); });
  ForEachLane(good, [&](int lane) {
    const Site site{warp, inst, lane};
    const Operands operands = OperandsOf(warp, inst, kUpdate, lane);
    uint64_t old = 0, old_undefined = 0;
    BeforeOrderedWrite(warp, inst, SharedLocation(offsets[lane]));
    shared.Load(site, offsets[lane], bytes, Strength::kStrong, &old, &old_undefined);
    const uint64_t value =
        UpdatedBits(kUpdate, inst.mods.type, old, operands.value, operands.compared);
    const uint64_t undefined =
        UpdatedUndefined(kUpdate, old, old_undefined, operands.value, operands.undefined);
    shared.Store(site, offsets[lane], bytes, Strength::kStrong, &value, &undefined);
    AfterOrderedRead(warp, inst, SharedLocation(offsets[lane]));
    SetOld(warp, inst, lane, old, old_undefined);
  });
}

constexpr Semantics kRows[] = {
    {Op::kAtomGlobalAdd, AtomicGlobal<Update::kAdd>},
    {Op::kAtomGlobalMin, AtomicGlobal<Update::kMin>},
    {Op::kAtomGlobalMax, AtomicGlobal<Update::kMax>},
    {Op::kAtomGlobalAnd, AtomicGlobal<Update::kAnd>},
    {Op::kAtomGlobalOr, AtomicGlobal<Update::kOr>},
    {Op::kAtomGlobalXor, AtomicGlobal<Update::kXor>},
    {Op::kAtomGlobalExch, AtomicGlobal<Update::kExchange>},
    {Op::kAtomGlobalCas, AtomicGlobal<Update::kCompareAndSwap>},
    {Op::kAtomSharedAdd, AtomicShared<Update::kAdd>},
    {Op::kAtomSharedMin, AtomicShared<Update::kMin>},
    {Op::kAtomSharedMax, AtomicShared<Update::kMax>},
    {Op::kAtomSharedAnd, AtomicShared<Update::kAnd>},
    {Op::kAtomSharedOr, AtomicShared<Update::kOr>},
    {Op::kAtomSharedXor, AtomicShared<Update::kXor>},
    {Op::kAtomSharedExch, AtomicShared<Update::kExchange>},
    {Op::kAtomSharedCas, AtomicShared<Update::kCompareAndSwap>},
    {Op::kRedGlobalAdd, AtomicGlobal<Update::kAdd>},
    {Op::kRedGlobalMin, AtomicGlobal<Update::kMin>},
    {Op::kRedGlobalMax, AtomicGlobal<Update::kMax>},
    {Op::kRedGlobalAnd, AtomicGlobal<Update::kAnd>},
    {Op::kRedGlobalOr, AtomicGlobal<Update::kOr>},
    {Op::kRedGlobalXor, AtomicGlobal<Update::kXor>},
    {Op::kRedSharedAdd, AtomicShared<Update::kAdd>},
    {Op::kRedSharedMin, AtomicShared<Update::kMin>},
    {Op::kRedSharedMax, AtomicShared<Update::kMax>},
    {Op::kRedSharedAnd, AtomicShared<Update::kAnd>},
    {Op::kRedSharedOr, AtomicShared<Update::kOr>},
    {Op::kRedSharedXor, AtomicShared<Update::kXor>},
};

}  // namespace

absl::Span<const Semantics> AtomicSemantics() { return kRows; }

}  // namespace tilus::simulate

// Loads and stores.
#include "absl/strings/str_cat.h"
#include "simulate/access.h"

namespace tilus::simulate {
namespace {

using machine::Cache;
using machine::Op;

// ---- Between registers and the bytes of lanes. T is the element in memory; signed types extend.

template <typename T>
void ToRegister(const Warp& warp, const Place& place, uint32_t lanes, const LaneBytes& bytes,
                size_t offset) {
  using Lane = LaneOf<T>;
  alignas(64) Lane out[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    T value;
    std::memcpy(&value, bytes.at[lane] + offset, sizeof value);
    out[lane] = static_cast<Lane>(value);
  }
  WriteLanes(warp, place, lanes, out);
}

template <typename T>
void ToUndefined(const LaneBytes& bytes, size_t offset, LaneBits* undefined) {
  for (int lane = 0; lane < kLanes; ++lane) {
    T value;
    std::memcpy(&value, bytes.at[lane] + offset, sizeof value);
    undefined->bits[lane] = static_cast<uint64_t>(value);
  }
}

template <typename T>
void FromRegister(const Warp& warp, const Place& place, LaneBytes* bytes, size_t offset) {
  const LaneOf<T>* lanes = warp.Lanes<const LaneOf<T>>(place);
  for (int lane = 0; lane < kLanes; ++lane) {
    const T value = static_cast<T>(lanes[lane]);
    std::memcpy(bytes->at[lane] + offset, &value, sizeof value);
  }
}

// Calls visit(T{}) with the C++ type of an element.
template <typename Visit>
void WithElement(machine::Type type, const Visit& visit) {
  switch (BitsOf(type)) {
    case 8:
      return IsSigned(type) ? visit(int8_t{}) : visit(uint8_t{});
    case 16:
      return IsSigned(type) ? visit(int16_t{}) : visit(uint16_t{});
    case 32:
      return visit(uint32_t{});
    default:
      return visit(uint64_t{});
  }
}

void WriteRegisters(const Warp& warp, const Inst& inst, uint32_t lanes, const LaneBytes& data) {
  WithElement(inst.mods.type, [&](auto zero) {
    using T = decltype(zero);
    for (int i = 0; i < inst.num_dst; ++i) {
      ToRegister<T>(warp, inst.dst(i), lanes, data, static_cast<size_t>(i) * sizeof(T));
      warp.SetDefined(inst.dst(i), lanes);
    }
  });
}

void WriteUndefined(const Warp& warp, const Inst& inst, uint32_t lanes,
                    const LaneBytes& undefined) {
  WithElement(inst.mods.type, [&](auto zero) {
    using T = decltype(zero);
    for (int i = 0; i < inst.num_dst; ++i) {
      LaneBits bits;
      ToUndefined<T>(undefined, static_cast<size_t>(i) * sizeof(T), &bits);
      warp.SetUndefinedBits(inst.dst(i), lanes, bits);
    }
  });
}

// Values of a store: the sources behind the address.
void ReadRegisters(const Warp& warp, const Inst& inst, LaneBytes* data) {
  WithElement(inst.mods.type, [&](auto zero) {
    using T = decltype(zero);
    for (int i = 1; i < inst.num_src; ++i) {
      FromRegister<T>(warp, inst.src(i), data, static_cast<size_t>(i - 1) * sizeof(T));
    }
  });
}

// The undefined bits of what a store writes; gives the lanes that have any.
uint32_t ReadUndefined(const Warp& warp, const Inst& inst, uint32_t lanes, LaneBytes* undefined) {
  std::memset(undefined, 0, sizeof *undefined);
  uint32_t any = 0;
  const uint32_t bytes = static_cast<uint32_t>(BitsOf(inst.mods.type)) / 8;
  for (int i = 1; i < inst.num_src; ++i) {
    ForEachLane(warp.UndefinedLanes(inst.src(i), lanes), [&](int lane) {
      uint64_t bits = warp.UndefinedBits(inst.src(i), lane);
      if (bytes < 8) bits &= (uint64_t{1} << (8 * bytes)) - 1;
      std::memcpy(undefined->at[lane] + static_cast<uint32_t>(i - 1) * bytes, &bits, bytes);
      if (bits != 0) any |= 1u << lane;
    });
  }
  return any;
}

// ---- Handlers.

void LoadGlobal(Warp& warp, const Inst& inst, uint32_t lanes) {
  const Place& place = inst.src(0);
  const uint32_t bytes = inst.access_bytes;
  const bool coherent =
      inst.mods.cache != Cache::kNonCoherent && inst.mods.cache != Cache::kNonCoherentNoAllocate;
  const Strength strength = StrengthOf(inst);
  GlobalMemory& global = warp.block->global();
  LaneBytes data;
  std::memset(&data, 0, sizeof data);
  ForEachLane(DefinedAddresses(warp, inst, place, lanes), [&](int lane) {
    const Site site{warp, inst, lane};
    const uint64_t address = GlobalAddress(warp, place, lane);
    if (!global.Check(site, address, bytes, bytes)) return;
    if (strength == Strength::kStrong) AfterOrderedRead(warp, inst, address);
    if (coherent) {
      global.NoteRead(site, address, bytes, strength);
    } else {
      global.NoteNonCoherentRead(site, address, bytes);
    }
    CopyBytes(data.at[lane], HostPointer(address), bytes);
  });
  WriteRegisters(warp, inst, lanes, data);
}

void StoreGlobal(Warp& warp, const Inst& inst, uint32_t lanes) {
  const Place& place = inst.src(0);
  const uint32_t bytes = inst.access_bytes;
  const Strength strength = StrengthOf(inst);
  GlobalMemory& global = warp.block->global();
  LaneBytes data;
  ReadRegisters(warp, inst, &data);
  if (warp.UndefinedSources(inst, lanes)) {
    LaneBytes undefined;
    const uint32_t some = ReadUndefined(warp, inst, lanes, &undefined);
    Findings& findings = warp.block->findings();
    if (some != 0 && findings.IsNew(Fault::kUninitialised, inst)) {
      findings.Add(Fault::kUninitialised, {warp, inst, std::countr_zero(some)},
                   "uninitialised data is stored to global memory");
    }
  }
  ForEachLane(DefinedAddresses(warp, inst, place, lanes), [&](int lane) {
    const Site site{warp, inst, lane};
    const uint64_t address = GlobalAddress(warp, place, lane);
    if (!global.Check(site, address, bytes, bytes)) return;
    if (strength == Strength::kStrong) BeforeOrderedWrite(warp, inst, address);
    global.NoteWrite(site, address, bytes, strength, data.at[lane]);
    CopyBytes(HostPointer(address), data.at[lane], bytes);
  });
}

void LoadShared(Warp& warp, const Inst& inst, uint32_t lanes) {
  const uint32_t bytes = inst.access_bytes;
  const Strength strength = StrengthOf(inst);
  SharedMemory& shared = warp.block->shared();
  uint32_t offsets[kLanes];
  const uint32_t good = LocateShared(warp, inst, inst.src(0), lanes, bytes, offsets);
  LaneBytes data, undefined;
  std::memset(&data, 0, sizeof data);
  std::memset(&undefined, 0, sizeof undefined);
  ForEachLane(good, [&](int lane) {
    if (strength == Strength::kStrong) AfterOrderedRead(warp, inst, SharedLocation(offsets[lane]));
    shared.Load({warp, inst, lane}, offsets[lane], bytes, strength, data.at[lane],
                undefined.at[lane]);
  });
  shared.CountWavefronts(good, offsets, bytes);
  WriteRegisters(warp, inst, lanes, data);
  uint64_t any = 0;
  for (const auto& lane : undefined.at) {
    uint64_t words[2];
    std::memcpy(words, lane, sizeof words);
    any |= words[0] | words[1];
  }
  if (any != 0) WriteUndefined(warp, inst, lanes, undefined);
}

void StoreShared(Warp& warp, const Inst& inst, uint32_t lanes) {
  const uint32_t bytes = inst.access_bytes;
  const Strength strength = StrengthOf(inst);
  SharedMemory& shared = warp.block->shared();
  uint32_t offsets[kLanes];
  const uint32_t good = LocateShared(warp, inst, inst.src(0), lanes, bytes, offsets);
  LaneBytes data, undefined;
  ReadRegisters(warp, inst, &data);
  ReadUndefined(warp, inst, lanes, &undefined);
  ForEachLane(good, [&](int lane) {
    if (strength == Strength::kStrong) {
      BeforeOrderedWrite(warp, inst, SharedLocation(offsets[lane]));
    }
    shared.Store({warp, inst, lane}, offsets[lane], bytes, strength, data.at[lane],
                 undefined.at[lane]);
  });
  shared.CountWavefronts(good, offsets, bytes);
}

void RunFence(Warp& warp, const Inst&, uint32_t) { warp.block->Fence(warp); }

constexpr Semantics kRows[] = {
    // Decoded as a move of a constant.
    {Op::kLdParam, Elementwise<+[](uint32_t a) { return a; }>, UndefinedRule::kBits},
    {Op::kLdGlobal, LoadGlobal},
    {Op::kStGlobal, StoreGlobal},
    {Op::kLdShared, LoadShared},
    {Op::kStShared, StoreShared},
    {Op::kFence, RunFence},
};

}  // namespace

absl::Span<const Semantics> MemorySemantics() { return kRows; }

}  // namespace tilus::simulate

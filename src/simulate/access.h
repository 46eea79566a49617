// What memory handlers share: addresses per lane, the bytes of each lane, and moving them from and
// to registers.
#pragma once

#include <cstdint>
#include <cstring>

#include "simulate/elementwise.h"
#include "simulate/thread_block.h"

namespace tilus::simulate {

inline constexpr uint32_t kMaxAccessBytes = 16;

// The bytes that each lane moves. Those of lanes that do not take part are unspecified.
struct LaneBytes {
  alignas(64) uint8_t at[kLanes][kMaxAccessBytes];
};

inline void CopyBytes(void* to, const void* from, uint32_t bytes) {
  switch (bytes) {
    case 1:
      std::memcpy(to, from, 1);
      break;
    case 2:
      std::memcpy(to, from, 2);
      break;
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 8:
      std::memcpy(to, from, 8);
      break;
    case 16:
      std::memcpy(to, from, 16);
      break;
    default:
      std::memcpy(to, from, bytes);
  }
}

// The lanes whose address is defined; a finding for the others.
inline uint32_t DefinedAddresses(Warp& warp, const Inst& inst, const Place& place, uint32_t lanes) {
  const uint32_t some = warp.UndefinedLanes(place, lanes);
  if (some == 0) [[likely]]
    return lanes;
  Findings& findings = warp.block->findings();
  if (findings.IsNew(Fault::kUninitialised, inst)) {
    findings.Add(Fault::kUninitialised, {warp, inst, std::countr_zero(some)},
                 "an address depends on uninitialised data");
  }
  return lanes & ~some;
}

inline uint64_t GlobalAddress(const Warp& warp, const Place& place, int lane) {
  return warp.B64(place)[lane] + static_cast<uint64_t>(int64_t{place.add});
}

inline void* HostPointer(uint64_t address) { return reinterpret_cast<void*>(address); }

// Offsets in the shared region, for the lanes whose access of `bytes` is inside it and aligned;
// findings for the others. Gives those lanes.
inline uint32_t LocateShared(Warp& warp, const Inst& inst, const Place& place, uint32_t lanes,
                             uint32_t bytes, uint32_t* offsets) {
  lanes = DefinedAddresses(warp, inst, place, lanes);
  const uint32_t* address = warp.B32(place);
  ForEachLane(lanes, [&](int lane) {
    const int64_t offset =
        warp.block->shared().Locate({warp, inst, lane}, address[lane], place.add, bytes, bytes);
    if (offset < 0) {
      lanes &= ~(1u << lane);
    } else {
      offsets[lane] = static_cast<uint32_t>(offset);
    }
  });
  return lanes;
}

inline Strength StrengthOf(const Inst& inst) {
  return inst.mods.order == machine::Order::kWeak ? Strength::kWeak : Strength::kStrong;
}

// A place that ordered accesses of shared memory meet at; global ones meet at their address.
inline uint64_t SharedLocation(uint32_t offset) { return uint64_t{1} << 63 | offset; }

// Around an ordered access: before a write, after a read.
inline void BeforeOrderedWrite(const Warp& warp, const Inst& inst, uint64_t location) {
  const bool release =
      inst.mods.order == machine::Order::kRelease || inst.mods.order == machine::Order::kAcqRel;
  if (release) warp.block->Release(warp, location);
  warp.block->NoteOrderedWrite(warp, location);
}
inline void AfterOrderedRead(const Warp& warp, const Inst& inst, uint64_t location) {
  const bool acquire =
      inst.mods.order == machine::Order::kAcquire || inst.mods.order == machine::Order::kAcqRel;
  if (acquire) warp.block->Acquire(warp, location);
  warp.block->NoteOrderedRead(warp, location);
}

}  // namespace tilus::simulate

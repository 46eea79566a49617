// The state of one warp: registers of 32 lanes, which of their bits are defined, and where in the
// program it is.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "simulate/code.h"

namespace tilus::simulate {

class ThreadBlock;

inline constexpr int kLanes = 32;
inline constexpr uint32_t kAllLanes = 0xffffffff;

// Lanes in which bits of a register are undefined: all of them, or, where `partial` has the lane
// too, those of the mask in Warp::undefined.
struct SlotState {
  uint32_t undefined = kAllLanes;
  uint32_t partial = 0;
};

// Undefined bits of a value per lane.
struct LaneBits {
  alignas(64) uint64_t bits[kLanes] = {};
};

// Calls visit(lane) for each lane of `lanes`, in order.
template <typename Visit>
void ForEachLane(uint32_t lanes, const Visit& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(std::countr_zero(lanes));
}

// An asynchronous copy that one instruction started, not performed yet in `lanes`.
struct PendingCopy {
  const Inst* inst = nullptr;
  uint32_t lanes = 0;
  uint8_t bytes = 0;             // written to shared memory
  uint32_t group[kLanes] = {};   // commits of the lane before it
  uint32_t shared[kLanes] = {};  // offset in the shared region
  uint64_t global[kLanes] = {};
  uint8_t source_bytes[kLanes] = {};
};

struct Warp {
  enum class Status : uint8_t { kReady, kBlocked, kDone };

  // Of an if or loop that the warp is inside.
  struct Frame {
    uint32_t outside = 0;    // lanes that came to it
    uint32_t otherwise = 0;  // if: lanes of the else part
    uint32_t broken = 0;     // loop: Warp::broken and continued of the loop around it
    uint32_t continued = 0;
  };

  ThreadBlock* block = nullptr;
  uint32_t index = 0;
  Status status = Status::kReady;
  bool yields = false;  // gives up the rest of its turn
  uint32_t pc = 0;
  uint32_t active = kAllLanes;
  uint32_t exited = 0;
  uint32_t broken = 0;  // lanes that left the innermost loop, or its present round
  uint32_t continued = 0;
  uint32_t issued = 0;   // instructions, modulo 2^32
  uint32_t barrier = 0;  // that it waits at
  std::vector<Frame> frames;

  // Registers, then constants: Place::is_constant tells. Constants are never written.
  uint8_t* base[2] = {};
  uint8_t* undefined = nullptr;  // masks, by the offsets of registers
  SlotState* states = nullptr;

  uint32_t commits[kLanes] = {};  // groups of asynchronous copies
  std::vector<PendingCopy> copies;

  template <typename T>
  T* Lanes(const Place& place) const {
    return reinterpret_cast<T*>(base[place.is_constant] + place.offset);
  }
  uint32_t* B32(const Place& place) const { return Lanes<uint32_t>(place); }
  uint64_t* B64(const Place& place) const { return Lanes<uint64_t>(place); }
  // A bit per lane.
  uint32_t& Pred(const Place& place) const { return *Lanes<uint32_t>(place); }

  // The value of a lane, zero-extended, whatever the class.
  uint64_t Value(const Place& place, int lane) const {
    switch (place.reg_class) {
      case machine::RegClass::kPred:
        return Pred(place) >> lane & 1;
      case machine::RegClass::kB64:
        return B64(place)[lane];
      default:
        return B32(place)[lane];
    }
  }
  void SetValue(const Place& place, int lane, uint64_t value) const {
    switch (place.reg_class) {
      case machine::RegClass::kPred: {
        uint32_t& mask = Pred(place);
        mask = (mask & ~(1u << lane)) | static_cast<uint32_t>(value & 1) << lane;
        break;
      }
      case machine::RegClass::kB64:
        B64(place)[lane] = value;
        break;
      default:
        B32(place)[lane] = static_cast<uint32_t>(value);
    }
  }

  // Lanes of `lanes` where some bit of the operand is undefined.
  uint32_t UndefinedLanes(const Place& place, uint32_t lanes) const {
    return states[place.slot].undefined & lanes;
  }
  // The same over all sources.
  uint32_t UndefinedSources(const Inst& inst, uint32_t lanes) const {
    uint32_t any = 0;
    for (int i = 0; i < inst.num_src; ++i) any |= states[inst.src(i).slot].undefined;
    return any & lanes;
  }
  // Which bits of the operand are undefined in a lane.
  uint64_t UndefinedBits(const Place& place, int lane) const;
  void SetDefined(const Place& place, uint32_t lanes) const {
    states[place.slot].undefined &= ~lanes;
  }
  void SetUndefinedBits(const Place& place, uint32_t lanes, const LaneBits& undefined) const;
};

// Which bits of the (single) answer of `inst` are undefined, by its rule. To be called before the
// answer is written, which may overwrite a source.
void UndefinedAnswer(const Warp& warp, const Inst& inst, uint32_t lanes, LaneBits* undefined);

}  // namespace tilus::simulate

// What happens before what: vector clocks of the warps of a block.
//
// A warp's own clock ticks when its lanes meet (bar.warp.sync, bar.sync, bar.arrive, a release).
// An access is stamped with the clock of its warp; a later access by warp w is ordered behind it
// when w knows of that clock through barriers, or when the thread is the same.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tilus::simulate {

inline constexpr int kMaxWarps = 32;
using Knowledge = std::array<uint32_t, kMaxWarps>;  // per warp, the last clock known

// Of a memory access: clock, thread, how it was done, which bytes of a word it touched, and which
// instruction of the warp did it (modulo 2^17). 0 = none.
class Stamp {
 public:
  Stamp() = default;
  static Stamp Of(uint32_t clock, uint32_t thread, bool strong, uint32_t serial) {
    return Stamp(uint64_t{clock} << 32 | thread << 22 | (strong ? kStrongBit : 0u) |
                 (serial & kSerialMask));
  }
  // The same access, of the bytes of a 4-byte mask.
  Stamp WithBytes(uint32_t mask) const { return Stamp(bits_ | mask << kMaskShift); }

  bool none() const { return bits_ == 0; }
  uint32_t clock() const { return static_cast<uint32_t>(bits_ >> 32); }
  uint32_t thread() const { return static_cast<uint32_t>(bits_) >> 22; }
  uint32_t warp() const { return thread() / 32; }
  uint32_t lane() const { return thread() % 32; }
  bool strong() const { return (bits_ & kStrongBit) != 0; }  // atomic or ordered
  uint32_t bytes() const { return static_cast<uint32_t>(bits_) >> kMaskShift & 15; }
  // Same instruction of the same warp.
  bool SameIssue(Stamp other) const {
    return warp() == other.warp() && clock() == other.clock() &&
           ((bits_ ^ other.bits_) & kSerialMask) == 0;
  }
  friend bool operator==(Stamp a, Stamp b) { return a.bits_ == b.bits_; }

 private:
  static constexpr uint32_t kSerialMask = (1u << 17) - 1;
  static constexpr uint32_t kMaskShift = 17;
  static constexpr uint32_t kStrongBit = 1u << 21;
  explicit Stamp(uint64_t bits) : bits_(bits) {}
  uint64_t bits_ = 0;
};

class Clocks {
 public:
  // All that happened before, in other blocks too, becomes known to every warp.
  void Restart(int num_warps) {
    uint32_t last = 0;
    for (const uint32_t clock : now_) last = std::max(last, clock);
    now_.assign(static_cast<size_t>(num_warps), last + 1);
    known_.assign(static_cast<size_t>(num_warps), Knowledge{});
    for (Knowledge& k : known_) k.fill(last);
  }

  uint32_t now(uint32_t warp) const { return now_[warp]; }
  const Knowledge& known(uint32_t warp) const { return known_[warp]; }

  // Whether what has this clock in `other` lies before whatever `warp` does next. Lanes of a warp
  // are ordered by its ticks.
  bool Knows(uint32_t warp, uint32_t other, uint32_t clock) const {
    return clock <= known_[warp][other];
  }

  void Tick(uint32_t warp) { known_[warp][warp] = now_[warp]++; }
  void Learn(uint32_t warp, const Knowledge& from) { Join(&known_[warp], from); }
  static void Join(Knowledge* into, const Knowledge& from) {
    for (size_t i = 0; i < into->size(); ++i) (*into)[i] = std::max((*into)[i], from[i]);
  }

 private:
  std::vector<uint32_t> now_;
  std::vector<Knowledge> known_;
};

}  // namespace tilus::simulate

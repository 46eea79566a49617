// Handlers of instructions that compute one answer per lane from the sources of that lane.
//
// Elementwise<F> makes one of a function of one to four values. The types of F's parameters and
// result say how registers are read and written: uint16_t, uint32_t, int32_t, float from 32-bit
// lanes, uint64_t, int64_t, double from 64-bit lanes, bool from predicates.
//
// NaNs are the machine's: float results are 7fffffff; double results keep the sign and payload of
// a NaN operand, made quiet, and are fff8000000000000 where no operand is one, as on the host.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "simulate/warp.h"

namespace tilus::simulate {

inline constexpr uint32_t kNanF32 = 0x7fffffff;
inline constexpr uint16_t kNanHalf = 0x7fff;  // of f16 and bf16

template <typename T>
using LaneOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T>
T FromLane(LaneOf<T> bits) {
  if constexpr (sizeof(T) >= 4) {
    return std::bit_cast<T>(bits);
  } else {
    return static_cast<T>(bits);
  }
}

template <typename T>
LaneOf<T> ToLane(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::isnan(value) ? kNanF32 : std::bit_cast<uint32_t>(value);
  } else if constexpr (sizeof(T) >= 4) {
    return std::bit_cast<LaneOf<T>>(value);
  } else {
    return static_cast<LaneOf<T>>(value);
  }
}

// Reads the lanes of one source as T.
template <typename T>
struct LaneReader {
  LaneReader(const Warp& warp, const Place& place) : lanes(warp.Lanes<const LaneOf<T>>(place)) {}
  T operator[](int lane) const { return FromLane<T>(lanes[lane]); }
  const LaneOf<T>* lanes;
};
template <>
struct LaneReader<bool> {
  LaneReader(const Warp& warp, const Place& place) : mask(warp.Pred(place)) {}
  bool operator[](int lane) const { return mask >> lane & 1; }
  uint32_t mask;
};

// Writes `out` to the lanes of a register.
template <typename T>
void WriteLanes(const Warp& warp, const Place& place, uint32_t lanes, const T* out) {
  T* d = warp.Lanes<T>(place);
  if (lanes == kAllLanes) {
    std::memcpy(d, out, kLanes * sizeof(T));
    return;
  }
  ForEachLane(lanes, [&](int lane) { d[lane] = out[lane]; });
}

// Marks the answer as defined as the sources are, around its computation: `compute` writes it.
template <typename Compute>
void WithUndefined(const Warp& warp, const Inst& inst, uint32_t lanes, const Compute& compute) {
  if (const uint32_t some = warp.UndefinedSources(inst, lanes)) [[unlikely]] {
    LaneBits undefined;
    UndefinedAnswer(warp, inst, some, &undefined);
    compute();
    warp.SetUndefinedBits(inst.dst(0), lanes, undefined);
    return;
  }
  compute();
  warp.SetDefined(inst.dst(0), lanes);
}

template <auto F, typename Signature = decltype(F)>
struct ElementwiseHandler;

template <auto F, typename R, typename... A>
struct ElementwiseHandler<F, R (*)(A...)> {
  static void Run(Warp& warp, const Inst& inst, uint32_t lanes) {
    WithUndefined(warp, inst, lanes,
                  [&] { Compute(warp, inst, lanes, std::index_sequence_for<A...>()); });
  }

 private:
  template <size_t... I>
  static void Compute(const Warp& warp, const Inst& inst, uint32_t lanes,
                      std::index_sequence<I...>) {
    const std::tuple<LaneReader<A>...> in{LaneReader<A>(warp, inst.src(I))...};
    if constexpr (std::is_same_v<R, bool>) {
      uint32_t mask = 0;
      for (int lane = 0; lane < kLanes; ++lane) {
        mask |= static_cast<uint32_t>(F(std::get<I>(in)[lane]...)) << lane;
      }
      uint32_t& d = warp.Pred(inst.dst(0));
      d = (d & ~lanes) | (mask & lanes);
    } else {
      alignas(64) LaneOf<R> out[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) out[lane] = ToLane<R>(F(std::get<I>(in)[lane]...));
      WriteLanes(warp, inst.dst(0), lanes, out);
    }
  }
};

template <auto F>
inline constexpr Handler Elementwise = ElementwiseHandler<F>::Run;

}  // namespace tilus::simulate

// One thread block: its warps, shared memory and barriers, and how warps take turns.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "simulate/clocks.h"
#include "simulate/code.h"
#include "simulate/global_memory.h"
#include "simulate/report.h"
#include "simulate/shared_memory.h"
#include "simulate/simulate.h"
#include "simulate/warp.h"

namespace tilus::simulate {

// Random numbers of a schedule (splitmix64).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  uint64_t Below(uint64_t n) { return Next() % n; }

 private:
  uint64_t state_;
};

// Runs the blocks of a launch, one at a time, with the same storage.
class ThreadBlock {
 public:
  ThreadBlock(const Code& code, absl::Span<const Argument> arguments, const Options& options,
              Report* report);

  // Runs one block to its end, or to a fault that stops the launch. False when cancelled.
  bool Run(std::array<int64_t, 3> block, std::array<int64_t, 3> grid);
  bool stopped() const { return findings_.stopped() || findings_.full(); }

  // ---- For handlers.
  const machine::Kernel& kernel() const { return *code_.kernel; }
  SharedMemory& shared() { return shared_; }
  GlobalMemory& global() { return global_; }
  Findings& findings() { return findings_; }
  Clocks& clocks() { return clocks_; }

  enum class Arrival : uint8_t { kWaits, kPasses };
  // The warp arrives at a named barrier of `threads` threads; when it waits and others are
  // missing, it is blocked.
  void Arrive(Warp& warp, const Inst& inst, uint32_t barrier, uint32_t threads, Arrival arrival);

  // Memory orders: what the warp knows goes with the location, or comes from it.
  void Release(const Warp& warp, uint64_t location);
  void Acquire(const Warp& warp, uint64_t location);
  // Ordered accesses around a fence act as its release and acquire.
  void Fence(const Warp& warp);
  void NoteOrderedWrite(const Warp& warp, uint64_t location);
  void NoteOrderedRead(const Warp& warp, uint64_t location);

  // Text printed by the kernel; whole lines go to the callback.
  void Print(const std::string& text);

 private:
  struct Barrier {
    uint32_t threads = 0;  // 0: nobody has arrived
    uint32_t arrived = 0;
    Knowledge gathered{};  // what the arrived warps know
    std::vector<uint32_t> waiting;
  };

  void StartBlock(std::array<int64_t, 3> block, std::array<int64_t, 3> grid);
  void SetSpecial(const Warp& warp, machine::Special special, uint32_t value);
  void StartWarp(Warp& warp, std::array<int64_t, 3> block, std::array<int64_t, 3> grid);
  // Runs the warp until it ends, blocks, yields, or has issued `limit` instructions.
  void Turn(Warp& warp, int64_t limit);
  void Control(Warp& warp, const Inst& inst);
  uint32_t GuardLanes(Warp& warp, const Inst& inst);
  void Finish(Warp& warp);
  bool NextWarp(uint32_t* index);
  void ReportDeadlock();

  const Code& code_;
  const Options& options_;
  Report& report_;
  Findings findings_;
  Clocks clocks_;
  SharedMemory shared_;
  GlobalMemory global_;
  Random random_;
  uint32_t last_warp_ = 0;

  std::vector<Warp> warps_;
  std::vector<uint64_t> registers_;  // of all warps
  std::vector<uint64_t> undefined_;
  std::vector<SlotState> states_;
  std::array<Barrier, 16> barriers_;

  absl::flat_hash_map<uint64_t, Knowledge> released_;  // by location
  std::vector<Knowledge> fenced_;                      // what each warp knew at its last fence
  std::vector<Knowledge> observed_;  // what ordered reads since the last fence would teach it

  std::string line_;  // printed, without its end yet
};

// Performs the copies of the warp's lanes that belong to the oldest groups: a lane's groups below
// `groups[lane]`. Copies not committed belong to the group after the last.
void PerformCopies(Warp& warp, uint32_t lanes, const uint32_t* groups);

}  // namespace tilus::simulate

// The simulator: what generated code does, warp by warp and lane by lane.
//
// What enters: a kernel of the thread-level IR and host memory. What leaves: that memory as the
// kernel leaves it, what it printed, and a report of what no hardware would forgive: races,
// uninitialised reads, accesses out of bounds or misaligned, bank conflicts.
// Thread blocks run one after the other; within a block, warps take turns. Asynchronous copies
// finish as late as the waits allow, so a missing wait is seen.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "machine/kernel.h"

namespace tilus::simulate {

// One parameter: the bits of a scalar, or the host address of a buffer. Host addresses are the
// simulated global addresses.
struct Argument {
  uint64_t value = 0;
  int64_t bytes = -1;  // of the buffer; -1 = not known: no bounds check there
};

enum class Fault : uint8_t {
  kOutOfBounds,  // global or shared access outside a buffer or the block's shared memory
  kMisaligned,
  kRace,           // two threads, at least one writes, no barrier between
  kUninitialised,  // a register or shared byte that nobody wrote decides an address, a branch,
                   // or leaves the kernel
  kDivergence,     // a convergent instruction without all its lanes; a barrier not all reach
  kDeadlock,
  kTrap,
  kStepLimit,
};
const char* FaultName(Fault fault);

struct Finding {
  Fault fault{};
  std::string path;     // of the tile instruction
  std::string message;  // block, warp, lane, address
};

struct Options {
  std::function<void(absl::string_view)> print;  // one call per line, without the newline
  std::function<bool()> cancelled;
  int64_t max_steps = int64_t{1} << 34;  // instructions times warps
  int max_findings = 16;  // one of a kind per path; the run stops when there are so many
  // 0: warps and blocks in order. Otherwise blocks run in a random order, and warps take turns of
  // random length in a random order: a kernel without races answers the same for every seed.
  uint64_t schedule_seed = 0;
};

struct Report {
  std::vector<Finding> findings;
  int64_t instructions = 0;       // warp instructions issued
  int64_t shared_wavefronts = 0;  // of shared accesses
  int64_t bank_conflicts = 0;     // wavefronts beyond the fewest possible
  bool clean() const { return findings.empty(); }
};

// Runs the whole grid. An error status is one of the caller's (arguments) or kCancelled; what the
// kernel does wrong is in the report. `arguments` are those of kernel.params in order.
absl::StatusOr<Report> Run(const machine::Kernel& kernel, std::array<int64_t, 3> grid,
                           absl::Span<const Argument> arguments, const Options& options);

}  // namespace tilus::simulate

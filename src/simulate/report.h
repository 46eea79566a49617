// Collects findings: one of a kind per tile instruction, up to a limit.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "simulate/simulate.h"
#include "simulate/warp.h"

namespace tilus::simulate {

// Who does something, for messages.
struct Site {
  const Warp& warp;
  const Inst& inst;
  int lane;
};

class Findings {
 public:
  Findings(const machine::Kernel& kernel, int limit, Report* report)
      : kernel_(kernel), limit_(limit), report_(report) {}

  void SetBlock(std::array<int64_t, 3> block) { block_ = block; }

  // Whether a finding at this place would be new: messages cost time.
  bool IsNew(Fault fault, const Inst& inst) const;
  // `what` is a clause: "the load of 4 bytes at ... is outside every buffer". A negative lane: the
  // whole warp.
  void Add(Fault fault, const Site& site, std::string what);
  // Of the block as a whole.
  void AddOfBlock(Fault fault, std::string what);

  bool full() const { return static_cast<int>(report_->findings.size()) >= limit_; }
  // Set by faults after which nothing sensible follows: traps, deadlocks, the step limit.
  bool stopped() const { return stopped_; }

 private:
  // Instructions without a path are told apart by themselves.
  std::pair<Fault, uint64_t> KeyOf(Fault fault, const Inst& inst) const;
  std::string BlockText() const;

  const machine::Kernel& kernel_;
  const int limit_;
  Report* report_;
  std::array<int64_t, 3> block_{};
  std::set<std::pair<Fault, uint64_t>> seen_;
  bool stopped_ = false;
};

}  // namespace tilus::simulate

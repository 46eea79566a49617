#include "simulate/thread_block.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tilus::simulate {
namespace {

using machine::Special;

// Instructions of a warp between looks at the others.
constexpr int64_t kTurn = 4096;

}  // namespace

ThreadBlock::ThreadBlock(const Code& code, absl::Span<const Argument> arguments,
                         const Options& options, Report* report)
    : code_(code),
      options_(options),
      report_(*report),
      findings_(*code.kernel, options.max_findings, report),
      shared_(code.kernel->shared_bytes, static_cast<int>(code.kernel->num_threads / kLanes),
              &clocks_, &findings_, report),
      global_(*code.kernel, arguments, &clocks_, &findings_),
      random_(options.schedule_seed) {
  const size_t num_warps = code.kernel->num_threads / kLanes;
  warps_.resize(num_warps);
  registers_.resize(num_warps * code.register_bytes / sizeof(uint64_t));
  undefined_.resize(registers_.size());
  states_.resize(num_warps * code.num_slots);
  for (size_t i = 0; i < num_warps; ++i) {
    Warp& warp = warps_[i];
    warp.block = this;
    warp.index = static_cast<uint32_t>(i);
    const size_t first = i * code.register_bytes / sizeof(uint64_t);
    warp.base[0] = reinterpret_cast<uint8_t*>(registers_.data() + first);
    warp.base[1] = const_cast<uint8_t*>(code.constants.data());
    warp.undefined = reinterpret_cast<uint8_t*>(undefined_.data() + first);
    warp.states = states_.data() + i * code.num_slots;
  }
}

void ThreadBlock::SetSpecial(const Warp& warp, Special special, uint32_t value) {
  std::fill_n(warp.B32(code_.specials[static_cast<size_t>(special)]), kLanes, value);
}

void ThreadBlock::StartWarp(Warp& warp, std::array<int64_t, 3> block, std::array<int64_t, 3> grid) {
  warp.status = Warp::Status::kReady;
  warp.pc = 0;
  warp.active = kAllLanes;
  warp.exited = warp.broken = warp.continued = 0;
  warp.frames.clear();
  warp.copies.clear();
  std::fill(std::begin(warp.commits), std::end(warp.commits), 0u);
  // Constants and special registers are defined, all others not.
  std::fill_n(warp.states, code_.num_slots, SlotState{0, 0});
  std::fill_n(warp.states, kernel().regs.size(), SlotState{});

  SetSpecial(warp, Special::kNtidX, kernel().num_threads);
  SetSpecial(warp, Special::kCtaidX, static_cast<uint32_t>(block[0]));
  SetSpecial(warp, Special::kCtaidY, static_cast<uint32_t>(block[1]));
  SetSpecial(warp, Special::kCtaidZ, static_cast<uint32_t>(block[2]));
  SetSpecial(warp, Special::kNctaidX, static_cast<uint32_t>(grid[0]));
  SetSpecial(warp, Special::kNctaidY, static_cast<uint32_t>(grid[1]));
  SetSpecial(warp, Special::kNctaidZ, static_cast<uint32_t>(grid[2]));
  SetSpecial(warp, Special::kSmid, 0);
  SetSpecial(warp, Special::kDynamicSmemSize, kernel().dynamic_shared_bytes());
  const auto lanes = [&](Special s) { return warp.B32(code_.specials[static_cast<size_t>(s)]); };
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    lanes(Special::kTidX)[lane] = warp.index * kLanes + lane;
    lanes(Special::kLaneId)[lane] = lane;
    lanes(Special::kLanemaskLt)[lane] = (1u << lane) - 1;
  }
}

void ThreadBlock::StartBlock(std::array<int64_t, 3> block, std::array<int64_t, 3> grid) {
  findings_.SetBlock(block);
  clocks_.Restart(static_cast<int>(warps_.size()));
  shared_.Clear();
  for (Barrier& barrier : barriers_) barrier = Barrier();
  released_.clear();
  fenced_.assign(warps_.size(), Knowledge{});
  observed_.assign(warps_.size(), Knowledge{});
  for (Warp& warp : warps_) StartWarp(warp, block, grid);
  last_warp_ = static_cast<uint32_t>(warps_.size() - 1);
}

// The next warp that can run: in turn, or any.
bool ThreadBlock::NextWarp(uint32_t* index) {
  const size_t n = warps_.size();
  const size_t start = options_.schedule_seed == 0 ? last_warp_ + 1 : random_.Below(n);
  for (size_t i = 0; i < n; ++i) {
    const size_t at = (start + i) % n;
    if (warps_[at].status != Warp::Status::kReady) continue;
    *index = last_warp_ = static_cast<uint32_t>(at);
    return true;
  }
  return false;
}

bool ThreadBlock::Run(std::array<int64_t, 3> block, std::array<int64_t, 3> grid) {
  StartBlock(block, grid);
  uint32_t index;
  while (!stopped() && NextWarp(&index)) {
    if (options_.cancelled && options_.cancelled()) return false;
    int64_t turn = kTurn;
    if (options_.schedule_seed != 0) turn = 1 + static_cast<int64_t>(random_.Below(64));
    const int64_t left = options_.max_steps - report_.instructions;
    Turn(warps_[index], std::min(turn, left));
    if (report_.instructions >= options_.max_steps && !stopped()) {
      findings_.AddOfBlock(Fault::kStepLimit,
                           absl::StrCat("the kernel ran for ", options_.max_steps,
                                        " instructions and has not ended"));
    }
  }
  if (!stopped()) ReportDeadlock();
  if (!line_.empty()) Print("\n");
  return true;
}

void ThreadBlock::ReportDeadlock() {
  std::string waiting;
  for (const Warp& warp : warps_) {
    if (warp.status != Warp::Status::kBlocked) continue;
    absl::StrAppend(&waiting, waiting.empty() ? "" : ", ", "warp ", warp.index, " at barrier ",
                    warp.barrier, " (", barriers_[warp.barrier].arrived, " of ",
                    barriers_[warp.barrier].threads, " threads)");
  }
  if (waiting.empty()) return;
  findings_.AddOfBlock(Fault::kDeadlock,
                       absl::StrCat("warps wait for ones that never arrive: ", waiting));
}

// The active lanes whose guard lets them take part.
uint32_t ThreadBlock::GuardLanes(Warp& warp, const Inst& inst) {
  if (!inst.guarded) return warp.active;
  if (const uint32_t some = warp.UndefinedLanes(inst.guard, warp.active)) [[unlikely]] {
    if (findings_.IsNew(Fault::kUninitialised, inst)) {
      findings_.Add(Fault::kUninitialised, {warp, inst, std::countr_zero(some)},
                    "a predicate that depends on uninitialised data decides what runs");
    }
  }
  const uint32_t mask = warp.Pred(inst.guard);
  return warp.active & (inst.guard_negated ? ~mask : mask);
}

void ThreadBlock::Turn(Warp& warp, int64_t limit) {
  const Inst* insts = code_.insts.data();
  int64_t steps = 0;
  warp.yields = false;
  while (steps < limit && warp.status == Warp::Status::kReady && !warp.yields) {
    const Inst& inst = insts[warp.pc];
    if (inst.kind != Inst::Kind::kOp) {
      Control(warp, inst);
      // A loop without instructions takes steps too.
      if (inst.kind == Inst::Kind::kEndLoop) ++steps;
      continue;
    }
    ++warp.pc;
    ++steps;
    ++warp.issued;
    if (const uint32_t lanes = GuardLanes(warp, inst)) inst.run(warp, inst, lanes);
    if (warp.active == 0) warp.pc = inst.target;
  }
  report_.instructions += steps;
}

void ThreadBlock::Control(Warp& warp, const Inst& inst) {
  using Kind = Inst::Kind;
  ++warp.pc;
  switch (inst.kind) {
    case Kind::kIf: {
      const uint32_t taken = GuardLanes(warp, inst);
      warp.frames.push_back({warp.active, warp.active & ~taken, 0, 0});
      warp.active = taken;
      if (taken == 0) warp.pc = inst.target;
      break;
    }
    case Kind::kElse:
      warp.active = warp.frames.back().otherwise;
      if (warp.active == 0) warp.pc = inst.target;
      break;
    case Kind::kEndIf:
      warp.active = warp.frames.back().outside & ~(warp.exited | warp.broken | warp.continued);
      warp.frames.pop_back();
      if (warp.active == 0) warp.pc = inst.target;
      break;
    case Kind::kLoop:
      warp.frames.push_back({warp.active, 0, warp.broken, warp.continued});
      warp.broken = warp.continued = 0;
      break;
    case Kind::kLatch:
      warp.continued = 0;
      warp.active = warp.frames.back().outside & ~(warp.exited | warp.broken);
      if (warp.active == 0) warp.pc = inst.target;
      break;
    case Kind::kEndLoop: {
      const Warp::Frame& frame = warp.frames.back();
      warp.continued = 0;
      warp.active = frame.outside & ~(warp.exited | warp.broken);
      if (warp.active != 0) {
        warp.pc = inst.target;
        break;
      }
      warp.active = frame.outside & ~warp.exited;
      warp.broken = frame.broken;
      warp.continued = frame.continued;
      warp.frames.pop_back();
      break;
    }
    case Kind::kBreak:
    case Kind::kContinue: {
      const uint32_t lanes = GuardLanes(warp, inst);
      (inst.kind == Kind::kBreak ? warp.broken : warp.continued) |= lanes;
      warp.active &= ~lanes;
      if (warp.active == 0) warp.pc = inst.target;
      break;
    }
    case Kind::kEnd:
      Finish(warp);
      break;
    case Kind::kOp:
      break;
  }
}

void ThreadBlock::Finish(Warp& warp) {
  uint32_t all[kLanes];
  std::fill(std::begin(all), std::end(all), ~0u);
  PerformCopies(warp, kAllLanes, all);
  warp.status = Warp::Status::kDone;
}

// ---- Barriers and orders.

void ThreadBlock::Arrive(Warp& warp, const Inst& inst, uint32_t number, uint32_t threads,
                         Arrival arrival) {
  Barrier& barrier = barriers_[number];
  if (barrier.threads == 0) {
    barrier.threads = threads;
  } else if (barrier.threads != threads) {
    findings_.Add(Fault::kDivergence, {warp, inst, -1},
                  absl::StrCat("barrier ", number, " is met for ", threads,
                               " threads while others wait for ", barrier.threads));
  }
  barrier.arrived += kLanes;
  Clocks::Join(&barrier.gathered, clocks_.known(warp.index));
  // What the warp itself did so far is what others get to know, and its lanes are in step.
  clocks_.Tick(warp.index);
  barrier.gathered[warp.index] = clocks_.known(warp.index)[warp.index];
  if (arrival == Arrival::kWaits) barrier.waiting.push_back(warp.index);
  if (barrier.arrived < barrier.threads) {
    if (arrival == Arrival::kWaits) {
      warp.status = Warp::Status::kBlocked;
      warp.barrier = number;
    }
    return;
  }
  for (const uint32_t index : barrier.waiting) {
    clocks_.Learn(index, barrier.gathered);
    warps_[index].status = Warp::Status::kReady;
  }
  barrier.threads = barrier.arrived = 0;
  barrier.gathered = Knowledge{};
  barrier.waiting.clear();
}

void ThreadBlock::Release(const Warp& warp, uint64_t location) {
  clocks_.Tick(warp.index);
  Clocks::Join(&released_[location], clocks_.known(warp.index));
}

void ThreadBlock::Acquire(const Warp& warp, uint64_t location) {
  const auto it = released_.find(location);
  if (it != released_.end()) clocks_.Learn(warp.index, it->second);
}

void ThreadBlock::Fence(const Warp& warp) {
  clocks_.Tick(warp.index);
  clocks_.Learn(warp.index, observed_[warp.index]);
  fenced_[warp.index] = clocks_.known(warp.index);
}

void ThreadBlock::NoteOrderedWrite(const Warp& warp, uint64_t location) {
  Clocks::Join(&released_[location], fenced_[warp.index]);
}

void ThreadBlock::NoteOrderedRead(const Warp& warp, uint64_t location) {
  const auto it = released_.find(location);
  if (it != released_.end()) Clocks::Join(&observed_[warp.index], it->second);
}

void ThreadBlock::Print(const std::string& text) {
  for (const char c : text) {
    if (c != '\n') {
      line_ += c;
      continue;
    }
    if (options_.print) options_.print(line_);
    line_.clear();
  }
}

}  // namespace tilus::simulate

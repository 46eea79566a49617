// Shuffles, votes, barriers, ends and messages.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "simulate/access.h"
#include "simulate/converge.h"
#include "simulate/format.h"

namespace tilus::simulate {
namespace {

using machine::Op;

enum class Shuffle : uint8_t { kIdx, kUp, kDown, kBfly };

// The lane that `lane` reads from, by the PTX definition; itself where the answer is out of range.
int SourceLane(Shuffle mode, int lane, uint32_t b, uint32_t c) {
  const int segment = static_cast<int>(c >> 8 & 31), clamp = static_cast<int>(c & 31);
  const int step = static_cast<int>(b & 31);
  const int max = (lane & segment) | (clamp & ~segment), min = lane & segment;
  int from = lane;
  bool in_range = false;
  switch (mode) {
    case Shuffle::kUp:
      from = lane - step;
      in_range = from >= max;
      break;
    case Shuffle::kDown:
      from = lane + step;
      in_range = from <= max;
      break;
    case Shuffle::kBfly:
      from = lane ^ step;
      in_range = from <= max;
      break;
    case Shuffle::kIdx:
      from = min | (step & ~segment);
      in_range = from <= max;
      break;
  }
  return in_range ? from : lane;
}

template <Shuffle kMode>
void RunShuffle(Warp& warp, const Inst& inst, uint32_t lanes) {
  RequireMembers(warp, inst, lanes, inst.src(3));
  if (DefinedControl(warp, inst, inst.src(1), lanes) == 0) return;
  if (DefinedControl(warp, inst, inst.src(2), lanes) == 0) return;
  const uint32_t* value = warp.B32(inst.src(0));
  const uint32_t* b = warp.B32(inst.src(1));
  const uint32_t* c = warp.B32(inst.src(2));
  alignas(64) uint32_t out[kLanes] = {};
  LaneBits undefined;
  ForEachLane(lanes, [&](int lane) {
    const int from = SourceLane(kMode, lane, b[lane], c[lane]);
    out[lane] = value[from];
    undefined.bits[lane] = warp.UndefinedBits(inst.src(0), from);
    if ((lanes >> from & 1) == 0) ReportMissing(warp, inst, lane, 1u << from);
  });
  WriteLanes(warp, inst.dst(0), lanes, out);
  warp.SetUndefinedBits(inst.dst(0), lanes, undefined);
}

// Lanes whose predicate holds.
uint32_t Votes(Warp& warp, const Inst& inst, uint32_t lanes) {
  RequireMembers(warp, inst, lanes, inst.src(1));
  return warp.Pred(inst.src(0)) & lanes;
}

// A vote that undefined predicates take part in is undefined in all lanes.
void SetVoteDefined(Warp& warp, const Inst& inst, uint32_t lanes, bool decided) {
  if (decided || warp.UndefinedLanes(inst.src(0), lanes) == 0) {
    return warp.SetDefined(inst.dst(0), lanes);
  }
  LaneBits undefined;
  for (uint64_t& bits : undefined.bits) bits = warp.UndefinedLanes(inst.src(0), lanes);
  if (inst.op != Op::kVoteBallot) std::fill_n(undefined.bits, kLanes, 1);
  warp.SetUndefinedBits(inst.dst(0), lanes, undefined);
}

void VoteAny(Warp& warp, const Inst& inst, uint32_t lanes) {
  const uint32_t votes = Votes(warp, inst, lanes);
  const bool decided = (votes & ~warp.UndefinedLanes(inst.src(0), lanes)) != 0;
  SetVoteDefined(warp, inst, lanes, decided);
  uint32_t& d = warp.Pred(inst.dst(0));
  d = (d & ~lanes) | (votes != 0 ? lanes : 0);
}

void VoteAll(Warp& warp, const Inst& inst, uint32_t lanes) {
  const uint32_t votes = Votes(warp, inst, lanes);
  const bool decided = (lanes & ~votes & ~warp.UndefinedLanes(inst.src(0), lanes)) != 0;
  SetVoteDefined(warp, inst, lanes, decided);
  uint32_t& d = warp.Pred(inst.dst(0));
  d = (d & ~lanes) | (votes == lanes ? lanes : 0);
}

void VoteBallot(Warp& warp, const Inst& inst, uint32_t lanes) {
  const uint32_t votes = Votes(warp, inst, lanes);
  SetVoteDefined(warp, inst, lanes, /*decided=*/false);
  alignas(64) uint32_t out[kLanes];
  std::fill_n(out, kLanes, votes);
  WriteLanes(warp, inst.dst(0), lanes, out);
}

// ---- Barriers.

template <ThreadBlock::Arrival kArrival>
void Barrier(Warp& warp, const Inst& inst, uint32_t lanes) {
  if (lanes != ~warp.exited) ReportMissing(warp, inst, -1, ~warp.exited & ~lanes);
  if (DefinedControl(warp, inst, inst.src(0), lanes) != lanes) return;
  if (DefinedControl(warp, inst, inst.src(1), lanes) != lanes) return;
  const int lane = std::countr_zero(lanes);
  const uint32_t number = warp.B32(inst.src(0))[lane], threads = warp.B32(inst.src(1))[lane];
  if (number > 15 || threads == 0 || threads % kLanes != 0) {
    warp.block->findings().Add(
        Fault::kDivergence, {warp, inst, -1},
        absl::StrCat("there is no barrier ", number, " for ", threads, " threads"));
    return;
  }
  warp.block->Arrive(warp, inst, number, threads, kArrival);
}

void WarpSync(Warp& warp, const Inst& inst, uint32_t lanes) {
  RequireMembers(warp, inst, lanes, inst.src(0));
  warp.block->clocks().Tick(warp.index);
}

void Nanosleep(Warp& warp, const Inst&, uint32_t) { warp.yields = true; }

// ---- Ends and messages.

void Exit(Warp& warp, const Inst&, uint32_t lanes) {
  warp.exited |= lanes;
  warp.active &= ~lanes;
}

void Trap(Warp& warp, const Inst& inst, uint32_t lanes) {
  warp.block->findings().Add(Fault::kTrap, {warp, inst, std::countr_zero(lanes)},
                             "the kernel executes a trap");
  warp.yields = true;
}

void Printf(Warp& warp, const Inst& inst, uint32_t lanes) {
  if (const uint32_t some = warp.UndefinedSources(inst, lanes)) {
    Findings& findings = warp.block->findings();
    if (findings.IsNew(Fault::kUninitialised, inst)) {
      findings.Add(Fault::kUninitialised, {warp, inst, std::countr_zero(some)},
                   "uninitialised data is printed");
    }
  }
  const machine::Kernel& kernel = warp.block->kernel();
  const std::string& format = kernel.strings[warp.B32(inst.src(0))[0]];
  ForEachLane(lanes, [&](int lane) {
    std::vector<uint64_t> values;
    for (int i = 1; i < inst.num_src; ++i) values.push_back(warp.Value(inst.src(i), lane));
    warp.block->Print(FormatPrintf(format, values, kernel.strings));
  });
}

constexpr Semantics kLaneRows[] = {
    {Op::kShflIdx, RunShuffle<Shuffle::kIdx>},
    {Op::kShflUp, RunShuffle<Shuffle::kUp>},
    {Op::kShflDown, RunShuffle<Shuffle::kDown>},
    {Op::kShflBfly, RunShuffle<Shuffle::kBfly>},
    {Op::kVoteAny, VoteAny},
    {Op::kVoteAll, VoteAll},
    {Op::kVoteBallot, VoteBallot},
};

constexpr Semantics kControlRows[] = {
    {Op::kBarSync, Barrier<ThreadBlock::Arrival::kWaits>},
    {Op::kBarArrive, Barrier<ThreadBlock::Arrival::kPasses>},
    {Op::kBarWarpSync, WarpSync},
    {Op::kNanosleep, Nanosleep},
    {Op::kExit, Exit},
    {Op::kTrap, Trap},
    {Op::kVprintf, Printf},
};

}  // namespace

absl::Span<const Semantics> LaneSemantics() { return kLaneRows; }
absl::Span<const Semantics> ControlSemantics() { return kControlRows; }

}  // namespace tilus::simulate

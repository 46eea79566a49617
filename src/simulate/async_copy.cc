// cp.async: copies from global to shared memory that finish as late as the waits allow.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "simulate/access.h"

namespace tilus::simulate {

void PerformCopies(Warp& warp, uint32_t lanes, const uint32_t* groups) {
  ThreadBlock& block = *warp.block;
  for (PendingCopy& copy : warp.copies) {
    ForEachLane(copy.lanes & lanes, [&](int lane) {
      if (copy.group[lane] >= groups[lane]) return;
      const Site site{warp, *copy.inst, lane};
      alignas(16) uint8_t data[kMaxAccessBytes] = {};
      if (copy.source_bytes[lane] != 0) {
        block.global().NoteRead(site, copy.global[lane], copy.source_bytes[lane], Strength::kWeak);
        CopyBytes(data, HostPointer(copy.global[lane]), copy.source_bytes[lane]);
      }
      block.shared().FinishAsync(site, copy.shared[lane], copy.bytes, data);
      copy.lanes &= ~(1u << lane);
    });
  }
  std::erase_if(warp.copies, [](const PendingCopy& copy) { return copy.lanes == 0; });
}

namespace {

using machine::Op;

template <uint32_t kBytes>
void StartCopy(Warp& warp, const Inst& inst, uint32_t lanes) {
  ThreadBlock& block = *warp.block;
  PendingCopy copy;
  copy.inst = &inst;
  copy.bytes = kBytes;
  lanes = DefinedAddresses(warp, inst, inst.src(1), lanes);
  lanes = DefinedAddresses(warp, inst, inst.src(2), lanes);
  lanes = LocateShared(warp, inst, inst.src(0), lanes, kBytes, copy.shared);
  block.shared().CountWavefronts(lanes, copy.shared, kBytes);
  ForEachLane(lanes, [&](int lane) {
    const Site site{warp, inst, lane};
    uint32_t bytes = warp.B32(inst.src(2))[lane];
    if (bytes > kBytes) {
      block.findings().Add(Fault::kOutOfBounds, site,
                           absl::StrCat("a copy of ", kBytes, " bytes reads ", bytes));
      bytes = kBytes;
    }
    copy.global[lane] = GlobalAddress(warp, inst.src(1), lane);
    // Nothing is read where the address is refused.
    if (!block.global().Check(site, copy.global[lane], bytes, kBytes)) bytes = 0;
    copy.source_bytes[lane] = static_cast<uint8_t>(bytes);
    copy.group[lane] = warp.commits[lane];
    block.shared().StartAsync(site, copy.shared[lane], kBytes);
    copy.lanes |= 1u << lane;
  });
  if (copy.lanes != 0) warp.copies.push_back(copy);
}

void CommitGroup(Warp& warp, const Inst&, uint32_t lanes) {
  ForEachLane(lanes, [&](int lane) { ++warp.commits[lane]; });
}

// All but the last `n` groups of each lane are performed.
void WaitGroup(Warp& warp, const Inst& inst, uint32_t lanes) {
  const uint32_t pending = warp.B32(inst.src(0))[0];
  uint32_t groups[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    groups[lane] = warp.commits[lane] - std::min(pending, warp.commits[lane]);
  }
  PerformCopies(warp, lanes, groups);
}

void WaitAll(Warp& warp, const Inst&, uint32_t lanes) {
  uint32_t groups[kLanes];
  std::fill(std::begin(groups), std::end(groups), ~0u);
  PerformCopies(warp, lanes, groups);
}

constexpr Semantics kRows[] = {
    {Op::kCpAsyncCa4, StartCopy<4>},        {Op::kCpAsyncCa8, StartCopy<8>},
    {Op::kCpAsyncCa16, StartCopy<16>},      {Op::kCpAsyncCg16, StartCopy<16>},
    {Op::kCpAsyncCommitGroup, CommitGroup}, {Op::kCpAsyncWaitGroup, WaitGroup},
    {Op::kCpAsyncWaitAll, WaitAll},
};

}  // namespace

absl::Span<const Semantics> AsyncSemantics() { return kRows; }

}  // namespace tilus::simulate

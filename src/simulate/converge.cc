#include "simulate/converge.h"

#include "absl/strings/str_cat.h"
#include "simulate/thread_block.h"

namespace tilus::simulate {

void ReportMissing(Warp& warp, const Inst& inst, int lane, uint32_t missing) {
  Findings& findings = warp.block->findings();
  if (!findings.IsNew(Fault::kDivergence, inst)) return;
  findings.Add(Fault::kDivergence, {warp, inst, lane},
               absl::StrCat("lanes 0x", absl::Hex(missing, absl::kZeroPad8),
                            " must take part in the instruction and do not"));
}

bool RequireAllLanes(Warp& warp, const Inst& inst, uint32_t lanes) {
  if (lanes == kAllLanes) return true;
  ReportMissing(warp, inst, -1, ~lanes);
  return false;
}

void RequireMembers(Warp& warp, const Inst& inst, uint32_t lanes, const Place& mask) {
  const uint32_t* members = warp.B32(mask);
  lanes = DefinedControl(warp, inst, mask, lanes);
  ForEachLane(lanes, [&](int lane) {
    if (members[lane] == lanes) return;
    const uint32_t missing = members[lane] & ~lanes;
    if (missing != 0) return ReportMissing(warp, inst, lane, missing);
    Findings& findings = warp.block->findings();
    if (!findings.IsNew(Fault::kDivergence, inst)) return;
    findings.Add(Fault::kDivergence, {warp, inst, lane},
                 absl::StrCat("lanes 0x", absl::Hex(lanes & ~members[lane], absl::kZeroPad8),
                              " run the instruction and are not in its mask"));
  });
}

uint32_t DefinedControl(Warp& warp, const Inst& inst, const Place& place, uint32_t lanes) {
  const uint32_t some = warp.UndefinedLanes(place, lanes);
  if (some == 0) return lanes;
  Findings& findings = warp.block->findings();
  if (findings.IsNew(Fault::kUninitialised, inst)) {
    findings.Add(Fault::kUninitialised, {warp, inst, std::countr_zero(some)},
                 "an operand that steers the instruction depends on uninitialised data");
  }
  return lanes & ~some;
}

}  // namespace tilus::simulate

#include "simulate/report.h"

#include "absl/strings/str_cat.h"
#include "machine/print.h"

namespace tilus::simulate {

const char* FaultName(Fault fault) {
  switch (fault) {
    case Fault::kOutOfBounds:
      return "out of bounds";
    case Fault::kMisaligned:
      return "misaligned";
    case Fault::kRace:
      return "race";
    case Fault::kUninitialised:
      return "uninitialised";
    case Fault::kDivergence:
      return "divergence";
    case Fault::kDeadlock:
      return "deadlock";
    case Fault::kTrap:
      return "trap";
    case Fault::kStepLimit:
      return "step limit";
  }
  return "";
}

std::pair<Fault, uint64_t> Findings::KeyOf(Fault fault, const Inst& inst) const {
  if (inst.source == machine::kNoIndex) return {fault, ~uint64_t{0}};
  const uint32_t path = kernel_.instrs[inst.source].path;
  return {fault, path != machine::kNoIndex ? path : uint64_t{1} << 32 | inst.source};
}

bool Findings::IsNew(Fault fault, const Inst& inst) const {
  return !full() && !seen_.contains(KeyOf(fault, inst));
}

std::string Findings::BlockText() const {
  return absl::StrCat("block (", block_[0], ", ", block_[1], ", ", block_[2], ")");
}

void Findings::Add(Fault fault, const Site& site, std::string what) {
  if (fault == Fault::kTrap) stopped_ = true;
  if (!IsNew(fault, site.inst)) return;
  seen_.insert(KeyOf(fault, site.inst));
  Finding finding;
  finding.fault = fault;
  finding.message = absl::StrCat(BlockText(), ", warp ", site.warp.index);
  if (site.lane >= 0) absl::StrAppend(&finding.message, ", lane ", site.lane);
  absl::StrAppend(&finding.message, ": ", what);
  if (site.inst.source != machine::kNoIndex) {
    const machine::Instr& instr = kernel_.instrs[site.inst.source];
    finding.path = std::string(kernel_.PathOf(instr));
    absl::StrAppend(&finding.message, ", in ", machine::PrintInstr(kernel_, instr));
  }
  report_->findings.push_back(std::move(finding));
}

void Findings::AddOfBlock(Fault fault, std::string what) {
  stopped_ = true;
  if (full()) return;
  report_->findings.push_back({fault, "", absl::StrCat(BlockText(), ": ", what)});
}

}  // namespace tilus::simulate

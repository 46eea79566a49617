#include "ptx/requirements.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "machine/defs.h"
#include "machine/mnemonic.h"
#include "machine/print.h"
#include "ptx/expansion.h"
#include "ptx/ptx.h"

namespace tilus::ptx {

using machine::Instr;
using machine::Kernel;

bool NeedsExpansion(const Instr& instr, const Target& target) {
  return machine::RequirementOf(instr).sm > target.sm && FindExpansion(instr.op) != nullptr;
}

int RequiredPtxVersion(const Kernel& kernel, const Target& target) {
  int version = target.min_ptx;
  machine::ForEachInstr(kernel, kernel.body, [&](uint32_t index) {
    const Instr& instr = kernel.instrs[index];
    if (NeedsExpansion(instr, target)) return;
    version = std::max<int>(version, machine::RequirementOf(instr).ptx);
  });
  return version;
}

namespace {

void CheckInstructions(const Kernel& kernel, const Target& target, DiagnosticList& list) {
  std::vector<std::string> reported;
  machine::ForEachInstr(kernel, kernel.body, [&](uint32_t index) {
    const Instr& instr = kernel.instrs[index];
    const int sm = machine::RequirementOf(instr).sm;
    if (sm <= target.sm || FindExpansion(instr.op) != nullptr) return;
    std::string mnemonic;
    machine::AppendMnemonic(&mnemonic, instr);
    if (std::find(reported.begin(), reported.end(), mnemonic) != reported.end()) return;
    Diagnostic d;
    d.id = DiagId::kTargetInstruction;
    d.message = absl::StrCat(target.name, " has no ", mnemonic, ", which needs sm_", sm);
    d.hint = absl::StrCat("compile for sm_", sm, " or later");
    d.path = std::string(kernel.PathOf(instr));
    d.excerpt = machine::PrintInstr(kernel, instr);
    list.Add(std::move(d));
    reported.push_back(std::move(mnemonic));
  });
}

}  // namespace

absl::Status CheckTarget(const Kernel& kernel, const Target& target) {
  DiagnosticList list;
  const machine::TargetRequirement& need = kernel.requirement;
  if (!need.only.empty() && need.only != target.name) {
    list.Add(DiagId::kTargetOther, "",
             absl::StrCat("kernel ", kernel.name, " is for ", need.only, ", not for ", target.name),
             absl::StrCat("compile for ", need.only));
  } else if (target.sm < need.min_sm) {
    list.Add(DiagId::kTargetOther, "",
             absl::StrCat("kernel ", kernel.name, " is for sm_", need.min_sm,
                          " or later, not for ", target.name),
             absl::StrCat("compile for sm_", need.min_sm, " or later"));
  }
  if (kernel.shared_bytes > target.shared_per_block) {
    list.Add(DiagId::kTargetSharedMemory, "",
             absl::StrCat("kernel ", kernel.name, " needs ", kernel.shared_bytes,
                          " bytes of shared memory a block, and ", target.name, " has ",
                          target.shared_per_block),
             "use smaller tiles or fewer pipeline stages");
  }
  CheckInstructions(kernel, target, list);
  return list.ToStatus();
}

}  // namespace tilus::ptx

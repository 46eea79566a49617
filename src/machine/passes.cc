#include "machine/passes.h"

namespace tilus::machine {

absl::Span<const Pass> Passes() {
  // Hoisting follows the elimination of common subexpressions, which finds equal values inside and
  // outside a loop; addresses are folded while the additions still stand beside their accesses.
  static constexpr Pass kPasses[] = {
      {"fold-constants", FoldConstants},
      {"eliminate-common-subexpressions", EliminateCommonSubexpressions},
      {"fold-addresses", FoldAddresses},
      {"hoist-loop-invariants", HoistLoopInvariants},
      {"eliminate-dead-code", EliminateDeadCode},
  };
  return kPasses;
}

void Optimize(Kernel* kernel) {
  for (const Pass& pass : Passes()) pass.run(kernel);
}

}  // namespace tilus::machine

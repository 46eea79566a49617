#include "passes/passes.h"

#include "base/status_macros.h"
#include "ir/verifier.h"

namespace tilus::passes {
namespace {

constexpr Pass kPasses[] = {
    {"infer-layouts", &InferLayouts},
    {"eliminate-dead-code", &EliminateDeadCode},
    {"plan-memory", &PlanMemory},
};

}  // namespace

absl::Span<const Pass> AllPasses() { return kPasses; }

absl::Status RunPasses(ir::Program* program, const ir::Limits& limits, PassObserver observer) {
  ir::VerifyOptions verify;
  verify.limits = limits;
  verify.layouts_required = true;
  for (const Pass& pass : kPasses) {
    TILUS_RETURN_IF_ERROR(pass.run(program, limits));
    TILUS_RETURN_IF_ERROR(ir::Verify(*program, verify));
    TILUS_RETURN_IF_ERROR(observer(pass, *program));
  }
  return absl::OkStatus();
}

}  // namespace tilus::passes

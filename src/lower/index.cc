// Block indices, global views and workspaces.
#include <algorithm>

#include "lower/context.h"
#include "lower/families.h"

namespace tilus::lower {
namespace {

constexpr int64_t kDefaultPointerAlignment = 16;
constexpr int64_t kWorkspaceAlignment = 256;

constexpr machine::Special kBlockIndices[] = {machine::Special::kCtaidX, machine::Special::kCtaidY,
                                              machine::Special::kCtaidZ};

}  // namespace

absl::Status LowerBlockIndices(Context& ctx, const ir::Instruction& instruction) {
  for (size_t d = 0; d < instruction.index_results.size(); ++d) {
    ctx.Define(instruction.index_results[d], ctx.b().Read(kBlockIndices[d]));
  }
  return absl::OkStatus();
}

absl::Status LowerGlobalView(Context& ctx, const ir::Instruction& instruction) {
  const ir::Expr& pointer = *ir::ScalarOf(instruction.operands[0]);
  const int64_t promised = ctx.program().vars[static_cast<size_t>(pointer.var)].align;
  ctx.BindGlobal(instruction.result, ctx.Scalar(pointer),
                 promised > 0 ? promised : kDefaultPointerAlignment);
  return absl::OkStatus();
}

// The workspace pointer is the parameter after those of the program.
absl::Status LowerAllocGlobal(Context& ctx, const ir::Instruction& instruction) {
  const ir::Tensor& tensor = ctx.tensor(instruction.result);
  const Operand workspace = ctx.b().LdParam(static_cast<uint32_t>(ctx.program().params.size()));
  ctx.BindGlobal(instruction.result,
                 ctx.b().AddS64(workspace, ctx.Scalar64(*tensor.workspace_offset)),
                 kWorkspaceAlignment);
  return absl::OkStatus();
}

}  // namespace tilus::lower

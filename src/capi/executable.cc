#include "capi/executable.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "driver/memory.h"
#include "ir/walk.h"

namespace tilus::capi {
namespace {

// Whether an expression has the same value in every block and is known before the launch.
bool IsOfParameters(const ir::Program& program, const ir::ExprPtr& expr) {
  bool known = true;
  ir::WalkNodes(*expr, [&](const ir::Expr& node) {
    if (node.kind != ir::ExprKind::kVar) return;
    const ir::VarKind kind = program.vars[static_cast<size_t>(node.var)].kind;
    known = known && (kind == ir::VarKind::kParam || kind == ir::VarKind::kConst);
  });
  return known;
}

bool ExtentIsKnown(const ir::Program& program, const ir::Tensor& tensor) {
  const auto known = [&](const ir::ExprPtr& e) { return IsOfParameters(program, e); };
  return std::all_of(tensor.shape.begin(), tensor.shape.end(), known) &&
         std::all_of(tensor.decl.strides.begin(), tensor.decl.strides.end(), known);
}

}  // namespace

std::vector<ParameterView> ParameterViews(const ir::Program& program) {
  std::vector<ParameterView> views;
  ir::WalkInstructions(program, [&](const ir::Instruction& instruction, const ir::StmtPath&) {
    if (instruction.opcode != ir::Opcode::kGlobalView || instruction.operands.empty()) return;
    const ir::ExprPtr& pointer = ir::ScalarOf(instruction.operands[0]);
    if (pointer == nullptr || pointer->kind != ir::ExprKind::kVar) return;
    const auto found = std::find(program.params.begin(), program.params.end(), pointer->var);
    const ir::Tensor& tensor = program.tensors[static_cast<size_t>(instruction.result)];
    if (found == program.params.end() || !ExtentIsKnown(program, tensor)) return;
    views.push_back(
        {static_cast<size_t>(found - program.params.begin()), instruction.result});
  });
  return views;
}

KernelState::KernelState(std::shared_ptr<const ExecutableState> executable, size_t index)
    : executable_(std::move(executable)), index_(index), views_(ParameterViews(program())) {}

KernelState::~KernelState() {
  for (const auto& [stream, workspace] : workspaces_) {
    try {
      driver::Free(*device().cuda(), workspace.address).IgnoreError();
    } catch (...) {  // no memory for the text of a failure that nobody could be told
    }
  }
}

absl::StatusOr<std::shared_ptr<KernelState>> KernelState::Make(
    std::shared_ptr<const ExecutableState> executable, size_t index) {
  const std::shared_ptr<const driver::Module> module = executable->cuda_module;
  std::shared_ptr<KernelState> kernel(new KernelState(std::move(executable), index));
  if (module == nullptr) return kernel;
  const machine::Kernel& code = kernel->machine();
  TILUS_ASSIGN_OR_RETURN(driver::Function function, driver::Function::Find(module, code.name));
  if (code.dynamic_shared_bytes() > 0) {
    TILUS_RETURN_IF_ERROR(function.SetMaxDynamicShared(code.dynamic_shared_bytes()));
  }
  kernel->function_ = std::move(function);
  return kernel;
}

absl::Status KernelState::Grow(StreamWorkspace* workspace, int64_t bytes) const {
  DeviceState& state = device();
  if (workspace->address != 0) {
    auto retired = std::make_unique<Retired>();
    retired->address = std::exchange(workspace->address, 0);
    *workspace = {};
    state.Retire(std::move(retired));
  }
  state.FreeRetired();
  TILUS_ASSIGN_OR_RETURN(workspace->address,
                         driver::Alloc(*state.cuda(), static_cast<size_t>(bytes)));
  workspace->bytes = bytes;
  return absl::OkStatus();
}

absl::StatusOr<void*> KernelState::WorkspaceOn(void* stream,
                                               const interpret::Workspace& needed) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  StreamWorkspace& workspace = workspaces_[stream];
  if (workspace.bytes < needed.bytes) TILUS_RETURN_IF_ERROR(Grow(&workspace, needed.bytes));
  if (workspace.clean_bytes != needed.clean_bytes) {
    // What lay behind the clean front before may be part of it now.
    TILUS_RETURN_IF_ERROR(driver::FillAsync(*device().cuda(), workspace.address, 0,
                                            static_cast<size_t>(needed.clean_bytes), stream));
    workspace.clean_bytes = needed.clean_bytes;
  }
  return reinterpret_cast<void*>(workspace.address);
}

}  // namespace tilus::capi

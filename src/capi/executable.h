// Modules on devices, and what a launch checks and computes before it runs.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "capi/device_handle.h"
#include "capi/module_handle.h"
#include "driver/module.h"
#include "interpret/interpret.h"
#include "tilus.h"

namespace tilus::capi {

// A tensor in the memory that a pointer parameter points to, whose shape the parameters tell.
struct ParameterView {
  size_t parameter = 0;
  ir::TensorId tensor = ir::kNoTensor;
};

// The global views of a program whose size can be computed from its parameters alone.
std::vector<ParameterView> ParameterViews(const ir::Program& program);

struct ExecutableState {
  std::shared_ptr<const ModuleState> module;
  std::shared_ptr<DeviceState> device;
  size_t target = 0;                                  // of the code that runs
  std::shared_ptr<const driver::Module> cuda_module;  // NULL where not CUDA
};

// The workspace that a kernel has on one stream, kept between launches.
struct StreamWorkspace {
  driver::DeviceAddress address = 0;
  int64_t bytes = 0;
  int64_t clean_bytes = 0;  // of its front that are zero between launches
};

class KernelState {
 public:
  // (of a CUDA device) looks the kernel up in the module.
  static absl::StatusOr<std::shared_ptr<KernelState>> Make(
      std::shared_ptr<const ExecutableState> executable, size_t index);
  ~KernelState();

  const ir::Program& program() const { return code().optimized.programs[index_]; }
  const machine::Kernel& machine() const {
    return code().targets[executable_->target].kernels.kernels[index_];
  }
  DeviceState& device() const { return *executable_->device; }
  const driver::Function* function() const { return function_ ? &*function_ : nullptr; }
  absl::Span<const ParameterView> views() const { return views_; }

  // The workspace for a launch on `stream`: large enough, its clean front zero.
  absl::StatusOr<void*> WorkspaceOn(void* stream, const interpret::Workspace& needed) const;

 private:
  KernelState(std::shared_ptr<const ExecutableState> executable, size_t index);

  const compile::Compilation& code() const { return executable_->module->code(); }
  absl::Status Grow(StreamWorkspace* workspace, int64_t bytes) const;

  const std::shared_ptr<const ExecutableState> executable_;
  const size_t index_;
  const std::vector<ParameterView> views_;
  std::optional<driver::Function> function_;
  mutable std::mutex mutex_;
  mutable std::map<void*, StreamWorkspace> workspaces_;  // by stream
};

// A launch whose arguments have been checked.
struct PreparedLaunch {
  std::vector<interpret::Argument> arguments;  // in order of the parameters
  std::array<int64_t, 3> grid{};
  interpret::Workspace workspace;

  bool empty() const { return grid[0] == 0 || grid[1] == 0 || grid[2] == 0; }
};
absl::StatusOr<PreparedLaunch> PrepareLaunch(const KernelState& kernel, const tilus_argument* args,
                                             size_t count);

// Runs or queues it.
absl::Status Launch(const KernelState& kernel, PreparedLaunch launch,
                    const tilus_launch_options& options);

}  // namespace tilus::capi

struct tilus_executable {
  std::shared_ptr<const tilus::capi::ExecutableState> state;
};

struct tilus_kernel {
  std::shared_ptr<const tilus::capi::KernelState> state;
};

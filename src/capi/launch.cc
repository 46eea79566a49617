// Runs a prepared launch on the device of its kernel.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "capi/executable.h"
#include "capi/guard.h"
#include "driver/module.h"
#include "simulate/simulate.h"

namespace tilus::capi {
namespace {

// What a launch on the CPU shows its print callback, and what it answered.
class PrintSink {
 public:
  explicit PrintSink(const ContextState& context) : callback_(context.print.get()) {}

  void Print(absl::string_view line) {
    if (callback_ == nullptr || answer_ != TILUS_OK) return;
    const std::string text = absl::StrCat(line, "\n");
    answer_ = callback_->function()(callback_->user(), ToString(text));
  }
  bool stopped() const { return answer_ != TILUS_OK; }
  // The status of the launch that ended with `status`.
  absl::Status Finish(absl::Status status) const {
    return stopped() ? StoppedByCallback(answer_, "print") : status;
  }

 private:
  const Callback<tilus_print_fn>* callback_;
  tilus_code answer_ = TILUS_OK;
};

std::function<bool()> Cancelled(const PrintSink& sink, const tilus_cancellation* cancellation) {
  return [&sink, cancellation] {
    return sink.stopped() || tilus_cancellation_requested(cancellation) != 0;
  };
}

// Memory for a workspace on the host: the caller's, or its own for the one launch, zero.
class HostWorkspace {
 public:
  HostWorkspace(const interpret::Workspace& needed, const tilus_launch_options& options)
      : address_(options.workspace) {
    if (address_ != nullptr || needed.bytes == 0) return;
    own_.resize(static_cast<size_t>(needed.bytes) + kAlignment);
    const auto begin = reinterpret_cast<uintptr_t>(own_.data());
    address_ = own_.data() + (kAlignment - begin % kAlignment) % kAlignment;
  }
  void* address() const { return address_; }

 private:
  static constexpr size_t kAlignment = 256;
  std::vector<uint8_t> own_;
  void* address_;
};

absl::Status RunOnHost(const KernelState& kernel, const PreparedLaunch& launch,
                       const tilus_launch_options& options) {
  PrintSink sink(kernel.device().context());
  const HostWorkspace workspace(launch.workspace, options);
  interpret::Options run;
  run.workspace = workspace.address();
  run.print = [&](absl::string_view line) { sink.Print(line); };
  run.cancelled = Cancelled(sink, options.cancellation);
  return sink.Finish(interpret::Run(kernel.program(), launch.arguments, run));
}

absl::Status FindingsStatus(const simulate::Report& report) {
  std::vector<Diagnostic> diagnostics;
  for (const simulate::Finding& finding : report.findings) {
    Diagnostic& d = diagnostics.emplace_back();
    d.id = DiagId::kSimulatorFinding;
    d.path = finding.path;
    d.message = absl::StrCat(simulate::FaultName(finding.fault), ": ", finding.message);
  }
  return MakeStatus(std::move(diagnostics));
}

absl::Status RunOnSimulator(const KernelState& kernel, const PreparedLaunch& launch,
                            const tilus_launch_options& options) {
  PrintSink sink(kernel.device().context());
  const HostWorkspace workspace(launch.workspace, options);
  std::vector<simulate::Argument> arguments;
  for (const interpret::Argument& argument : launch.arguments) {
    arguments.push_back({argument.value, argument.bytes});
  }
  if (launch.workspace.bytes > 0) {
    arguments.push_back(
        {reinterpret_cast<uint64_t>(workspace.address()), launch.workspace.bytes});
  }
  simulate::Options run;
  run.print = [&](absl::string_view line) { sink.Print(line); };
  run.cancelled = Cancelled(sink, options.cancellation);
  const auto report = simulate::Run(kernel.machine(), launch.grid, arguments, run);
  TILUS_RETURN_IF_ERROR(sink.Finish(report.status()));
  return FindingsStatus(*report);
}

absl::Status RunOnCuda(const KernelState& kernel, PreparedLaunch& launch,
                       const tilus_launch_options& options) {
  if (launch.workspace.bytes > 0) {
    void* workspace = options.workspace;
    if (workspace == nullptr) {
      TILUS_ASSIGN_OR_RETURN(workspace, kernel.WorkspaceOn(options.stream, launch.workspace));
    }
    launch.arguments.push_back({reinterpret_cast<uint64_t>(workspace), launch.workspace.bytes});
  }
  // The driver reads each parameter's bytes from the front of its code, little-endian.
  std::vector<void*> values;
  values.reserve(launch.arguments.size());
  for (interpret::Argument& argument : launch.arguments) values.push_back(&argument.value);
  const machine::Kernel& code = kernel.machine();
  const std::array<uint32_t, 3> grid = {static_cast<uint32_t>(launch.grid[0]),
                                        static_cast<uint32_t>(launch.grid[1]),
                                        static_cast<uint32_t>(launch.grid[2])};
  return driver::Launch(*kernel.function(), grid, code.num_threads, code.dynamic_shared_bytes(),
                        options.stream, values.data());
}

absl::Status CheckOptions(const KernelState& kernel, const PreparedLaunch& launch,
                          const tilus_launch_options& options) {
  if (!kernel.device().is_cuda() && options.stream != nullptr) {
    return BadArgument("stream", "only CUDA devices have streams", "pass NULL");
  }
  if (options.workspace == nullptr ||
      options.workspace_size >= static_cast<uint64_t>(launch.workspace.bytes)) {
    return absl::OkStatus();
  }
  return MakeError(DiagId::kWorkspaceSize,
                   absl::StrCat("the workspace has ", options.workspace_size, " bytes, ",
                                kernel.program().name, " needs ", launch.workspace.bytes),
                   "tilus_kernel_shape tells how many");
}

}  // namespace

absl::Status Launch(const KernelState& kernel, PreparedLaunch launch,
                    const tilus_launch_options& options) {
  TILUS_RETURN_IF_ERROR(CheckOptions(kernel, launch, options));
  if (launch.empty()) return absl::OkStatus();
  switch (kernel.device().kind()) {
    case TILUS_DEVICE_HOST: return RunOnHost(kernel, launch, options);
    case TILUS_DEVICE_SIMULATE: return RunOnSimulator(kernel, launch, options);
    default: return RunOnCuda(kernel, launch, options);
  }
}

}  // namespace tilus::capi

#include <utility>

#include "absl/strings/str_cat.h"
#include "capi/executable.h"
#include "capi/guard.h"
#include "capi/type_code.h"

namespace tilus::capi {
namespace {

// The target whose code suits the device best: the last that runs there.
absl::StatusOr<size_t> TargetFor(const ModuleState& module, const DeviceState& device) {
  if (!device.is_cuda()) return 0;
  const int sm = device.info().compute_major * 10 + device.info().compute_minor;
  const std::vector<compile::TargetCode>& targets = module.code().targets;
  std::optional<size_t> best;
  std::string names;
  for (size_t i = 0; i < targets.size(); ++i) {
    absl::StrAppend(&names, i == 0 ? "" : ", ", targets[i].target.name);
    if (!ptx::RunsOn(targets[i].target, sm)) continue;
    if (!best || targets[i].target.sm >= targets[*best].target.sm) best = i;
  }
  if (best) return *best;
  return MakeError(DiagId::kNoImageForDevice,
                   absl::StrCat("the module was compiled for ", names, ", device ",
                                device.info().name, " runs ", device.target()),
                   absl::StrCat("compile for ", device.target()));
}

// A cubin runs where it was made for, and is quicker to load; otherwise the driver assembles.
std::string ImageFor(const ModuleState& module, size_t target, const DeviceState& device) {
  const compile::TargetCode& code = module.code().targets[target];
  const int sm = device.info().compute_major * 10 + device.info().compute_minor;
  if (code.target.sm == sm) {
    absl::StatusOr<std::string> cubin = module.Cubin(device.context(), target);
    if (cubin.ok()) return *std::move(cubin);
  }
  return code.ptx;
}

absl::StatusOr<std::shared_ptr<const ExecutableState>> Load(
    std::shared_ptr<const ModuleState> module, std::shared_ptr<DeviceState> device) {
  auto executable = std::make_shared<ExecutableState>();
  TILUS_ASSIGN_OR_RETURN(executable->target, TargetFor(*module, *device));
  if (device->is_cuda()) {
    const std::string image = ImageFor(*module, executable->target, *device);
    TILUS_ASSIGN_OR_RETURN(executable->cuda_module, driver::Module::Load(device->cuda(), image));
  }
  executable->module = std::move(module);
  executable->device = std::move(device);
  return executable;
}

}  // namespace
}  // namespace tilus::capi

using namespace tilus::capi;  // the entries below are in the global namespace
namespace ir = tilus::ir;

tilus_error* tilus_module_load(const tilus_module* module, tilus_device* device,
                               tilus_executable** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(module, "module"));
    TILUS_RETURN_IF_ERROR(NotNull(device, "device"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(auto state, Load(module->state, device->state));
    *out = new tilus_executable{std::move(state)};
    return absl::OkStatus();
  });
}

tilus_error* tilus_executable_kernel(const tilus_executable* executable, tilus_string name,
                                     tilus_kernel** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(executable, "executable"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const absl::string_view text, TextOf(name, "name"));
    TILUS_ASSIGN_OR_RETURN(const size_t index, executable->state->module->FindKernel(text));
    TILUS_ASSIGN_OR_RETURN(auto state, KernelState::Make(executable->state, index));
    *out = new tilus_kernel{std::move(state)};
    return absl::OkStatus();
  });
}

void tilus_executable_destroy(tilus_executable* executable) { delete executable; }

tilus_string tilus_kernel_name(const tilus_kernel* kernel) {
  return kernel == nullptr ? tilus_string_of("") : ToString(kernel->state->program().name);
}

size_t tilus_kernel_parameter_count(const tilus_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->state->program().params.size();
}

void tilus_kernel_parameter(const tilus_kernel* kernel, size_t index, tilus_parameter* out) {
  if (index >= tilus_kernel_parameter_count(kernel)) return;
  const ir::Program& program = kernel->state->program();
  const ir::Var& var = program.vars[static_cast<size_t>(program.params[index])];
  tilus_parameter parameter{};
  parameter.name = ToString(var.name);
  parameter.kind = var.is_pointer ? TILUS_PARAMETER_POINTER : TILUS_PARAMETER_SCALAR;
  parameter.type = TypeCode(var.type);
  parameter.alignment = static_cast<uint64_t>(var.align != 0 ? var.align : var.is_pointer ? 16 : 1);
  parameter.divisor = static_cast<uint64_t>(var.divisible);
  FillIfRoom(out, parameter);
}

void tilus_kernel_destroy(tilus_kernel* kernel) { delete kernel; }

tilus_error* tilus_kernel_shape(const tilus_kernel* kernel, const tilus_argument* args,
                                size_t count, tilus_launch_shape* out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(kernel, "kernel"));
    TILUS_RETURN_IF_ERROR(HasRoom(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const PreparedLaunch launch,
                           PrepareLaunch(*kernel->state, args, count));
    tilus_launch_shape shape{};
    std::copy(launch.grid.begin(), launch.grid.end(), shape.grid);
    shape.threads = kernel->state->machine().num_threads;
    shape.shared_bytes = kernel->state->machine().shared_bytes;
    shape.workspace_bytes = static_cast<uint64_t>(launch.workspace.bytes);
    shape.clean_bytes = static_cast<uint64_t>(launch.workspace.clean_bytes);
    FillIfRoom(out, shape);
    return absl::OkStatus();
  });
}

tilus_error* tilus_kernel_launch(const tilus_kernel* kernel, const tilus_argument* args,
                                 size_t count, void* stream) {
  tilus_launch_options options{};
  options.struct_size = sizeof options;
  options.stream = stream;
  return tilus_kernel_launch_with(kernel, args, count, &options);
}

tilus_error* tilus_kernel_launch_with(const tilus_kernel* kernel, const tilus_argument* args,
                                      size_t count, const tilus_launch_options* options) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(kernel, "kernel"));
    tilus_launch_options chosen{};
    if (options != nullptr) {
      TILUS_ASSIGN_OR_RETURN(chosen, ReadStruct(options, "options"));
    }
    TILUS_ASSIGN_OR_RETURN(PreparedLaunch launch, PrepareLaunch(*kernel->state, args, count));
    return Launch(*kernel->state, std::move(launch), chosen);
  });
}

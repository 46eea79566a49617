#include "driver/cuda_api.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"

namespace tilus::driver {
namespace {

constexpr char kDefaultLibrary[] = "libcuda.so.1";
constexpr char kPathVariable[] = "TILUS_LIBCUDA";

// Both are constant-initialised: loading the library runs no code of ours.
constinit std::atomic<const CudaApi*> g_api{nullptr};
// The process whose cuInit is running. A child forked meanwhile would find the driver's own locks
// held for ever.
constinit std::atomic<pid_t> g_initialising{0};

constexpr char kFaultHint[] =
    "the context is lost: end the process, then run the program on the simulator or under "
    "compute-sanitizer to find the access";

// How a CUresult is told to the user. Codes that are not here are kDriverError.
struct ErrorRow {
  int code;
  DiagId id;
  const char* lead;
  const char* hint;
};

constexpr ErrorRow kErrors[] = {
    {2, DiagId::kDeviceOutOfMemory, "the device has too little free memory",
     "free other allocations, or use a smaller problem"},
    {100, DiagId::kNoSuchDevice, "the CUDA driver finds no device",
     "run on the host device, or make a GPU visible to this process (CUDA_VISIBLE_DEVICES)"},
    {101, DiagId::kNoSuchDevice, "there is no CUDA device of that number",
     "count the devices first, and mind CUDA_VISIBLE_DEVICES"},
    {200, DiagId::kModuleRejected, "the CUDA driver refused the image", "compile the program anew"},
    {201, DiagId::kNoCurrentContext, "the CUDA context is not valid",
     "pass a context that has not been destroyed"},
    {209, DiagId::kNoImageForDevice, "the cubin was made for another kind of device",
     "compile for this device's target, or load the PTX"},
    {218, DiagId::kModuleRejected, "the CUDA driver could not assemble the PTX",
     "the driver may be older than the target; update it, or compile for an older target"},
    {221, DiagId::kDriverInitFailed, "the driver's PTX assembler could not be loaded",
     "install the driver's libnvidia-ptxjitcompiler, or load a cubin"},
    {222, DiagId::kDriverTooOld, "the CUDA driver is too old for this version of PTX",
     "update the driver, or load a cubin"},
    {300, DiagId::kModuleRejected, "the CUDA driver could not assemble the PTX",
     "the driver may be older than the target; update it, or compile for an older target"},
    {500, DiagId::kKernelNotFound, "the module has no such name", "list the module's kernels"},
    {700, DiagId::kIllegalAddress, "a kernel accessed memory that it does not own", kFaultHint},
    {701, DiagId::kLaunchResources, "the launch needs more than the device has",
     "use fewer threads, registers or less shared memory"},
    {702, DiagId::kKernelFault, "a kernel ran longer than the device's time limit",
     "split the work into several launches"},
    {709, DiagId::kNoCurrentContext, "the CUDA context has been destroyed",
     "pass a context that has not been destroyed"},
    {710, DiagId::kKernelFault, "a device-side assertion failed", kFaultHint},
    {714, DiagId::kKernelFault, "a kernel overran the hardware stack", kFaultHint},
    {715, DiagId::kKernelFault, "a kernel ran an illegal instruction", kFaultHint},
    {716, DiagId::kMisalignedAddress, "a kernel accessed memory at a misaligned address",
     kFaultHint},
    {717, DiagId::kIllegalAddress, "a kernel used an address of the wrong space", kFaultHint},
    {718, DiagId::kKernelFault, "a kernel jumped to an invalid address", kFaultHint},
    {719, DiagId::kKernelFault, "a kernel failed while it ran", kFaultHint},
    {804, DiagId::kDriverInitFailed, "the compatibility driver does not support this device",
     "remove the CUDA compatibility package from the library path"},
};

constexpr ErrorRow kOtherError = {0, DiagId::kDriverError, "a call of the CUDA driver failed", ""};

const ErrorRow& RowOf(int code) {
  for (const ErrorRow& row : kErrors) {
    if (row.code == code) return row;
  }
  return kOtherError;
}

// "CUDA_ERROR_INVALID_VALUE (1: invalid argument)", with what the driver can tell of it.
std::string CodeText(const CudaApi& api, int code) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (api.cuGetErrorName == nullptr || api.cuGetErrorName(code, &name) != 0) name = nullptr;
  if (api.cuGetErrorString == nullptr || api.cuGetErrorString(code, &text) != 0) text = nullptr;
  if (name == nullptr) return absl::StrCat("CUDA error ", code);
  if (text == nullptr) return absl::StrCat(name, " (", code, ")");
  return absl::StrCat(name, " (", code, ": ", text, ")");
}

absl::Status AfterFork(pid_t initialised_in) {
  return MakeError(
      DiagId::kDriverAfterFork,
      absl::StrCat("process ", getpid(), " is a fork of process ", initialised_in,
                   ", which had initialised the CUDA driver; CUDA does not work in such a child"),
      "fork before the first use of a device, or start a new process (spawn) instead");
}

absl::Status InitError(const CudaApi& api, int code) {
  if (RowOf(code).id == DiagId::kNoSuchDevice) return CudaError(api, code, "cuInit");
  if (code == 34) {
    return MakeError(DiagId::kDriverInitFailed,
                     absl::StrCat("\"", api.path, "\" is the toolkit's stub, not a driver"),
                     "remove the toolkit's lib64/stubs from the library path");
  }
  return MakeError(DiagId::kDriverInitFailed,
                   absl::StrCat("the CUDA driver \"", api.path,
                                "\" could not be initialised: cuInit gave ", CodeText(api, code)),
                   "check that nvidia-smi works and that kernel module and library are of one "
                   "version");
}

std::string LibraryPath() {
  const char* path = secure_getenv(kPathVariable);
  return path != nullptr && path[0] != '\0' ? path : kDefaultLibrary;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaApi>> OpenCudaApi(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return MakeError(DiagId::kDriverMissing,
                     absl::StrCat("the CUDA driver library \"", path, "\" could not be loaded: ",
                                  reason != nullptr ? reason : "no reason given"),
                     absl::StrCat("install the NVIDIA driver, or name its library in ",
                                  kPathVariable, "; the host device needs none"));
  }
  auto api = std::make_unique<CudaApi>();
  api->path = path;
#define TILUS_CUDA_SYMBOL(name, parameters) \
  api->name = reinterpret_cast<int(*) parameters>(dlsym(library, #name));
#include "driver/cuda_symbols.def"
#undef TILUS_CUDA_SYMBOL
  return api;
}

absl::StatusOr<const CudaApi*> Cuda() {
  if (const CudaApi* api = g_api.load(std::memory_order_acquire)) {
    TILUS_RETURN_IF_ERROR(CheckProcess(*api));
    return api;
  }
  const pid_t process = getpid();
  if (const pid_t other = g_initialising.load(); other != 0 && other != process) {
    return AfterFork(other);
  }
  TILUS_ASSIGN_OR_RETURN(std::unique_ptr<CudaApi> api, OpenCudaApi(LibraryPath()));
  if (api->cuInit == nullptr) return MissingSymbol(*api, "cuInit");
  g_initialising.store(process);
  if (const int code = api->cuInit(0); code != 0) {
    g_initialising.store(0);
    return InitError(*api, code);
  }
  api->process = process;
  // Two threads may both get here; cuInit may be called twice, and the first table stays.
  const CudaApi* expected = nullptr;
  if (!g_api.compare_exchange_strong(expected, api.get(), std::memory_order_acq_rel)) {
    return expected;
  }
  return api.release();
}

absl::Status CheckProcess(const CudaApi& api) {
  if (api.process != getpid()) return AfterFork(api.process);
  return absl::OkStatus();
}

absl::Status CudaError(const CudaApi& api, int code, absl::string_view call,
                       absl::string_view detail) {
  const ErrorRow& row = RowOf(code);
  return MakeError(row.id,
                   absl::StrCat(row.lead, detail.empty() ? "" : ", ", detail, ": ", call, " gave ",
                                CodeText(api, code)),
                   row.hint);
}

absl::Status MissingSymbol(const CudaApi& api, absl::string_view name) {
  return MakeError(DiagId::kDriverSymbolMissing,
                   absl::StrCat("the CUDA driver \"", api.path, "\" has no function ", name),
                   "update the driver");
}

}  // namespace tilus::driver

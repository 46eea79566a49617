// The CUDA driver library as a table of function pointers, found by dlopen at first use.
//
// Nothing here needs a CUDA header or a GPU: a machine without a driver gets one clear error from
// the first call and everything else of the library goes on working.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tilus::driver {

// One pointer per row of cuda_symbols.def, null where the driver lacks the symbol.
struct CudaApi {
#define TILUS_CUDA_SYMBOL(name, parameters) int(*name) parameters = nullptr;
#include "driver/cuda_symbols.def"
#undef TILUS_CUDA_SYMBOL
  std::string path;   // as given to dlopen
  pid_t process = 0;  // the process that called cuInit, 0 before
};

// Loads the library at `path` (anything dlopen takes) and looks up every row. Does not call cuInit.
// The library stays loaded for the life of the process: drivers do not survive dlclose.
absl::StatusOr<std::unique_ptr<CudaApi>> OpenCudaApi(const std::string& path);

// The process's driver, loaded and initialised by the first call that succeeds: libcuda.so.1, or
// what the environment's TILUS_LIBCUDA names. A failure is not remembered; the next call tries
// again. Thread-safe without locks, so a fork during the call cannot leave the child waiting.
// In a child of a process that had initialised the driver: kDriverAfterFork, at once, since CUDA
// itself does not work there.
absl::StatusOr<const CudaApi*> Cuda();

// kDriverAfterFork when this process is not the one that initialised `api`.
absl::Status CheckProcess(const CudaApi& api);

// The diagnostic of CUresult `code` (not 0) returned by the driver function `call`. `detail`, when
// not empty, says what was asked ("4096 bytes on device 0"). Errors of kernels that ran earlier
// surface from later calls, so every call maps every code.
absl::Status CudaError(const CudaApi& api, int code, absl::string_view call,
                       absl::string_view detail = {});
// The diagnostic of a call of a function that the driver lacks.
absl::Status MissingSymbol(const CudaApi& api, absl::string_view name);

template <typename... Parameters, typename... Arguments>
absl::Status CallCuda(const CudaApi& api, int (*function)(Parameters...), const char* name,
                      Arguments... arguments) {
  if (function == nullptr) return MissingSymbol(api, name);
  const int code = function(arguments...);
  return code == 0 ? absl::OkStatus() : CudaError(api, code, name);
}

// TILUS_CUDA_CALL(api, cuMemFree_v2, address): the call, with its errors as diagnostics.
#define TILUS_CUDA_CALL(api, name, ...) \
  ::tilus::driver::CallCuda((api), (api).name, #name, __VA_ARGS__)

}  // namespace tilus::driver

#include "driver/context.h"

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "driver/device.h"

namespace tilus::driver {

absl::StatusOr<std::shared_ptr<Context>> Context::Retain(int ordinal) {
  TILUS_ASSIGN_OR_RETURN(const CudaApi* api, Cuda());
  TILUS_ASSIGN_OR_RETURN(const int count, DeviceCount());
  if (ordinal < 0 || ordinal >= count) {
    return MakeError(DiagId::kNoSuchDevice,
                     absl::StrCat("CUDA device ", ordinal, " was asked for, and there are ", count),
                     "mind CUDA_VISIBLE_DEVICES, or run on the host device");
  }
  int device = 0;
  TILUS_RETURN_IF_ERROR(TILUS_CUDA_CALL(*api, cuDeviceGet, &device, ordinal));
  if (api->cuDevicePrimaryCtxRelease_v2 == nullptr) {
    return MissingSymbol(*api, "cuDevicePrimaryCtxRelease_v2");
  }
  void* handle = nullptr;
  TILUS_RETURN_IF_ERROR(TILUS_CUDA_CALL(*api, cuDevicePrimaryCtxRetain, &handle, device));
  return std::shared_ptr<Context>(new Context(*api, handle, device, Ownership::kRetained));
}

absl::StatusOr<std::shared_ptr<Context>> Context::Adopt(void* cu_context) {
  if (cu_context == nullptr) {
    return MakeError(DiagId::kNoCurrentContext, "the CUDA context handed over is null",
                     "pass a CUcontext, or ask for a device's primary context");
  }
  TILUS_ASSIGN_OR_RETURN(const CudaApi* api, Cuda());
  ScopedCurrent current(*api, cu_context);
  TILUS_RETURN_IF_ERROR(current.status());
  int device = 0;
  TILUS_RETURN_IF_ERROR(TILUS_CUDA_CALL(*api, cuCtxGetDevice, &device));
  return std::shared_ptr<Context>(new Context(*api, cu_context, device, Ownership::kAdopted));
}

absl::StatusOr<std::shared_ptr<Context>> Context::AdoptCurrent() {
  TILUS_ASSIGN_OR_RETURN(const CudaApi* api, Cuda());
  void* handle = nullptr;
  TILUS_RETURN_IF_ERROR(TILUS_CUDA_CALL(*api, cuCtxGetCurrent, &handle));
  if (handle == nullptr) {
    return MakeError(DiagId::kNoCurrentContext, "no CUDA context is current on this thread",
                     "make one current, or ask for a device's primary context");
  }
  return Adopt(handle);
}

Context::~Context() {
  if (ownership_ == Ownership::kRetained && CheckProcess(api_).ok()) {
    api_.cuDevicePrimaryCtxRelease_v2(ordinal_);
  }
}

ScopedCurrent::ScopedCurrent(const CudaApi& api, void* cu_context) : api_(api) {
  status_ = CheckProcess(api);
  if (!status_.ok()) return;
  // Where the context is current already (the usual case of a host program with one device) the
  // stack need not be touched.
  void* current = nullptr;
  if (api.cuCtxGetCurrent != nullptr && api.cuCtxGetCurrent(&current) == 0 &&
      current == cu_context) {
    return;
  }
  if (api.cuCtxPopCurrent_v2 == nullptr) {
    status_ = MissingSymbol(api, "cuCtxPopCurrent_v2");
    return;
  }
  status_ = TILUS_CUDA_CALL(api, cuCtxPushCurrent_v2, cu_context);
  pushed_ = status_.ok();
}

ScopedCurrent::~ScopedCurrent() {
  if (!pushed_) return;
  void* popped = nullptr;
  api_.cuCtxPopCurrent_v2(&popped);
}

}  // namespace tilus::driver

// A CUDA context to work in, and the guard that makes it current for the length of a call.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "driver/cuda_api.h"

namespace tilus::driver {

// Handles of the driver, as the caller's own CUDA code has them (CUstream, CUevent, ...). A null
// stream is the legacy default stream.
using Stream = void*;
using Event = void*;
using Graph = void*;
using GraphExec = void*;
using DeviceAddress = uint64_t;

// Either a device's primary context, retained while this object lives (the one that the CUDA
// runtime and frameworks use, so memory and streams can be shared with them), or a context of the
// caller's, which must outlive this object. May be used from many threads at once.
class Context {
 public:
  // The primary context of device `ordinal`.
  static absl::StatusOr<std::shared_ptr<Context>> Retain(int ordinal);
  // The caller's context: a CUcontext, or the one that is current on this thread.
  static absl::StatusOr<std::shared_ptr<Context>> Adopt(void* cu_context);
  static absl::StatusOr<std::shared_ptr<Context>> AdoptCurrent();

  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  int ordinal() const { return ordinal_; }
  void* handle() const { return handle_; }  // CUcontext
  const CudaApi& api() const { return api_; }

 private:
  enum class Ownership { kRetained, kAdopted };
  Context(const CudaApi& api, void* handle, int ordinal, Ownership ownership)
      : api_(api), handle_(handle), ordinal_(ordinal), ownership_(ownership) {}

  const CudaApi& api_;
  void* handle_;
  int ordinal_;
  Ownership ownership_;
};

// Makes a context current for the life of the guard and leaves the thread's context stack as it
// was. Check status() before any call of the driver; the destructor undoes only what was done.
class ScopedCurrent {
 public:
  explicit ScopedCurrent(const Context& context) : ScopedCurrent(context.api(), context.handle()) {}
  ScopedCurrent(const CudaApi& api, void* cu_context);
  ScopedCurrent(const ScopedCurrent&) = delete;
  ScopedCurrent& operator=(const ScopedCurrent&) = delete;
  ~ScopedCurrent();

  const absl::Status& status() const { return status_; }
  const CudaApi& api() const { return api_; }

 private:
  const CudaApi& api_;
  absl::Status status_;
  bool pushed_ = false;
};

// The call of a driver function with `context` current, its errors as diagnostics.
template <typename... Parameters, typename... Arguments>
absl::Status CallCudaIn(const Context& context, int (*CudaApi::*function)(Parameters...),
                        const char* name, Arguments... arguments) {
  ScopedCurrent current(context);
  TILUS_RETURN_IF_ERROR(current.status());
  return CallCuda(current.api(), current.api().*function, name, arguments...);
}

// TILUS_CUDA_CALL_IN(context, cuMemFree_v2, address)
#define TILUS_CUDA_CALL_IN(context, name, ...) \
  ::tilus::driver::CallCudaIn((context), &::tilus::driver::CudaApi::name, #name, __VA_ARGS__)

}  // namespace tilus::driver

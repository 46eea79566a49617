#include "driver/memory.h"

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "driver/stream.h"

namespace tilus::driver {
namespace {

// "4096 bytes asked for on device 0, 1024 of 8192 free"
std::string AllocationDetail(const Context& context, size_t bytes) {
  std::string detail = absl::StrCat(bytes, " bytes asked for on device ", context.ordinal());
  size_t free = 0;
  size_t total = 0;
  const CudaApi& api = context.api();
  if (api.cuMemGetInfo_v2 != nullptr && api.cuMemGetInfo_v2(&free, &total) == 0) {
    absl::StrAppend(&detail, ", ", free, " of ", total, " free");
  }
  return detail;
}

}  // namespace

absl::StatusOr<DeviceAddress> Alloc(const Context& context, size_t bytes) {
  ScopedCurrent current(context);
  TILUS_RETURN_IF_ERROR(current.status());
  const CudaApi& api = current.api();
  if (api.cuMemAlloc_v2 == nullptr) return MissingSymbol(api, "cuMemAlloc_v2");
  DeviceAddress address = 0;
  // The driver refuses zero bytes; an empty tensor still needs an address.
  const int code = api.cuMemAlloc_v2(&address, bytes == 0 ? 1 : bytes);
  if (code == 0) return address;
  return CudaError(api, code, "cuMemAlloc", AllocationDetail(context, bytes));
}

absl::Status Free(const Context& context, DeviceAddress address) {
  if (address == 0) return absl::OkStatus();
  return TILUS_CUDA_CALL_IN(context, cuMemFree_v2, address);
}

absl::StatusOr<MemoryInfo> GetMemoryInfo(const Context& context) {
  MemoryInfo info;
  TILUS_RETURN_IF_ERROR(
      TILUS_CUDA_CALL_IN(context, cuMemGetInfo_v2, &info.free_bytes, &info.total_bytes));
  return info;
}

absl::Status CopyToDeviceAsync(const Context& context, DeviceAddress target, const void* source,
                               size_t bytes, Stream stream) {
  if (bytes == 0) return absl::OkStatus();
  return TILUS_CUDA_CALL_IN(context, cuMemcpyHtoDAsync_v2, target, source, bytes, stream);
}

absl::Status CopyToHostAsync(const Context& context, void* target, DeviceAddress source,
                             size_t bytes, Stream stream) {
  if (bytes == 0) return absl::OkStatus();
  return TILUS_CUDA_CALL_IN(context, cuMemcpyDtoHAsync_v2, target, source, bytes, stream);
}

absl::Status CopyDeviceToDeviceAsync(const Context& context, DeviceAddress target,
                                     DeviceAddress source, size_t bytes, Stream stream) {
  if (bytes == 0) return absl::OkStatus();
  return TILUS_CUDA_CALL_IN(context, cuMemcpyDtoDAsync_v2, target, source, bytes, stream);
}

absl::Status FillAsync(const Context& context, DeviceAddress target, uint8_t value, size_t bytes,
                       Stream stream) {
  if (bytes == 0) return absl::OkStatus();
  return TILUS_CUDA_CALL_IN(context, cuMemsetD8Async, target, value, bytes, stream);
}

absl::Status CopyToDevice(const Context& context, DeviceAddress target, const void* source,
                          size_t bytes, Stream stream) {
  TILUS_RETURN_IF_ERROR(CopyToDeviceAsync(context, target, source, bytes, stream));
  return StreamSynchronize(context, stream);
}

absl::Status CopyToHost(const Context& context, void* target, DeviceAddress source, size_t bytes,
                        Stream stream) {
  TILUS_RETURN_IF_ERROR(CopyToHostAsync(context, target, source, bytes, stream));
  return StreamSynchronize(context, stream);
}

absl::Status CopyDeviceToDevice(const Context& context, DeviceAddress target, DeviceAddress source,
                                size_t bytes, Stream stream) {
  TILUS_RETURN_IF_ERROR(CopyDeviceToDeviceAsync(context, target, source, bytes, stream));
  return StreamSynchronize(context, stream);
}

absl::Status Fill(const Context& context, DeviceAddress target, uint8_t value, size_t bytes,
                  Stream stream) {
  TILUS_RETURN_IF_ERROR(FillAsync(context, target, value, bytes, stream));
  return StreamSynchronize(context, stream);
}

}  // namespace tilus::driver

#include "driver/device.h"

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "driver/cuda_api.h"

namespace tilus::driver {
namespace {

// CUdevice_attribute and the field that it fills.
struct AttributeRow {
  int attribute;
  int DeviceInfo::*field;
};
constexpr AttributeRow kAttributes[] = {
    {75, &DeviceInfo::compute_major},
    {76, &DeviceInfo::compute_minor},
    {16, &DeviceInfo::multiprocessors},
    {12, &DeviceInfo::registers_per_block},
    {1, &DeviceInfo::max_threads_per_block},
    {10, &DeviceInfo::warp_size},
    {13, &DeviceInfo::clock_khz},
    {36, &DeviceInfo::memory_clock_khz},
    {37, &DeviceInfo::memory_bus_bits},
};
struct SizeRow {
  int attribute;
  int64_t DeviceInfo::*field;
};
constexpr SizeRow kSizes[] = {
    {8, &DeviceInfo::shared_bytes_per_block},
    {97, &DeviceInfo::shared_bytes_per_block_optin},
    {81, &DeviceInfo::shared_bytes_per_multiprocessor},
    {38, &DeviceInfo::l2_bytes},
};

absl::StatusOr<int> Count(const CudaApi& api) {
  int count = 0;
  TILUS_RETURN_IF_ERROR(TILUS_CUDA_CALL(api, cuDeviceGetCount, &count));
  return count;
}

}  // namespace

absl::StatusOr<int> DeviceCount() {
  const absl::StatusOr<const CudaApi*> api = Cuda();
  if (!api.ok()) {
    // A driver without a device already refuses cuInit.
    if (DiagnosticsOf(api.status())[0].id == DiagId::kNoSuchDevice) return 0;
    return api.status();
  }
  return Count(**api);
}

absl::StatusOr<int> DriverVersion() {
  TILUS_ASSIGN_OR_RETURN(const CudaApi* api, Cuda());
  int version = 0;
  TILUS_RETURN_IF_ERROR(TILUS_CUDA_CALL(*api, cuDriverGetVersion, &version));
  return version;
}

absl::StatusOr<DeviceInfo> GetDeviceInfo(int ordinal) {
  TILUS_ASSIGN_OR_RETURN(const CudaApi* api, Cuda());
  TILUS_ASSIGN_OR_RETURN(const int count, Count(*api));
  if (ordinal < 0 || ordinal >= count) {
    return MakeError(DiagId::kNoSuchDevice,
                     absl::StrCat("CUDA device ", ordinal, " was asked for, and there are ", count),
                     "mind CUDA_VISIBLE_DEVICES, or run on the host device");
  }
  int device = 0;
  TILUS_RETURN_IF_ERROR(TILUS_CUDA_CALL(*api, cuDeviceGet, &device, ordinal));
  DeviceInfo info;
  info.ordinal = ordinal;
  char name[256] = {};
  const int capacity = sizeof(name) - 1;
  TILUS_RETURN_IF_ERROR(TILUS_CUDA_CALL(*api, cuDeviceGetName, name, capacity, device));
  info.name = name;
  for (const AttributeRow& row : kAttributes) {
    TILUS_RETURN_IF_ERROR(
        TILUS_CUDA_CALL(*api, cuDeviceGetAttribute, &(info.*row.field), row.attribute, device));
  }
  for (const SizeRow& row : kSizes) {
    int value = 0;
    TILUS_RETURN_IF_ERROR(
        TILUS_CUDA_CALL(*api, cuDeviceGetAttribute, &value, row.attribute, device));
    info.*row.field = value;
  }
  size_t bytes = 0;
  TILUS_RETURN_IF_ERROR(TILUS_CUDA_CALL(*api, cuDeviceTotalMem_v2, &bytes, device));
  info.total_memory_bytes = static_cast<int64_t>(bytes);
  TILUS_RETURN_IF_ERROR(TILUS_CUDA_CALL(*api, cuDriverGetVersion, &info.driver_version));
  return info;
}

}  // namespace tilus::driver

// The devices of the CUDA driver.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace tilus::driver {

// Clocks are in kHz, sizes in bytes.
struct DeviceInfo {
  int ordinal = 0;
  std::string name;
  int compute_major = 0;  // 9 and 0 for sm_90
  int compute_minor = 0;
  int multiprocessors = 0;
  int64_t total_memory_bytes = 0;
  int64_t shared_bytes_per_block = 0;        // without opting in
  int64_t shared_bytes_per_block_optin = 0;  // the most that a kernel may ask for
  int64_t shared_bytes_per_multiprocessor = 0;
  int64_t l2_bytes = 0;
  int registers_per_block = 0;
  int max_threads_per_block = 0;
  int warp_size = 32;
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
  int driver_version = 0;  // 13000 = CUDA 13.0, the newest that the driver supports
};

// The number of devices; 0 when the driver is there but no device is. Errors: kDriverMissing,
// kDriverInitFailed, kDriverAfterFork.
absl::StatusOr<int> DeviceCount();

// What the driver says of device `ordinal`; kNoSuchDevice outside [0, DeviceCount()).
absl::StatusOr<DeviceInfo> GetDeviceInfo(int ordinal);

// 13000 for CUDA 13.0.
absl::StatusOr<int> DriverVersion();

}  // namespace tilus::driver

// Device memory. Each transfer comes in two forms: the plain one returns when the bytes are there,
// the Async one enqueues on `stream` and returns (host memory must then stay valid, and unless it
// is pinned the driver may still copy before returning). Both are ordered by `stream`; the plain
// form waits for all work before it on that stream, and reports faults of earlier kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "driver/context.h"

namespace tilus::driver {

// `bytes` of device memory, aligned to at least 256 bytes; a valid address also for 0 bytes.
// kDeviceOutOfMemory names the bytes asked for and those free.
absl::StatusOr<DeviceAddress> Alloc(const Context& context, size_t bytes);
// Frees what Alloc gave; 0 is ignored.
absl::Status Free(const Context& context, DeviceAddress address);

struct MemoryInfo {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
};
absl::StatusOr<MemoryInfo> GetMemoryInfo(const Context& context);

absl::Status CopyToDevice(const Context& context, DeviceAddress target, const void* source,
                          size_t bytes, Stream stream = nullptr);
absl::Status CopyToDeviceAsync(const Context& context, DeviceAddress target, const void* source,
                               size_t bytes, Stream stream);

absl::Status CopyToHost(const Context& context, void* target, DeviceAddress source, size_t bytes,
                        Stream stream = nullptr);
absl::Status CopyToHostAsync(const Context& context, void* target, DeviceAddress source,
                             size_t bytes, Stream stream);

absl::Status CopyDeviceToDevice(const Context& context, DeviceAddress target, DeviceAddress source,
                                size_t bytes, Stream stream = nullptr);
absl::Status CopyDeviceToDeviceAsync(const Context& context, DeviceAddress target,
                                     DeviceAddress source, size_t bytes, Stream stream);

// Sets each of `bytes` bytes to `value`.
absl::Status Fill(const Context& context, DeviceAddress target, uint8_t value, size_t bytes,
                  Stream stream = nullptr);
absl::Status FillAsync(const Context& context, DeviceAddress target, uint8_t value, size_t bytes,
                       Stream stream);

}  // namespace tilus::driver

// Devices as the handles of the ABI hold them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "capi/context.h"
#include "driver/context.h"
#include "driver/device.h"
#include "tilus.h"

namespace tilus::capi {

// Memory of a CUDA device that its owner has given up. It is made with the memory, so that giving
// up needs no allocation.
struct Retired {
  driver::DeviceAddress address = 0;
  Retired* next = nullptr;
};

// Shared by a device handle and everything made on it.
class DeviceState {
 public:
  DeviceState(std::shared_ptr<const ContextState> context, tilus_device_kind kind)
      : context_(std::move(context)), kind_(kind) {}
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;
  ~DeviceState();

  void SetCuda(std::shared_ptr<driver::Context> cuda, driver::DeviceInfo info);

  const ContextState& context() const { return *context_; }
  tilus_device_kind kind() const { return kind_; }
  bool is_cuda() const { return kind_ == TILUS_DEVICE_CUDA; }
  const std::shared_ptr<driver::Context>& cuda() const { return cuda_; }  // NULL where not CUDA
  const driver::DeviceInfo& info() const { return info_; }
  const std::string& target() const { return target_; }

  // Queues memory to be freed; waits for nothing, since freeing waits for the device.
  void Retire(std::unique_ptr<Retired> retired) noexcept;
  // Frees what was retired.
  void FreeRetired() noexcept;

 private:
  const std::shared_ptr<const ContextState> context_;
  const tilus_device_kind kind_;
  std::shared_ptr<driver::Context> cuda_;
  driver::DeviceInfo info_;
  std::string target_;
  std::atomic<Retired*> retired_ = nullptr;
};

}  // namespace tilus::capi

struct tilus_device {
  std::shared_ptr<tilus::capi::DeviceState> state;
};

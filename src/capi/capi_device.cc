#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "capi/device_handle.h"
#include "capi/guard.h"
#include "capi/target.h"
#include "driver/memory.h"
#include "driver/stream.h"

namespace tilus::capi {
namespace {

absl::StatusOr<std::shared_ptr<DeviceState>> MakeCudaDevice(
    const tilus_context& context, absl::StatusOr<std::shared_ptr<driver::Context>> cuda) {
  TILUS_RETURN_IF_ERROR(cuda.status());
  TILUS_ASSIGN_OR_RETURN(driver::DeviceInfo info, driver::GetDeviceInfo((*cuda)->ordinal()));
  auto state = std::make_shared<DeviceState>(context.state, TILUS_DEVICE_CUDA);
  state->SetCuda(*std::move(cuda), std::move(info));
  return state;
}

absl::StatusOr<std::shared_ptr<DeviceState>> OpenDevice(const tilus_context& context,
                                                        tilus_device_kind kind,
                                                        uint32_t ordinal) {
  switch (kind) {
    case TILUS_DEVICE_CUDA:
      return MakeCudaDevice(context, driver::Context::Retain(static_cast<int>(
                                         std::min<uint32_t>(ordinal, INT32_MAX))));
    case TILUS_DEVICE_HOST:
    case TILUS_DEVICE_SIMULATE:
      if (ordinal != 0) {
        return MakeError(DiagId::kNoSuchDevice,
                         absl::StrCat("there is one such device, number 0, not ", ordinal));
      }
      return std::make_shared<DeviceState>(context.state, kind);
    default:
      return BadArgument("kind", absl::StrCat(static_cast<uint32_t>(kind), " names no kind"));
  }
}

absl::Status GiveDevice(absl::StatusOr<std::shared_ptr<DeviceState>> state, tilus_device** out) {
  TILUS_RETURN_IF_ERROR(state.status());
  *out = new tilus_device{*std::move(state)};
  return absl::OkStatus();
}

// Host and simulator have no streams.
absl::Status CheckNoStream(void* stream) {
  if (stream == nullptr) return absl::OkStatus();
  return BadArgument("stream", "only CUDA devices have streams", "pass NULL");
}

driver::DeviceAddress AddressOf(const void* pointer) {
  return reinterpret_cast<driver::DeviceAddress>(pointer);
}

enum class Direction { kToDevice, kToHost, kOnDevice };

absl::Status CopyOnCuda(const driver::Context& cuda, Direction direction, void* to,
                        const void* from, size_t size, void* stream) {
  const bool wait = stream == nullptr;
  switch (direction) {
    case Direction::kToDevice:
      return wait ? driver::CopyToDevice(cuda, AddressOf(to), from, size)
                  : driver::CopyToDeviceAsync(cuda, AddressOf(to), from, size, stream);
    case Direction::kToHost:
      return wait ? driver::CopyToHost(cuda, to, AddressOf(from), size)
                  : driver::CopyToHostAsync(cuda, to, AddressOf(from), size, stream);
    case Direction::kOnDevice:
      return wait ? driver::CopyDeviceToDevice(cuda, AddressOf(to), AddressOf(from), size)
                  : driver::CopyDeviceToDeviceAsync(cuda, AddressOf(to), AddressOf(from), size,
                                                    stream);
  }
  return absl::OkStatus();
}

tilus_error* Copy(const tilus_device* device, Direction direction, void* to, const void* from,
                  size_t size, void* stream) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(device, "device"));
    if (size != 0) {
      TILUS_RETURN_IF_ERROR(NotNull(to, "to"));
      TILUS_RETURN_IF_ERROR(NotNull(from, "from"));
    }
    const DeviceState& state = *device->state;
    if (state.is_cuda()) return CopyOnCuda(*state.cuda(), direction, to, from, size, stream);
    TILUS_RETURN_IF_ERROR(CheckNoStream(stream));
    if (size != 0) std::memmove(to, from, size);
    return absl::OkStatus();
  });
}

}  // namespace

DeviceState::~DeviceState() { FreeRetired(); }

void DeviceState::SetCuda(std::shared_ptr<driver::Context> cuda, driver::DeviceInfo info) {
  cuda_ = std::move(cuda);
  info_ = std::move(info);
  target_ = BestTarget(info_.compute_major * 10 + info_.compute_minor);
}

void DeviceState::Retire(std::unique_ptr<Retired> retired) noexcept {
  Retired* node = retired.release();
  node->next = retired_.load(std::memory_order_relaxed);
  while (!retired_.compare_exchange_weak(node->next, node, std::memory_order_release,
                                         std::memory_order_relaxed)) {
  }
}

void DeviceState::FreeRetired() noexcept {
  Retired* node = retired_.exchange(nullptr, std::memory_order_acquire);
  while (node != nullptr) {
    const std::unique_ptr<Retired> owner(node);
    node = owner->next;
    // Whoever could be told of a failure has given the memory up; a lost device shows elsewhere.
    try {
      driver::Free(*cuda_, owner->address).IgnoreError();
    } catch (...) {  // no memory for the text of the failure
    }
  }
}

}  // namespace tilus::capi

using namespace tilus::capi;  // the entries below are in the global namespace
namespace driver = tilus::driver;

uint32_t tilus_device_count(tilus_device_kind kind) {
  switch (kind) {
    case TILUS_DEVICE_HOST:
    case TILUS_DEVICE_SIMULATE: return 1;
    case TILUS_DEVICE_CUDA: break;
    default: return 0;
  }
  try {
    const absl::StatusOr<int> count = driver::DeviceCount();
    return count.ok() && *count > 0 ? static_cast<uint32_t>(*count) : 0;
  } catch (...) {
    return 0;
  }
}

tilus_error* tilus_device_open(tilus_context* context, tilus_device_kind kind, uint32_t ordinal,
                               tilus_device** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(context, "context"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    return GiveDevice(OpenDevice(*context, kind, ordinal), out);
  });
}

tilus_error* tilus_device_wrap(tilus_context* context, void* cuda_context, tilus_device** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(context, "context"));
    TILUS_RETURN_IF_ERROR(NotNull(cuda_context, "cuda_context"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    return GiveDevice(MakeCudaDevice(*context, driver::Context::Adopt(cuda_context)), out);
  });
}

tilus_error* tilus_device_describe(const tilus_device* device, tilus_device_info* out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(device, "device"));
    TILUS_RETURN_IF_ERROR(HasRoom(out, "out"));
    const DeviceState& state = *device->state;
    tilus_device_info info{};
    info.kind = state.kind();
    info.target = ToString(state.target());
    if (state.is_cuda()) {
      const driver::DeviceInfo& cuda = state.info();
      info.ordinal = static_cast<uint32_t>(cuda.ordinal);
      info.name = ToString(cuda.name);
      info.memory_bytes = static_cast<uint64_t>(cuda.total_memory_bytes);
      info.l2_bytes = static_cast<uint64_t>(cuda.l2_bytes);
      info.multiprocessors = static_cast<uint32_t>(cuda.multiprocessors);
      info.shared_bytes = static_cast<uint32_t>(cuda.shared_bytes_per_block_optin);
      info.driver_version = static_cast<uint32_t>(cuda.driver_version);
      info.clock_khz = static_cast<uint32_t>(cuda.clock_khz);
    } else {
      info.name = tilus_string_of(state.kind() == TILUS_DEVICE_HOST ? "host" : "simulate");
    }
    FillIfRoom(out, info);
    return absl::OkStatus();
  });
}

tilus_error* tilus_device_upload(const tilus_device* device, void* to, const void* from,
                                 size_t size, void* stream) {
  return Copy(device, Direction::kToDevice, to, from, size, stream);
}

tilus_error* tilus_device_download(const tilus_device* device, void* to, const void* from,
                                   size_t size, void* stream) {
  return Copy(device, Direction::kToHost, to, from, size, stream);
}

tilus_error* tilus_device_copy(const tilus_device* device, void* to, const void* from, size_t size,
                               void* stream) {
  return Copy(device, Direction::kOnDevice, to, from, size, stream);
}

tilus_error* tilus_device_fill(const tilus_device* device, void* to, uint8_t value, size_t size,
                               void* stream) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(device, "device"));
    if (size != 0) TILUS_RETURN_IF_ERROR(NotNull(to, "to"));
    const DeviceState& state = *device->state;
    if (!state.is_cuda()) {
      TILUS_RETURN_IF_ERROR(CheckNoStream(stream));
      if (size != 0) std::memset(to, value, size);
      return absl::OkStatus();
    }
    const driver::Context& cuda = *state.cuda();
    return stream == nullptr ? driver::Fill(cuda, AddressOf(to), value, size)
                             : driver::FillAsync(cuda, AddressOf(to), value, size, stream);
  });
}

tilus_error* tilus_device_synchronize(const tilus_device* device) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(device, "device"));
    DeviceState& state = *device->state;
    if (!state.is_cuda()) return absl::OkStatus();
    TILUS_RETURN_IF_ERROR(driver::ContextSynchronize(*state.cuda()));
    state.FreeRetired();
    return absl::OkStatus();
  });
}

void tilus_device_destroy(tilus_device* device) { delete device; }

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "capi/device_handle.h"
#include "capi/guard.h"
#include "driver/memory.h"
#include "driver/stream.h"

struct tilus_memory {
  std::shared_ptr<tilus::capi::DeviceState> device;
  void* address = nullptr;
  size_t size = 0;
  std::unique_ptr<tilus::capi::Retired> retired;  // of CUDA devices, for the destroy

  ~tilus_memory();
};

struct tilus_stream {
  std::shared_ptr<tilus::capi::DeviceState> device;
  void* native = nullptr;  // NULL for host and simulator

  ~tilus_stream();
};

namespace tilus::capi {
namespace {

constexpr size_t kAlignment = 256;

absl::StatusOr<void*> AllocateHost(size_t size) {
  void* address = nullptr;
  if (size <= PTRDIFF_MAX / 2) {  // more is not asked for: some allocators abort
    const size_t rounded = (size == 0 ? 1 : size) + kAlignment - 1;
    address = std::aligned_alloc(kAlignment, rounded / kAlignment * kAlignment);
  }
  if (address != nullptr) return address;
  return MakeError(DiagId::kOutOfMemory, absl::StrCat(size, " bytes could not be allocated"));
}

absl::Status Allocate(size_t size, tilus_memory* memory) {
  DeviceState& device = *memory->device;
  memory->size = size;
  if (!device.is_cuda()) {
    TILUS_ASSIGN_OR_RETURN(memory->address, AllocateHost(size));
    return absl::OkStatus();
  }
  device.FreeRetired();
  memory->retired = std::make_unique<Retired>();
  TILUS_ASSIGN_OR_RETURN(memory->retired->address, driver::Alloc(*device.cuda(), size));
  memory->address = reinterpret_cast<void*>(memory->retired->address);
  return absl::OkStatus();
}

}  // namespace
}  // namespace tilus::capi

using namespace tilus::capi;  // the entries below are in the global namespace
namespace driver = tilus::driver;

tilus_memory::~tilus_memory() {
  if (retired == nullptr) {
    std::free(address);
  } else if (retired->address != 0) {
    device->Retire(std::move(retired));
  }
}

tilus_stream::~tilus_stream() {
  if (native == nullptr) return;
  try {
    driver::StreamDestroy(*device->cuda(), native).IgnoreError();
  } catch (...) {  // no memory for the text of a failure, which nobody could be told
  }
}

tilus_error* tilus_memory_create(tilus_device* device, size_t size, tilus_memory** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(device, "device"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    auto memory = std::make_unique<tilus_memory>();
    memory->device = device->state;
    TILUS_RETURN_IF_ERROR(Allocate(size, memory.get()));
    *out = memory.release();
    return absl::OkStatus();
  });
}

void* tilus_memory_address(const tilus_memory* memory) {
  return memory == nullptr ? nullptr : memory->address;
}

size_t tilus_memory_size(const tilus_memory* memory) {
  return memory == nullptr ? 0 : memory->size;
}

void tilus_memory_destroy(tilus_memory* memory) { delete memory; }

tilus_error* tilus_stream_create(tilus_device* device, tilus_stream** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(device, "device"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    auto stream = std::make_unique<tilus_stream>();
    stream->device = device->state;
    if (device->state->is_cuda()) {
      TILUS_ASSIGN_OR_RETURN(stream->native, driver::StreamCreate(*device->state->cuda()));
    }
    *out = stream.release();
    return absl::OkStatus();
  });
}

void* tilus_stream_native(const tilus_stream* stream) {
  return stream == nullptr ? nullptr : stream->native;
}

tilus_error* tilus_stream_synchronize(const tilus_stream* stream) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(stream, "stream"));
    if (stream->native == nullptr) return absl::OkStatus();
    return driver::StreamSynchronize(*stream->device->cuda(), stream->native);
  });
}

void tilus_stream_destroy(tilus_stream* stream) { delete stream; }

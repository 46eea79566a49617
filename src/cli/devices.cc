#include "cli/devices.h"

#include <charconv>

#include "cli/cat.h"

namespace tilus::cli {

DeviceName ParseDeviceName(const std::string& text) {
  if (text == "host") return {TILUS_DEVICE_HOST, 0};
  if (text == "simulate") return {TILUS_DEVICE_SIMULATE, 0};
  if (text == "cuda") return {TILUS_DEVICE_CUDA, 0};
  constexpr std::string_view kCuda = "cuda:";
  if (text.compare(0, kCuda.size(), kCuda) == 0) {
    DeviceName name = {TILUS_DEVICE_CUDA, 0};
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data() + kCuda.size(), end, name.ordinal);
    if (error == std::errc() && at == end) return name;
  }
  Fail(Exit::kUsage, Id::kUsage, Cat("--device: there is no kind of device \"", text, "\""),
       "host, simulate, cuda or cuda:N");
}

std::string DeviceNameText(const DeviceName& name) {
  switch (name.kind) {
    case TILUS_DEVICE_HOST: return "host";
    case TILUS_DEVICE_SIMULATE: return "simulate";
    default: return Cat("cuda:", name.ordinal);
  }
}

Device OpenDevice(tilus_context* context, const DeviceName& name) {
  tilus_device* device = nullptr;
  CheckOr(Exit::kEnvironment, tilus_device_open(context, name.kind, name.ordinal, &device));
  return Device(device);
}

}  // namespace tilus::cli

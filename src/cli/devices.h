// Devices by the names that the command line gives them: host, simulate, cuda, cuda:N.
#pragma once

#include <string>

#include "cli/api.h"

namespace tilus::cli {

struct DeviceName {
  tilus_device_kind kind = TILUS_DEVICE_HOST;
  uint32_t ordinal = 0;
};

// Throws Exit::kUsage for what is no such name.
DeviceName ParseDeviceName(const std::string& text);
std::string DeviceNameText(const DeviceName& name);

// Throws Exit::kEnvironment where there is no such device.
Device OpenDevice(tilus_context* context, const DeviceName& name);

}  // namespace tilus::cli

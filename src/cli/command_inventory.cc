// tilusc targets | devices: what this machine and this version can do.
#include <nlohmann/json.hpp>

#include "cli/cat.h"
#include "cli/devices.h"
#include "cli/program_input.h"

namespace tilus::cli {
namespace {

struct NoOptions {};

void ListTargets(const NoOptions&, Tool& tool) {
  const Session session(tool);
  std::vector<std::string> names;
  for (size_t i = 0; i < tilus_target_count(); ++i) {
    names.emplace_back(View(tilus_target_name(i)));
  }
  const std::string assembler(View(tilus_context_assembler(session.context())));
  if (tool.json) {
    PrintJson({{"targets", names},
               {"assembler", assembler.empty() ? Json(nullptr) : Json(assembler)}});
    return;
  }
  for (const std::string& name : names) PrintLine(name);
  PrintLine(assembler.empty() ? "no assembler was found: PTX only"
                              : Cat("cubins are made by ", assembler));
}

std::vector<DeviceName> AllDevices() {
  std::vector<DeviceName> names;
  for (const tilus_device_kind kind :
       {TILUS_DEVICE_HOST, TILUS_DEVICE_SIMULATE, TILUS_DEVICE_CUDA}) {
    for (uint32_t i = 0; i < tilus_device_count(kind); ++i) names.push_back({kind, i});
  }
  return names;
}

void ListDevices(const NoOptions&, Tool& tool) {
  const Session session(tool);
  Json list = Json::array();
  for (const DeviceName& name : AllDevices()) {
    const Device device = OpenDevice(session.context(), name);
    auto info = Sized<tilus_device_info>();
    Check(tilus_device_describe(device.get(), &info));
    list.push_back({{"device", DeviceNameText(name)},
                    {"name", View(info.name)},
                    {"target", View(info.target)},
                    {"memory_bytes", info.memory_bytes},
                    {"l2_bytes", info.l2_bytes},
                    {"multiprocessors", info.multiprocessors},
                    {"shared_bytes", info.shared_bytes},
                    {"driver_version", info.driver_version},
                    {"clock_khz", info.clock_khz}});
  }
  if (tool.json) {
    PrintJson({{"devices", std::move(list)}});
    return;
  }
  for (const Json& row : list) {
    std::string line = Cat(row["device"].get<std::string>(), ": ", row["name"].get<std::string>());
    if (row["multiprocessors"] != 0) {
      line += Cat(", ", row["target"].get<std::string>(), ", ",
                  row["multiprocessors"].get<uint32_t>(), " multiprocessors, ",
                  row["memory_bytes"].get<uint64_t>() >> 20, " MiB");
    }
    PrintLine(line);
  }
}

}  // namespace

void AddInventoryCommands(CLI::App* parent, Tool* tool) {
  CLI::App* app = AddCommand(parent, "targets", "List the targets that can be compiled for",
                             "  tilusc targets --json");
  RunWith(tool, app, std::make_shared<NoOptions>(), ListTargets);
  app = AddCommand(parent, "devices", "List the devices that kernels can run on",
                   "  tilusc devices --json");
  RunWith(tool, app, std::make_shared<NoOptions>(), ListDevices);
}

}  // namespace tilus::cli

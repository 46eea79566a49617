#include "capi/target.h"
#include "ptx/target.h"
#include "tilus.h"

namespace tilus::capi {

std::string BestTarget(int sm) {
  std::string best;
  for (const ptx::Target& target : ptx::Targets()) {
    if (ptx::RunsOn(target, sm)) best = target.name;
  }
  return best;
}

}  // namespace tilus::capi

size_t tilus_target_count(void) { return tilus::ptx::Targets().size(); }

tilus_string tilus_target_name(size_t index) {
  const auto targets = tilus::ptx::Targets();
  return tilus_string_of(index < targets.size() ? targets[index].name : "");
}

#include "ptx/target.h"

namespace tilus::ptx {
namespace {

constexpr uint32_t kKib = 1024;

constexpr Target kTargets[] = {
    {"sm_80", 80, false, 70, 163 * kKib, 164 * kKib, 65536, 2048},
    {"sm_86", 86, false, 71, 99 * kKib, 100 * kKib, 65536, 1536},
    {"sm_89", 89, false, 78, 99 * kKib, 100 * kKib, 65536, 1536},
    {"sm_90", 90, false, 78, 227 * kKib, 228 * kKib, 65536, 2048},
    {"sm_90a", 90, true, 80, 227 * kKib, 228 * kKib, 65536, 2048},
    {"sm_100", 100, false, 86, 227 * kKib, 228 * kKib, 65536, 2048},
    {"sm_100a", 100, true, 86, 227 * kKib, 228 * kKib, 65536, 2048},
    {"sm_120", 120, false, 87, 99 * kKib, 100 * kKib, 65536, 1536},
    {"sm_120a", 120, true, 87, 99 * kKib, 100 * kKib, 65536, 1536},
};

}  // namespace

absl::Span<const Target> Targets() { return kTargets; }

std::optional<Target> FindTarget(absl::string_view name) {
  for (const Target& target : kTargets) {
    if (target.name == name) return target;
  }
  return std::nullopt;
}

bool RunsOn(const Target& code, int device_sm) {
  return code.arch_specific ? device_sm == code.sm : device_sm >= code.sm;
}

}  // namespace tilus::ptx

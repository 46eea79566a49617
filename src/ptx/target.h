// The targets that PTX is printed for.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tilus::ptx {

struct Target {
  const char* name;            // "sm_90a"
  uint16_t sm;                 // 90
  bool arch_specific;          // sm_90a: instructions of this architecture alone, no other runs it
  uint8_t min_ptx;             // the lowest PTX ISA that knows it, major * 10 + minor
  uint32_t shared_per_block;   // bytes of dynamic shared memory that a block can opt in to
  uint32_t shared_per_sm;      // bytes
  uint32_t registers_per_sm;   // 32-bit
  uint16_t max_threads_per_sm;
};

// All targets, by ascending sm; an architecture-specific one after its plain form.
absl::Span<const Target> Targets();
// The target of a name, e.g. "sm_90a".
std::optional<Target> FindTarget(absl::string_view name);

// True when code for `code` runs on a device whose compute capability is `device_sm` (90 for 9.0):
// an equal one for an architecture-specific target, the same or a later one else.
bool RunsOn(const Target& code, int device_sm);

}  // namespace tilus::ptx

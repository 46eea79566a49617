// Saved modules: one self-contained file.
//
//   "TILUSMOD" | u32 format version | u32 0 | u64 bytes of payload | XXH3-128 of the payload, 16
//   payload: string program (tilus.v1.Module) | u32 contract | u32 targets, then for each
//            string name | string ptx | string cubin (empty: none was made)
//   string:  u64 size | bytes
//
// All numbers are little-endian. The program is the truth: restoring compiles it again, and takes a
// saved cubin only where the PTX is still the same, so that a later version of the library reads
// the modules of an earlier one and never mixes its own launch rules with older code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tilus::capi {

struct SavedTarget {
  std::string name;
  std::string ptx;
  std::string cubin;
};

struct SavedModule {
  std::string program;
  bool contract = false;
  std::vector<SavedTarget> targets;
};

std::string WriteModuleFile(const SavedModule& module);
// Errors: kModuleFile for anything but a whole file, kModuleVersion for a later format.
absl::StatusOr<SavedModule> ReadModuleFile(absl::string_view bytes);

}  // namespace tilus::capi

// Compiles on behalf of a context: limits, callbacks, cancellation.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "capi/context.h"
#include "capi/module_handle.h"
#include "tilus.h"

namespace tilus::capi {

inline constexpr absl::string_view kAllPasses = "all";

// What the options of one compile say.
struct CompileSettings {
  std::vector<std::string> targets;  // empty: the lowest that the program allows
  std::string source;
  std::shared_ptr<const std::atomic<bool>> cancelled;  // or NULL
  CallbackPtr<tilus_dump_fn> dump;                     // or NULL
  std::string dump_pass;
  bool contract = false;
  tilus_assembly assembly = TILUS_ASSEMBLY_LAZY;
};

// Text or protobuf, told by content.
absl::StatusOr<std::shared_ptr<const ModuleState>> CompileBytes(
    std::shared_ptr<const ContextState> context, absl::string_view bytes,
    const CompileSettings& settings);
absl::StatusOr<std::shared_ptr<const ModuleState>> CompileProgram(const tilus_program& program,
                                                                  const CompileSettings& settings);

// The passes of a compile, in order; made once.
const std::vector<std::string>& PassNames();

}  // namespace tilus::capi

struct tilus_compile_options {
  tilus::capi::CompileSettings settings;
};

// The whole compiler: programs in, PTX out, in one flat list of steps.
//
//   bytes -> decode -> resolve and verify -> passes -> lower -> machine passes -> PTX
//
// Nothing here knows the C API; tilusc and the tests reach it through tilus.h or directly.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/program.h"
#include "machine/kernel.h"
#include "ptx/target.h"

namespace tilus::compile {

// Wall time of a step, summed over kernels and targets.
struct StageTime {
  const char* name;  // "decode", "verify", "passes", "lower", "ptx"
  double microseconds = 0;
};

struct PipelineOptions {
  ir::Limits limits;
  std::vector<std::string> targets;  // empty: the lowest that all programs allow
  bool contract = false;
  const std::atomic<bool>* cancelled = nullptr;
  // Sees the program, or the thread-level code, as text after each pass. An error from it, or from
  // `progress`, ends the compile with that error.
  std::function<absl::Status(absl::string_view kernel, absl::string_view pass,
                             absl::string_view text)>
      dump;
  // Called before each step: a kernel's passes, or its lowering for one target.
  std::function<absl::Status(const char* stage, size_t done, size_t total)> progress;
};

// All kernels for one target.
struct TargetCode {
  ptx::Target target;
  machine::Module kernels;
  std::string ptx;
};

struct Compilation {
  ir::Module source;     // as verified
  ir::Module optimized;  // after the passes: what the interpreter runs
  std::vector<TargetCode> targets;
  std::vector<StageTime> stages;
};

// Text or protobuf, told by content, resolved and verified.
absl::StatusOr<ir::Module> ReadProgram(absl::string_view bytes, const ir::Limits& limits);

// ReadProgram and CompileModule.
absl::StatusOr<Compilation> CompileBytes(absl::string_view bytes, const PipelineOptions& options);

// A verified module. Errors: of the passes, of lowering (500-599), no such target, a target that a
// program does not allow, kCancelled.
absl::StatusOr<Compilation> CompileModule(ir::Module module, const PipelineOptions& options);

// The names that `dump` sees, in order.
std::vector<std::string> PipelinePasses();

}  // namespace tilus::compile

// Running one kernel on the same inputs by different executors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compile/compile.h"
#include "run_spec.h"

namespace tilus::testing {

// The outcome of a run: every buffer as the kernel left it, and what it printed.
struct Outcome {
  std::vector<std::vector<uint8_t>> buffers;  // by argument; empty for scalars
  std::string printed;
};

// A kernel of a compilation with its arguments.
class KernelRun {
 public:
  KernelRun(const compile::Compilation& compilation, const RunSpec& spec, uint64_t seed);

  // OK when the spec fits the kernel's parameters.
  absl::Status Check() const;
  absl::StatusOr<Outcome> Interpret() const;
  // An unclean report is an error; `target` is an index of compilation.targets.
  absl::StatusOr<Outcome> Simulate(size_t target) const;

  // For executors elsewhere (the GPU): inputs, and the parameter values with a hole where an
  // address belongs.
  Outcome Inputs() const;
  const RunSpec& spec() const { return spec_; }
  const ir::Program& program() const { return *program_; }
  size_t kernel_index() const { return kernel_index_; }
  // The code of scalar argument `i` in its parameter's type.
  uint64_t ScalarCode(size_t i) const;

 private:
  const compile::Compilation& compilation_;
  const RunSpec& spec_;
  uint64_t seed_;
  const ir::Program* program_ = nullptr;
  size_t kernel_index_ = 0;
};

// Compares every buffer of two outcomes under the spec's tolerance.
absl::Status CompareOutcomes(const RunSpec& spec, const Outcome& expected, const Outcome& actual);

}  // namespace tilus::testing

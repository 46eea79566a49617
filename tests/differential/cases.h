// The programs that all executions must agree on: every .tilus file of the tree with run lines,
// and the matmul template over its types.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/program.h"
#include "run_spec.h"

namespace tilus::testing {

struct Case {
  std::string name;  // "examples/matmul_i6.tilus:matmul_i6", "matmul_u4_f16"
  ir::Module module;
  RunSpec spec;
};

// `root` is the folder that holds examples/ and tests/.
absl::StatusOr<std::vector<Case>> ProgramCases(const std::string& root);
// u1 to u8, i2 to i8 and floats of 3 to 8 bits, times f16 and bf16.
absl::StatusOr<std::vector<Case>> MatmulCases();

}  // namespace tilus::testing

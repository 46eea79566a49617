// Runs the assembler of the toolkit, where there is one.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace tilus::ptx {

// The path of ptxas: TILUS_PTXAS, else $TILUS_CUDA_PATH/bin/ptxas, else the one that tests/run.sh
// installs (TILUS_CUDA_DIR or ~/.cache/libtilus/cuda). Empty when there is none.
std::string FindPtxas();

// Empty when ptxas with `options` assembles `text` for `target` without spills; else what it said.
std::string Assemble(const std::string& ptxas, absl::string_view text, absl::string_view target,
                     absl::string_view options = "-O3");

}  // namespace tilus::ptx

// Ends a test that needs ptxas where there is none: skipped, or failed when
// TILUS_REQUIRE_CUDA_TOOLS=1.
#define TILUS_NEED_PTXAS(name)                                                              \
  const std::string name = ::tilus::ptx::FindPtxas();                                       \
  if (name.empty()) {                                                                       \
    const char* required = std::getenv("TILUS_REQUIRE_CUDA_TOOLS");                         \
    ASSERT_FALSE(required != nullptr && absl::string_view(required) == "1") << "no ptxas";  \
    GTEST_SKIP() << "no ptxas: set TILUS_PTXAS, TILUS_CUDA_PATH or TILUS_CUDA_DIR";         \
  }                                                                                         \
  static_assert(true)

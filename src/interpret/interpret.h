// The reference interpreter: what a tile program means.
//
// What enters: a program that went through src/passes (layouts known, memory planned) and host
// memory. What leaves: that memory as the kernel leaves it, and what it printed. Thread blocks run
// one after the other, in order of the grid (x fastest).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/program.h"

namespace tilus::interpret {

// One parameter: the code of a scalar (zero-extended), or the host address of a buffer.
struct Argument {
  uint64_t value = 0;
  int64_t bytes = -1;  // of the buffer, -1 = not known; accesses past it are then not caught
};

struct Options {
  void* workspace = nullptr;     // of EvaluateWorkspace bytes; clean part zeroed by the caller
  std::function<void(absl::string_view)> print;  // one call per printed line, in order
  std::function<bool()> cancelled;               // polled; true ends with kCancelled
  int64_t max_steps = int64_t{1} << 40;          // statements, against endless loops
};

// The grid for these arguments. A zero extent is allowed (nothing runs), a negative one or one
// beyond x 2^31 - 1, y and z 65,535 is an error.
absl::StatusOr<std::array<int64_t, 3>> EvaluateGrid(const ir::Program& program,
                                                    absl::Span<const Argument> arguments);
// Bytes of workspace, and of its part that must be zero before the first launch.
struct Workspace {
  int64_t bytes = 0;
  int64_t clean_bytes = 0;
};
absl::StatusOr<Workspace> EvaluateWorkspace(const ir::Program& program,
                                            absl::Span<const Argument> arguments);

// Runs the whole grid. Errors: 800-849 (access outside a buffer whose size is known, with the
// instruction's path, the tile and the element; too many steps), kCancelled.
absl::Status Run(const ir::Program& program, absl::Span<const Argument> arguments,
                 const Options& options);

}  // namespace tilus::interpret

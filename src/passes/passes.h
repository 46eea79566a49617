// The passes over a tile program, in the order in which they run.
//
// What enters: a program that the verifier passed. What leaves: one in which every register tensor
// has a layout, every shared tensor a layout and an address, every workspace an offset, and nothing
// that has no effect. Each pass is one file; the program prints, parses and verifies after any.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ir/program.h"

namespace tilus::passes {

// Gives every register tensor a layout. What the program spells is never changed.
absl::Status InferLayouts(ir::Program* program, const ir::Limits& limits);
// Gives every shared tensor its layout (row-major with the conflict-free swizzle unless spelled)
// and a place in shared memory, and every workspace tensor a place in the workspace.
absl::Status PlanMemory(ir::Program* program, const ir::Limits& limits);
// Drops instructions whose results nobody reads, and branches and loops that never run.
absl::Status EliminateDeadCode(ir::Program* program, const ir::Limits& limits);

struct Pass {
  const char* name;  // "infer-layouts"
  absl::Status (*run)(ir::Program* program, const ir::Limits& limits);
};
absl::Span<const Pass> AllPasses();

// Called after each pass; the text it sees parses back to the same program.
using PassObserver = absl::FunctionRef<absl::Status(const Pass& pass, const ir::Program& program)>;

// Runs all passes, each followed by the verifier and then by `observer`.
absl::Status RunPasses(ir::Program* program, const ir::Limits& limits, PassObserver observer);

}  // namespace tilus::passes

// The verifier: every rule that a program must keep, checked on entry and between passes.
//
// All errors of a program are reported, each with a stable id, the path of its statement, the
// statement as excerpt, the tensors and layouts involved, and a hint. What passes here is safe to
// interpret and to lower: later parts may rely on it without asking again.
#pragma once

#include "absl/status/status.h"
#include "base/diagnostic.h"
#include "ir/program.h"

namespace tilus::ir {

struct VerifyOptions {
  Limits limits;
  // Whether every register tensor must have a layout: false on entry, true after layout inference.
  bool layouts_required = false;
};

// @pre ResolveTypes ran (tensors that it could not resolve are skipped: it reported them).
absl::Status Verify(const Program& program, const VerifyOptions& options);
void Verify(const Program& program, const VerifyOptions& options, DiagnosticList* diagnostics);

// ResolveTypes, then Verify, with the errors of both. What every way into the library calls.
absl::Status ResolveAndVerify(Program* program, const VerifyOptions& options);

// ResolveAndVerify of every program, and that their names differ.
absl::Status ResolveAndVerify(Module* module, const VerifyOptions& options);

}  // namespace tilus::ir

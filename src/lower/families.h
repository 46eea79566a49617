// The lowering of each instruction; lower.cc has the table that finds them.
#pragma once

#include "absl/status/status.h"
#include "lower/context.h"

namespace tilus::lower {

// index.cc: block indices, views and workspaces.
absl::Status LowerBlockIndices(Context& ctx, const ir::Instruction& instruction);
absl::Status LowerGlobalView(Context& ctx, const ir::Instruction& instruction);
absl::Status LowerAllocGlobal(Context& ctx, const ir::Instruction& instruction);

// elementwise.cc, register.cc, cast.cc, view.cc
absl::Status LowerElementwise(Context& ctx, const ir::Instruction& instruction);
absl::Status LowerRegister(Context& ctx, const ir::Instruction& instruction);
absl::Status LowerCast(Context& ctx, const ir::Instruction& instruction);
absl::Status LowerView(Context& ctx, const ir::Instruction& instruction);

// memory_global.cc, memory_shared.cc, copy_async.cc
absl::Status LowerLoadGlobal(Context& ctx, const ir::Instruction& instruction);
absl::Status LowerStoreGlobal(Context& ctx, const ir::Instruction& instruction);
absl::Status LowerLoadShared(Context& ctx, const ir::Instruction& instruction);
absl::Status LowerStoreShared(Context& ctx, const ir::Instruction& instruction);
absl::Status LowerCopyAsync(Context& ctx, const ir::Instruction& instruction);
absl::Status LowerCommitGroup(Context& ctx, const ir::Instruction& instruction);
absl::Status LowerWaitGroup(Context& ctx, const ir::Instruction& instruction);
absl::Status LowerWaitAll(Context& ctx, const ir::Instruction& instruction);

// dot.cc
absl::Status LowerDot(Context& ctx, const ir::Instruction& instruction);

// control.cc
absl::Status LowerSynchronize(Context& ctx, const ir::Instruction& instruction);
absl::Status LowerExit(Context& ctx, const ir::Instruction& instruction);

// print.cc
absl::Status LowerPrint(Context& ctx, const ir::Instruction& instruction);

// Memory that is planned ahead needs no code.
inline absl::Status LowerNothing(Context&, const ir::Instruction&) { return absl::OkStatus(); }

}  // namespace tilus::lower

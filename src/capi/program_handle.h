// The handle of a program file.
#pragma once

#include <memory>
#include <string>

#include "capi/context.h"
#include "ir/program.h"
#include "tilus.h"

struct tilus_program {
  std::shared_ptr<const tilus::capi::ContextState> context;
  tilus::ir::Module module;  // as read: neither resolved nor verified
  std::string text;          // what it was read from, when that was text: for excerpts of errors
  std::string source;        // what diagnostics call it, or empty
};

namespace tilus::capi {

// The program, resolved and verified; all of its errors.
absl::StatusOr<ir::Module> VerifiedModule(const tilus_program& program);

}  // namespace tilus::capi

// The handle of a register layout.
#pragma once

#include <utility>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "layout/register_layout.h"
#include "tilus.h"

struct tilus_layout {
  tilus::RegisterLayout layout;
};

namespace tilus::capi {

// Gives the caller the layout of a result.
inline absl::Status GiveLayout(absl::StatusOr<RegisterLayout> result, tilus_layout** out) {
  TILUS_RETURN_IF_ERROR(result.status());
  *out = new tilus_layout{*std::move(result)};
  return absl::OkStatus();
}

}  // namespace tilus::capi

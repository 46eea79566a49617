// Programs as JSON: protobuf's own mapping of the message tilus.v1.Module.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tilus::capi {

// The JSON of a serialized tilus.v1.Module, as protobuf's JsonFormat reads it: the names of the
// schema, enums by name, integers as numbers but for u64 codes, which are strings. Indented by two
// spaces, ends with a newline.
// @pre `bytes` are what wire::Encode gives.
absl::StatusOr<std::string> ProgramJson(absl::string_view bytes);

}  // namespace tilus::capi

// Element types across the ABI: a DataType as the number tilus_type, and back.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tilus.h"
#include "types/data_type.h"

namespace tilus::capi {

tilus_type TypeCode(DataType type);
// The type of a number; INVALID_ARGUMENT naming the argument when it is the number of none.
absl::StatusOr<DataType> TypeOf(tilus_type code, absl::string_view name);

}  // namespace tilus::capi

// Which targets there are.
#pragma once

#include <string>

namespace tilus::capi {

// The name of the last target whose code runs on a device of compute capability `sm` (90 for 9.0);
// empty where none does.
std::string BestTarget(int sm);

}  // namespace tilus::capi

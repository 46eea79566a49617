// Which conversions Op::kCvt has.
#pragma once

#include <optional>

#include "machine/op.h"

namespace tilus::machine {

enum class Saturation : uint8_t { kNo, kYes };

// What `cvt{round}{sat}.to.from` needs of the target; nullopt when PTX has no such conversion.
// - Integer to integer: no rounding; saturation where `to` does not hold all of `from`.
// - Integer to float: kRn, kRz, kRm or kRp.  Float to integer: kRni, kRzi, kRmi or kRpi.
// - Float to narrower float: kRn, kRz, kRm or kRp; to wider: none.
// - f32 to tf32: kRna; from sm_90 also kRn and kRz.
// - Float to itself: rounding to an integral value, or saturation to [0, 1] alone.
// bf16 converts from and to 32- and 64-bit integers and floats only, without saturation.
std::optional<Requirement> ConversionRequirement(Type to, Type from, Round round, Saturation sat);

}  // namespace tilus::machine

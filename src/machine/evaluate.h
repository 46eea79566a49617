// The value of a pure opcode on constants, for folding.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "machine/kernel.h"

namespace tilus::machine {

// The bits of the single destination (zero-extended); sources are bits by position. nullopt where
// the answer is not folded: approximations, NaN results (their pattern is the target's), division
// by zero, anything that depends on the thread, and 16-bit and packed floats.
std::optional<uint64_t> Evaluate(Op op, const Modifiers& mods, absl::Span<const uint64_t> srcs);

}  // namespace tilus::machine

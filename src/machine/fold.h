// What a pure instruction with known operands becomes: shared by the builder, which folds as it
// goes, and by FoldConstants, which sees more constants.
#pragma once

#include <array>
#include <cstdint>

#include "absl/types/span.h"
#include "machine/kernel.h"

namespace tilus::machine {

struct Folded {
  enum class Kind : uint8_t {
    kSame,     // nothing to gain
    kValue,    // the answer is `value`: an immediate or one of the sources
    kRewrite,  // the answer is that of `op` on the first `num_srcs` of `srcs`, which is cheaper or
               // more canonical (x - 3 is x + -3); modifiers are empty
  };
  Kind kind = Kind::kSame;
  Operand value;
  Op op{};
  uint8_t num_srcs = 0;
  std::array<Operand, 3> srcs;
};

// `op` is pure with one destination. Sources that are registers are unknown.
Folded Fold(Op op, const Modifiers& mods, absl::Span<const Operand> srcs);

}  // namespace tilus::machine

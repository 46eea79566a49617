// Division: the inverse of composition, and the way the compiler recognises layouts.
//
// An instruction that moves an 8 x 16 byte matrix wants its operand to end in the instruction's
// own layout g: h = f . g. Divide finds f, which says how the instruction is repeated; whether it
// finds one is the whole test for whether the instruction applies.
//
// If h = f . g then g is h restricted to its innermost T_g threads and N_g locals, so at most one
// digit of each list is cut in two, at T_g and at N_g. What lies inside must be g, and what lies
// outside must step by multiples of g's shape; then it is f. Nothing else can be a quotient, so
// the answer is complete: an error means that no register layout f exists.
#pragma once

#include "absl/status/statusor.h"
#include "layout/register_layout.h"

namespace tilus {

// h / g from the right: the layout f, of h's rank, with h = f . g.
// @pre rank(g) <= rank(h) (checked); g gets leading ones
// @post Compose(Divide(h, g), g) == h; an error (kLayoutIndivisible) when no f exists
// @post Divide(Compose(f, g), g) == f
absl::StatusOr<RegisterLayout> Divide(const RegisterLayout& h, const RegisterLayout& g);

// The layout g, of h's rank, with h = f . g.
// @post Compose(f, LeftDivide(h, f)) == h; an error (kLayoutIndivisible) when no g exists
// @post LeftDivide(Compose(f, g), f) == g
absl::StatusOr<RegisterLayout> LeftDivide(const RegisterLayout& h, const RegisterLayout& f);

}  // namespace tilus

// Composition: the Kronecker product of two layouts, the algebra's one multiplication.
//
//     h = f . g        h(t, i) = f(t / T_g, i / N_g) * S_g + g(t mod T_g, i mod N_g)
//
// Every element of f's tile becomes a whole tile of g, held by a group of T_g threads. Read an
// expression from the right: `local(2,1).spatial(8,4).local(1,2)` gives each thread two elements
// side by side, arranges the threads 8 x 4, and repeats that twice downwards.
//
// In digits the product is concatenation: f's digits, their strides scaled by g's shape, come
// before g's in both lists. Hence it is associative and closed, and not commutative.
#pragma once

#include "absl/status/statusor.h"
#include "layout/register_layout.h"

namespace tilus {

// @pre any ranks: the shorter shape is filled with leading dimensions of 1. (checked) the product
//      respects the bounds of RegisterLayout.
// @post shape = S_f * S_g, threads = T_f * T_g, locals = N_f * N_g
// @post the equation above for every (t, i); the result is canonical
// @post Compose(Compose(a, b), c) == Compose(a, Compose(b, c))
absl::StatusOr<RegisterLayout> Compose(const RegisterLayout& f, const RegisterLayout& g);

}  // namespace tilus

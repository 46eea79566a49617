// Making tiles larger: over more dimensions, more elements, more threads.
#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "layout/register_layout.h"

namespace tilus {

// The tile over the dimensions of f followed by those of g.
// @post Concat(f, g)(t, i) = (f(t / T_g, i / N_g), g(t mod T_g, i mod N_g))
// @post shape = S_f followed by S_g; threads = T_f * T_g; locals = N_f * N_g
absl::StatusOr<RegisterLayout> Concat(const RegisterLayout& f, const RegisterLayout& g);

// local(n) . f: whole copies of f's tile, side by side, each thread going through them in order.
// @post Compose(Local(n), f)
absl::StatusOr<RegisterLayout> Tile(const RegisterLayout& f, absl::Span<const int64_t> n);

// f . local(n): every element of f becomes a block of n elements of the same thread.
// @post Compose(f, Local(n))
absl::StatusOr<RegisterLayout> Repeat(const RegisterLayout& f, absl::Span<const int64_t> n);

// Dimension `dim` of extent 1 grows to n: each thread holds n copies, adjacent in its locals, so
// that an elementwise operation with a full operand finds its partners in the same thread.
// @pre (checked) dim is a dimension of extent 1
// @post Broadcast(f, d, n)(t, i) = f(t, i / n) with coordinate d set to i mod n
absl::StatusOr<RegisterLayout> Broadcast(const RegisterLayout& f, int dim, int64_t n);

// Replication, outermost, that brings f to `threads` threads.
// @pre (checked) threads is a positive multiple of T_f
// @post Complement(f, T)(t, i) = f(t mod T_f, i)
absl::StatusOr<RegisterLayout> Complement(const RegisterLayout& f, int64_t threads);

}  // namespace tilus

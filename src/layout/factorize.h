// Factorization: writing a layout as a product of primitives.
//
// A product of primitives lays down the digits of a layout from the outside in, taking one or more
// from the front of the thread list or of the local list at a time, and always the outermost
// remaining digit of its dimension. Such an order need not exist: with spatial list (a, b) and
// local list (c, d), if d is outside a in one dimension and b outside c in another, each list waits
// for the other. When it exists, the shortest product is a shortest path over states (thread digits
// taken, local digits taken), at most a few hundred of them. Splitting a canonical mode never helps
// to find one, because whatever comes before its inner part may come before all of it.
#pragma once

#include <optional>
#include <vector>

#include "layout/layout_expression.h"
#include "layout/register_layout.h"

namespace tilus {

// A product of the fewest primitives, or nullopt when there is none. Deterministic: equal layouts
// give equal products.
// @post LayoutExpression{.factors = result}.Evaluate() == layout
std::optional<std::vector<LayoutFactor>> Factorize(const RegisterLayout& layout);

}  // namespace tilus

// Factorization: writing a layout as a product of primitives.
//
// A product of primitives lays down the digits of a layout from the outside in, taking one or more
// from the front of the thread list or of the local list at a time, and always the outermost
// remaining digit of its dimension. Such an order need not exist: in
// `{shape=[2,2,...]}` two lists may cross over two dimensions. When it exists, the shortest product
// is a shortest path over states (thread digits taken, local digits taken), at most a few hundred
// of them. Splitting a canonical mode never helps, because whatever comes before its outer part
// may come before all of it.
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

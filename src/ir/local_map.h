// Which element of an operand belongs to each element of a result, thread by thread.
#pragma once

#include <optional>
#include <vector>

#include "layout/register_layout.h"

namespace tilus::ir {

// For elementwise instructions and casts, which never exchange data between threads: map[i] = j
// such that f_operand(t, j) == project(f_result(t, i)) for every thread t, where project drops the
// result's leading dimensions that the operand lacks and takes coordinate 0 where the operand's
// extent is 1. nullopt when there is no such j for some i: then some thread would need an element
// that it does not hold.
// O(T + N) by additivity: the thread parts must agree after projection, and each projected local
// part of the result must be a local part of the operand.
// @pre operand rank <= result rank; operand extents equal the result's or are 1. (checked: nullopt)
// @post map.size() == result.locals_per_thread()
std::optional<std::vector<int>> LocalMap(const RegisterLayout& result,
                                         const RegisterLayout& operand);

}  // namespace tilus::ir

// What the layout tests share: every small layout, random layouts, functions as tables.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/diagnostic.h"
#include "layout/layout_expression.h"
#include "layout/register_layout.h"

namespace tilus::testing {

using Index = std::vector<int64_t>;
using Table = std::vector<std::vector<Index>>;  // [thread][local]

// The whole function, through Map.
Table TableOf(const RegisterLayout& layout);

// The layout that `text` denotes; fails the test and gives rank 0 when it denotes none.
RegisterLayout L(absl::string_view text);

// Every layout tuple, canonical or not, of every shape of the rank with at most `max_size`
// elements: all ways to factor, all lists in all orders; `replication` > 1 adds one replication
// entry at every place of the thread list.
std::vector<RegisterLayout> AllTuples(int rank, int64_t max_size, int64_t replication = 1);

// The distinct functions among AllTuples, in canonical form.
std::vector<RegisterLayout> AllLayouts(int rank, int64_t max_size, int64_t replication = 1);

// A product of 1 to 4 random primitives with extents up to 4.
RegisterLayout RandomLayout(std::mt19937& random, int rank);

// The ids of the status's diagnostics ("T0220 T0221").
std::string IdsOf(const absl::Status& status);

// Matches a non-OK Status(Or) with that one id whose message contains `text`.
MATCHER_P2(HasError, id, text, "") {
  const absl::Status status = [&] {
    if constexpr (std::is_same_v<std::decay_t<decltype(arg)>, absl::Status>) {
      return arg;
    } else {
      return arg.status();
    }
  }();
  *result_listener << status.ToString() << " [" << IdsOf(status) << "]";
  return !status.ok() && IdsOf(status) == DiagIdText(id) &&
         status.ToString().find(text) != std::string::npos;
}

}  // namespace tilus::testing

namespace tilus {
inline void PrintTo(const RegisterLayout& layout, std::ostream* out) {
  *out << layout.ToString() << " = " << layout.TupleString();
}
}  // namespace tilus

// The text of layouts, read and kept as it was written.
//
//     layout  := product | tuple
//     product := factor ("." factor)*
//     factor  := ("local" | "spatial" | "column_local" | "column_spatial") "(" extents ")"
//              | "replicated" "(" integer ")"
//     tuple   := "{" "shape" "=" list "," "modes" "=" list "," "spatial" "=" list ","
//                    "local" "=" list "}"             the four fields in any order
//     list    := "[" (integer ("," integer)*)? "]"
//     extents := (integer ("," integer)*)?
//
// Spaces are free between tokens. A product is evaluated by Compose: its rank is that of its
// widest factor, shorter factors get leading ones, and `replicated(k)` takes the rank of the
// others; alone it has rank 1.
//
// Many spellings denote one layout, and a program keeps the one its author chose, so an expression
// is a value of its own: Evaluate() gives the layout, ToString() the spelling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "layout/register_layout.h"

namespace tilus {

inline constexpr size_t kMaxLayoutTextBytes = size_t{1} << 16;
inline constexpr size_t kMaxLayoutFactors = 128;

struct LayoutFactor {
  enum Kind { kLocal, kSpatial, kColumnLocal, kColumnSpatial, kReplicated };
  Kind kind = kLocal;
  std::vector<int64_t> extents;  // one extent per dimension; kReplicated: {k}

  bool operator==(const LayoutFactor&) const = default;
};

// "column_spatial"
absl::string_view LayoutFactorName(LayoutFactor::Kind kind);

// Either a product of factors or a tuple.
struct LayoutExpression {
  std::vector<LayoutFactor> factors;
  std::optional<RegisterLayout> tuple;

  // The layout denoted. Errors: those of the primitives and of Compose. The empty product is the
  // layout of rank 0.
  absl::StatusOr<RegisterLayout> Evaluate() const;

  // @post ParseLayoutExpression(ToString()) gives the same factors or the same tuple.
  std::string ToString() const;
};

// Reads all of `text`. Syntax errors carry the column (Diagnostic::span, from 1) and an excerpt;
// extents may be any integers here, Evaluate() judges products, tuples are checked at once.
absl::StatusOr<LayoutExpression> ParseLayoutExpression(absl::string_view text);

// Reads a layout at the start of `text` and stops after it.
// @post on success *consumed is the number of bytes read, without trailing spaces.
absl::StatusOr<LayoutExpression> ParseLayoutPrefix(absl::string_view text, size_t* consumed);

// Reads and evaluates.
absl::StatusOr<RegisterLayout> ParseLayout(absl::string_view text);

}  // namespace tilus

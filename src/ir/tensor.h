// Tensors: the values that instructions work on, in global, shared or register memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/expr.h"
#include "layout/layout_expression.h"
#include "layout/register_layout.h"
#include "layout/shared_layout.h"
#include "types/data_type.h"

namespace tilus::ir {

using TensorId = int32_t;
inline constexpr TensorId kNoTensor = -1;

enum class Scope : uint8_t { kGlobal, kShared, kRegister };

// A register layout as it is written: the name of a `let`, or an expression; and what it means.
struct LayoutSpec {
  std::string alias;            // not empty: the `let` name it was spelled as
  LayoutExpression expression;  // when alias is empty
  RegisterLayout layout;        // the value
};

// A shared layout as it is written. Row-major strides when `strides` is empty.
struct SharedLayoutSpec {
  std::vector<int64_t> strides;    // in elements, one per dimension, or empty
  std::optional<Swizzle> swizzle;  // on element offsets
};

// What the program text (or blob) says of a tensor. The rest of a Tensor is derived from it by
// ResolveTypes() and by layout inference, and is neither printed nor serialized.
struct TensorDecl {
  std::optional<DataType> dtype;
  std::optional<std::vector<ExprPtr>> shape;
  std::optional<LayoutSpec> layout;               // register tensors
  std::optional<SharedLayoutSpec> shared_layout;  // shared tensors
  std::vector<ExprPtr> strides;                   // global tensors, in elements; empty: row-major
  bool clean = false;                             // alloc_global: zeroed before the first launch
};

struct Tensor {
  std::string name;
  Scope scope = Scope::kRegister;
  TensorDecl decl;

  // Derived. `extents` has -1 where a global tensor's extent is not a constant.
  bool resolved = false;  // whether dtype, shape and extents are filled in
  DataType dtype = kU8;
  std::vector<ExprPtr> shape;
  std::vector<int64_t> extents;
  std::optional<RegisterLayout> layout;       // register tensors, once known
  std::optional<SharedLayout> shared_layout;  // shared tensors, once known
  // Once memory is planned: bytes from the start of the block's shared memory (alloc_shared), and
  // from the start of the launch's workspace (alloc_global, an i64 expression of the parameters).
  int64_t shared_address = -1;
  ExprPtr workspace_offset;

  int rank() const { return static_cast<int>(shape.size()); }
};

}  // namespace tilus::ir

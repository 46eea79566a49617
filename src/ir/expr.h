// Scalar expressions: one value for the whole thread block.
//
// An expression is an immutable tree shared by pointer; variables are ids into the Program's
// table, so a Program can be copied like a value. Every node has a type, fixed when it is made:
//   - a literal takes the type of the operand beside it (parser and builder see to that);
//   - integers of one signedness promote to the wider type (MakeOp puts the cast in, so operands
//     of one node always have one type); anything else needs a cast;
//   - comparisons and logical operations give bool.
// Arithmetic is that of types/arithmetic.h: integers wrap, division truncates, x / 0 = 0.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "types/arithmetic.h"
#include "types/data_type.h"

namespace tilus::ir {

using VarId = int32_t;
inline constexpr VarId kNoVar = -1;

enum class ExprOp : uint8_t {
#define TILUS_EXPR_OP(name, spelling, form, precedence, arity, wire) name,
#include "ir/expr_ops.def"
#undef TILUS_EXPR_OP
};

// How an operation is written: a + b, -a, f(a, b).
enum class ExprForm : uint8_t { kInfix, kPrefix, kCall };

struct ExprOpInfo {
  ExprOp op;
  const char* spelling;
  ExprForm form;
  int precedence;  // of infix forms, higher binds tighter
  int arity;
  int wire;  // the frozen number in the serialized form
};
const ExprOpInfo& InfoOf(ExprOp op);
absl::Span<const ExprOpInfo> AllExprOps();

enum class ExprKind : uint8_t {
  kLiteral,  // `code` in the type's own bits
  kVar,      // a parameter, constant, loop variable, block index or scalar
  kIndex,    // #d: the d-th coordinate of the element, only in the initialiser of `register`
  kCast,     // type(arg)
  kOp,
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

struct Expr {
  ExprKind kind = ExprKind::kLiteral;
  DataType type = kI32;
  bool is_pointer = false;  // a kVar that names a pointer parameter; type is then the pointee's
  uint64_t code = 0;        // kLiteral
  VarId var = kNoVar;       // kVar
  int index = 0;            // kIndex
  ExprOp op{};              // kOp
  std::vector<ExprPtr> args;
  int depth = 1;  // height of the tree, against the nesting limit
};

// Makers that do not check: for callers that have checked.
ExprPtr Literal(DataType type, uint64_t code);
ExprPtr IntLiteral(int64_t value, DataType type = kI32);
ExprPtr FloatLiteral(double value, DataType type = kF32);
ExprPtr VarRef(VarId var, DataType type);
ExprPtr PointerRef(VarId var, DataType pointee);
ExprPtr IndexRef(int dim);

// Makers that check the operand types and settle the result's; literals among `args` are retyped.
absl::StatusOr<ExprPtr> MakeOp(ExprOp op, std::vector<ExprPtr> args);
absl::StatusOr<ExprPtr> MakeCast(DataType type, ExprPtr arg);
// `arg` as `type`: a literal is re-encoded when it fits exactly (any float for a float type),
// an expression of that very type is returned as it is; otherwise an error that hints at a cast.
absl::StatusOr<ExprPtr> CoerceTo(DataType type, const ExprPtr& arg);

// Gives all `values` the one type that the operands of `what` take together, as MakeOp does:
// literals are retyped, narrower integers cast.
absl::Status UnifyTypes(absl::string_view what, absl::Span<ExprPtr> values);

bool SameExpr(const Expr& a, const Expr& b);

// The value of an integer or bool literal.
std::optional<int64_t> LiteralInt(const Expr& e);

// The operation of types/arithmetic.h that an expression's operation is, on operands of the
// expression's first argument's type; nullopt for ceil_div and select, which expr_ops.def defines.
std::optional<ScalarOp> ScalarOpOf(ExprOp op);

}  // namespace tilus::ir

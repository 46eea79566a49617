// Scalar expressions: types of operations, literals, conversions.
#include "ir/expr.h"

#include <gtest/gtest.h>

#include <set>

#include "base/diagnostic.h"
#include "types/codec.h"

namespace tilus::ir {
namespace {

DiagId ErrorOf(const absl::Status& status) {
  const std::vector<Diagnostic> errors = DiagnosticsOf(status);
  return errors.empty() ? DiagId{} : errors[0].id;
}

TEST(Expr, TableRowsAreInOrderAndWireNumbersDiffer) {
  std::set<int> wires;
  for (const ExprOpInfo& info : AllExprOps()) {
    EXPECT_EQ(&InfoOf(info.op), &info);
    EXPECT_TRUE(wires.insert(info.wire).second) << info.spelling;
    EXPECT_GE(info.arity, 1);
  }
}

// Of all pairs of types exactly equal ones, and integers of one signedness, go together; the
// operands of the node then have the wider type.
TEST(Expr, OperandsTakeOneType) {
  for (const DataType a : AllDataTypes()) {
    for (const DataType b : AllDataTypes()) {
      const absl::StatusOr<ExprPtr> sum = MakeOp(ExprOp::kMax, {VarRef(0, a), VarRef(1, b)});
      const bool promotes = a.is_integer() && b.is_integer() && a.is_signed() == b.is_signed();
      ASSERT_EQ(sum.ok(), a == b || promotes) << a.name() << " " << b.name();
      if (!sum.ok()) {
        EXPECT_EQ(ErrorOf(sum.status()), DiagId::kScalarTypes);
        continue;
      }
      const DataType wide = a.bits() >= b.bits() ? a : b;
      EXPECT_EQ((*sum)->type, wide);
      for (const ExprPtr& arg : (*sum)->args) EXPECT_EQ(arg->type, wide);
    }
  }
}

TEST(Expr, ComparisonsAndLogicGiveBool) {
  const ExprPtr n = VarRef(0, kI64);
  const absl::StatusOr<ExprPtr> less = MakeOp(ExprOp::kLt, {n, IntLiteral(3)});
  ASSERT_TRUE(less.ok());
  EXPECT_EQ((*less)->type, kBool);
  EXPECT_EQ((*less)->args[1]->type, kI64);
  EXPECT_TRUE(MakeOp(ExprOp::kAnd, {*less, *less}).ok());
  EXPECT_EQ(ErrorOf(MakeOp(ExprOp::kAnd, {n, n}).status()), DiagId::kScalarOperation);
  EXPECT_EQ(ErrorOf(MakeOp(ExprOp::kNot, {n}).status()), DiagId::kScalarOperation);
  EXPECT_EQ(ErrorOf(MakeOp(ExprOp::kAdd, {n}).status()), DiagId::kScalarOperation);
  EXPECT_EQ(ErrorOf(MakeOp(ExprOp::kSelect, {n, n, n}).status()), DiagId::kScalarTypes);
  EXPECT_EQ(ErrorOf(MakeOp(ExprOp::kAdd, {PointerRef(0, kI64), n}).status()),
            DiagId::kPointerValue);
}

// A literal is retyped exactly when its value survives, a float always in a float type.
TEST(Expr, LiteralsAreCoercedWhenTheyFit) {
  for (const DataType type : AllDataTypes()) {
    if (!type.is_integer()) continue;
    for (int64_t value : {-40000, -129, -128, -9, -1, 0, 1, 7, 8, 255, 256, 65535, 65536}) {
      const absl::StatusOr<ExprPtr> typed = CoerceTo(type, IntLiteral(value));
      const int64_t wrapped = DecodeToInt64(type, EncodeFromInt64(type, value));
      const bool fits = wrapped == value && (type.is_signed() || value >= 0);
      ASSERT_EQ(typed.ok(), fits) << type.name() << " " << value;
      if (typed.ok()) {
        EXPECT_EQ(LiteralInt(**typed), value);
      } else {
        EXPECT_EQ(ErrorOf(typed.status()), DiagId::kLiteralRange);
      }
    }
    EXPECT_EQ(ErrorOf(CoerceTo(type, FloatLiteral(1.0)).status()), DiagId::kScalarTypes);
  }
  EXPECT_EQ(ErrorOf(CoerceTo(kI64, Literal(kU64, ~uint64_t{0})).status()), DiagId::kLiteralRange);
  EXPECT_EQ(ErrorOf(CoerceTo(kU64, IntLiteral(-1)).status()), DiagId::kLiteralRange);
  EXPECT_TRUE(CoerceTo(kF16, FloatLiteral(0.1, kF64)).ok());
  EXPECT_EQ((*CoerceTo(kF16, FloatLiteral(0.1, kF64)))->code, EncodeFromDouble(kF16, 0.1));
  EXPECT_TRUE(CoerceTo(kF16, IntLiteral(2048)).ok());
  EXPECT_EQ(ErrorOf(CoerceTo(kF16, IntLiteral(2049)).status()), DiagId::kLiteralRange);
  EXPECT_EQ(ErrorOf(CoerceTo(kF32, VarRef(0, kF16)).status()), DiagId::kScalarTypes);
}

TEST(Expr, CastsOfLiteralsAreLiterals) {
  const absl::StatusOr<ExprPtr> cast = MakeCast(kU8, IntLiteral(300));
  ASSERT_TRUE(cast.ok());
  EXPECT_EQ(LiteralInt(**cast), 44);
  EXPECT_EQ((*MakeCast(kF16, VarRef(0, kF32)))->kind, ExprKind::kCast);
  const ExprPtr same = VarRef(0, kF32);
  EXPECT_EQ(*MakeCast(kF32, same), same);
  EXPECT_FALSE(MakeCast(kI64, PointerRef(0, kF32)).ok());
}

TEST(Expr, DepthIsTheHeight) {
  ExprPtr e = VarRef(0, kI32);
  for (int i = 2; i < 20; ++i) {
    e = *MakeOp(ExprOp::kAdd, {IntLiteral(1), e});
    EXPECT_EQ(e->depth, i);
  }
}

TEST(Expr, SameExprComparesStructure) {
  const ExprPtr a = *MakeOp(ExprOp::kAdd, {VarRef(0, kI32), IntLiteral(1)});
  const ExprPtr b = *MakeOp(ExprOp::kAdd, {VarRef(0, kI32), IntLiteral(1)});
  const ExprPtr c = *MakeOp(ExprOp::kSub, {VarRef(0, kI32), IntLiteral(1)});
  const ExprPtr d = *MakeOp(ExprOp::kAdd, {VarRef(1, kI32), IntLiteral(1)});
  EXPECT_TRUE(SameExpr(*a, *b));
  EXPECT_FALSE(SameExpr(*a, *c));
  EXPECT_FALSE(SameExpr(*a, *d));
}

}  // namespace
}  // namespace tilus::ir

#include "ir/result_type.h"

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "base/status_macros.h"
#include "ir/text.h"

namespace tilus::ir {
namespace {

ExprPtr ExtentLiteral(int64_t extent) {
  return IntLiteral(extent, extent <= INT32_MAX ? kI32 : kI64);
}

std::vector<ExprPtr> ShapeOf(const RegisterLayout& layout) {
  std::vector<ExprPtr> shape;
  for (int64_t extent : layout.shape()) shape.push_back(ExtentLiteral(extent));
  return shape;
}

std::string Quoted(const Program& program, const Tensor& tensor) {
  return absl::StrCat("'", tensor.name, "' (", PrintTensorType(program, tensor), ")");
}

bool IsSmallInteger(DataType type) { return type.is_integer() && type.bits() <= 8; }

// Which sums a dot of operands of type `a` may have.
bool IsDotSum(DataType a, DataType c) {
  if (a.is_integer()) return c.is_integer() && c.bits() >= 32 && c.bits() >= a.bits();
  if (a.kind() != TypeKind::kFloat || c.kind() != TypeKind::kFloat) return false;
  if (c == kF64) return a == kF64 || a == kF32;
  if (c == kF32) return a != kF64;
  return c == kF16 && (a == kF16 || a.bits() <= 8);
}

}  // namespace

std::vector<int64_t> ResultTypes::Extents(const std::vector<ExprPtr>& shape) const {
  std::vector<int64_t> extents;
  for (const ExprPtr& extent : shape) extents.push_back(constants_.Int(*extent).value_or(-1));
  return extents;
}

absl::Status ResultTypes::CheckShape(Scope scope, absl::string_view name,
                                     const std::vector<ExprPtr>& shape) const {
  if (shape.empty()) {
    return MakeError(DiagId::kShapeExtent, absl::StrCat("'", name, "' has no dimension"),
                     "a tensor has at least one, as in f16[1]");
  }
  if (static_cast<int>(shape.size()) > limits_.max_rank) {
    return MakeError(DiagId::kLimitRank, absl::StrCat("'", name, "' has ", shape.size(),
                                                      " dimensions, more than ", limits_.max_rank));
  }
  std::vector<int64_t> known;
  for (const ExprPtr& extent : shape) {
    if (!extent->type.is_integer() || extent->is_pointer) {
      return MakeError(
          DiagId::kScalarTypes,
          absl::StrCat("the extents of '", name, "' must be integers, and ",
                       PrintExpr(program_, *extent), " is of type ", extent->type.name()));
    }
    const std::optional<int64_t> value = constants_.Int(*extent);
    if (!value && scope == Scope::kGlobal) continue;
    if (!value) {
      return MakeError(DiagId::kShapeNotConstant,
                       absl::StrCat("the extent ", PrintExpr(program_, *extent), " of '", name,
                                    "' is not a constant"),
                       "register and shared tensors have constant shapes: use literals and const");
    }
    if (*value <= 0) {
      return MakeError(
          DiagId::kShapeExtent,
          absl::StrCat("the extent ", PrintExpr(program_, *extent), " of '", name, "' is ", *value),
          "every extent is at least 1");
    }
    known.push_back(*value);
  }
  const std::optional<int64_t> elements = CheckedProduct(known);
  if (elements && *elements <= limits_.max_elements) return absl::OkStatus();
  return MakeError(
      DiagId::kLimitElements,
      absl::StrCat("'", name, "' has ", elements ? absl::StrCat(*elements) : "more than 2^63",
                   " elements, more than ", limits_.max_elements));
}

absl::StatusOr<ResultType> ResultTypes::Of(const Instruction& in) const {
  if ((InfoOf(in.opcode).traits & kElementwise) != 0) return OfElementwise(in);
  switch (in.opcode) {
    case Opcode::kRegister:
      return OfRegister(in);
    case Opcode::kLoadGlobal:
    case Opcode::kLoadShared:
      return OfLoad(in);
    case Opcode::kCast:
      return OfCast(in);
    case Opcode::kView:
      return OfView(in);
    case Opcode::kDot:
      return OfDot(in);
    default:
      return OfMemory(in);
  }
}

std::optional<std::vector<ExprPtr>> ResultTypes::DeclaredShape(const Instruction& in) const {
  const Tensor& result = At(in.result);
  if (in.in_place) return result.shape;
  if (result.decl.shape) return result.decl.shape;
  if (result.decl.layout) return ShapeOf(result.decl.layout->layout);
  return std::nullopt;
}

std::optional<DataType> ResultTypes::DeclaredType(const Instruction& in) const {
  const Tensor& result = At(in.result);
  return in.in_place ? result.dtype : result.decl.dtype;
}

absl::Status ResultTypes::Undetermined(const Instruction& in, absl::string_view what) const {
  return MakeError(DiagId::kTypeUndetermined,
                   absl::StrCat("the ", what, " of '", At(in.result).name, "' is not given"),
                   "write it after a colon, as in : f16[16, 8]");
}

absl::Status ResultTypes::MatchDeclared(const Instruction& in, const ResultType& found) const {
  const Tensor& result = At(in.result);
  const std::optional<DataType> dtype = DeclaredType(in);
  const std::optional<std::vector<ExprPtr>> shape = in.in_place ? result.shape : result.decl.shape;
  const bool same_type = !dtype || *dtype == found.dtype;
  const bool same_shape = !shape || Extents(*shape) == Extents(found.shape);
  if (same_type && same_shape) return absl::OkStatus();
  Tensor actual;
  actual.dtype = found.dtype;
  actual.shape = found.shape;
  if (in.in_place) {
    return MakeError(DiagId::kInPlaceType,
                     absl::StrCat("'", result.name, "' is ", PrintTensorType(program_, result),
                                  " and is overwritten with ", PrintTensorType(program_, actual)),
                     "give the result a name of its own, or cast");
  }
  Tensor declared = actual;
  if (dtype) declared.dtype = *dtype;
  if (shape) declared.shape = *shape;
  return MakeError(
      DiagId::kDeclaredType,
      absl::StrCat("'", result.name, "' is declared as ", PrintTensorType(program_, declared),
                   ", and '", InfoOf(in.opcode).name, "' gives ",
                   PrintTensorType(program_, actual)),
      same_type ? "leave the shape away, or change the operands"
                : "leave the type away, and cast the result");
}

// global_view, alloc_global, alloc_shared
absl::StatusOr<ResultType> ResultTypes::OfMemory(const Instruction& in) const {
  const TensorDecl& decl = At(in.result).decl;
  std::optional<DataType> dtype = decl.dtype;
  if (!dtype && in.opcode == Opcode::kGlobalView) dtype = ScalarOf(in.operands[0])->type;
  if (!dtype) return Undetermined(in, "element type");
  if (!decl.shape) return Undetermined(in, "shape");
  return ResultType{*dtype, *decl.shape};
}

absl::StatusOr<ResultType> ResultTypes::OfRegister(const Instruction& in) const {
  std::optional<DataType> dtype = DeclaredType(in);
  if (!dtype && !in.operands.empty()) dtype = ScalarOf(in.operands[0])->type;
  if (!dtype) return Undetermined(in, "element type");
  if (!in.operands.empty()) {
    TILUS_RETURN_IF_ERROR(CoerceTo(*dtype, ScalarOf(in.operands[0])).status());
  }
  std::optional<std::vector<ExprPtr>> shape = DeclaredShape(in);
  if (!shape) return Undetermined(in, "shape");
  return ResultType{*dtype, *std::move(shape)};
}

absl::StatusOr<ResultType> ResultTypes::OfLoad(const Instruction& in) const {
  const Tensor& memory = OperandAt(in, 0);
  ResultType found{memory.dtype, {}};
  if (std::optional<std::vector<ExprPtr>> shape = DeclaredShape(in)) {
    found.shape = *std::move(shape);
  } else {
    found.shape = memory.shape;
    for (int64_t extent : memory.extents) {
      if (extent < 0) return Undetermined(in, "shape");
    }
  }
  const std::optional<DataType> declared = DeclaredType(in);
  if (declared && *declared != found.dtype) {
    return MakeError(
        in.in_place ? DiagId::kInPlaceType : DiagId::kDeclaredType,
        absl::StrCat("'", At(in.result).name, "' is of type ", declared->name(), ", and ",
                     Quoted(program_, memory), " has elements of type ", memory.dtype.name()),
        absl::StrCat("load as ", memory.dtype.name(), ", then cast or view"));
  }
  return found;
}

// The one type of the operands that are computed with (not the condition of where).
absl::StatusOr<DataType> ResultTypes::ElementType(const Instruction& in) const {
  const size_t first = in.opcode == Opcode::kWhere ? 1 : 0;
  const Tensor* typed = nullptr;
  for (size_t i = first; i < in.operands.size(); ++i) {
    const TensorId id = TensorOf(in.operands[i]);
    if (id == kNoTensor) continue;
    if (typed != nullptr && typed->dtype != At(id).dtype) {
      return MakeError(DiagId::kTensorTypes,
                       absl::StrCat("the operands of '", InfoOf(in.opcode).name,
                                    "' have different types: ", Quoted(program_, *typed), " and ",
                                    Quoted(program_, At(id))),
                       "cast one of them");
    }
    typed = &At(id);
  }
  if (typed != nullptr) return typed->dtype;
  if (in.opcode != Opcode::kWhere) {
    return MakeError(
        DiagId::kOperandKind,
        absl::StrCat("'", InfoOf(in.opcode).name, "' takes at least one register tensor"),
        "compute scalars in expressions, with let");
  }
  // Two scalars to choose from: the declared type, else theirs, with float literals as f32.
  if (const std::optional<DataType> declared = DeclaredType(in)) return *declared;
  ExprPtr values[2];
  for (int i = 0; i < 2; ++i) {
    values[i] = ScalarOf(in.operands[static_cast<size_t>(i) + 1]);
    if (values[i]->kind == ExprKind::kLiteral && values[i]->type == kF64) {
      TILUS_ASSIGN_OR_RETURN(values[i], CoerceTo(kF32, values[i]));
    }
  }
  TILUS_RETURN_IF_ERROR(UnifyTypes("where", absl::MakeSpan(values)));
  return values[0]->type;
}

absl::StatusOr<std::optional<DataType>> ResultTypes::ScalarType(const Instruction& in) const {
  if ((InfoOf(in.opcode).traits & kElementwise) != 0) return ElementType(in);
  if (in.opcode == Opcode::kRegister) return DeclaredType(in);
  return std::nullopt;
}

absl::StatusOr<std::vector<ExprPtr>> ResultTypes::BroadcastShape(const Instruction& in) const {
  std::vector<ExprPtr> shape;
  std::vector<int64_t> extents;
  const Tensor* widest = nullptr;
  for (const Operand& operand : in.operands) {
    const TensorId id = TensorOf(operand);
    if (id == kNoTensor) continue;
    const Tensor& tensor = At(id);
    if (widest == nullptr || tensor.rank() > widest->rank()) widest = &tensor;
  }
  if (widest == nullptr) return shape;
  shape = widest->shape;
  extents = widest->extents;
  for (const Operand& operand : in.operands) {
    const TensorId id = TensorOf(operand);
    if (id == kNoTensor) continue;
    const Tensor& tensor = At(id);
    const size_t lead = shape.size() - tensor.shape.size();
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      int64_t& extent = extents[lead + d];
      if (tensor.extents[d] == extent || tensor.extents[d] == 1) continue;
      if (extent != 1) {
        return MakeError(DiagId::kTensorShapes,
                         absl::StrCat("the shapes of ", Quoted(program_, *widest), " and ",
                                      Quoted(program_, tensor), " do not fit together"),
                         "extents are equal, or one of them is 1");
      }
      extent = tensor.extents[d];
      shape[lead + d] = tensor.shape[d];
    }
  }
  return shape;
}

absl::StatusOr<ResultType> ResultTypes::OfElementwise(const Instruction& in) const {
  const InstructionInfo& info = InfoOf(in.opcode);
  TILUS_ASSIGN_OR_RETURN(const DataType type, ElementType(in));
  ResultType found;
  found.dtype = type;
  if (in.opcode == Opcode::kWhere) {
    const Tensor& condition = OperandAt(in, 0);
    if (!condition.dtype.is_bool()) {
      return MakeError(DiagId::kTensorTypes,
                       absl::StrCat("the condition of 'where' is a bool tensor, and ",
                                    Quoted(program_, condition), " is not"),
                       "compare first: eq, ne, lt, le, gt, ge");
    }
  } else {
    const ScalarOp op = *ScalarOpOf(in.opcode);
    if (!IsScalarOpAllowed(op, type)) {
      return MakeError(DiagId::kTensorOperation,
                       absl::StrCat("'", info.name, "' is not defined on ", type.name()),
                       "cast the operands to a type on which it is");
    }
    found.dtype = ScalarOpResultType(op, type);
  }
  for (const Operand& operand : in.operands) {
    const ExprPtr& scalar = ScalarOf(operand);
    if (scalar != nullptr) TILUS_RETURN_IF_ERROR(CoerceTo(type, scalar).status());
  }
  TILUS_ASSIGN_OR_RETURN(found.shape, BroadcastShape(in));
  TILUS_RETURN_IF_ERROR(MatchDeclared(in, found));
  return found;
}

absl::StatusOr<ResultType> ResultTypes::OfCast(const Instruction& in) const {
  const std::optional<DataType> dtype = DeclaredType(in);
  if (!dtype) return Undetermined(in, "element type");
  ResultType found{*dtype, OperandAt(in, 0).shape};
  TILUS_RETURN_IF_ERROR(MatchDeclared(in, found));
  return found;
}

absl::StatusOr<ResultType> ResultTypes::OfView(const Instruction& in) const {
  const Tensor& source = OperandAt(in, 0);
  ResultType found{DeclaredType(in).value_or(source.dtype), {}};
  if (std::optional<std::vector<ExprPtr>> shape = DeclaredShape(in)) {
    found.shape = *std::move(shape);
  } else if (found.dtype.bits() == source.dtype.bits() && !in.bits) {
    found.shape = source.shape;
  } else {
    return Undetermined(in, "shape");
  }
  return found;
}

absl::StatusOr<ResultType> ResultTypes::OfDot(const Instruction& in) const {
  const Tensor& a = OperandAt(in, 0);
  const Tensor& b = OperandAt(in, 1);
  const Tensor& c = OperandAt(in, 2);
  const bool ranks = a.rank() == 2 && b.rank() == 2 && c.rank() == 2;
  if (!ranks || a.extents[1] != b.extents[0] || c.extents[0] != a.extents[0] ||
      c.extents[1] != b.extents[1]) {
    return MakeError(
        DiagId::kDotShape,
        absl::StrCat("'dot' takes a[M, K], b[K, N] and c[M, N], not ", Quoted(program_, a), ", ",
                     Quoted(program_, b), " and ", Quoted(program_, c)));
  }
  const bool same = a.dtype == b.dtype || (IsSmallInteger(a.dtype) && IsSmallInteger(b.dtype));
  if (!same || !IsDotSum(a.dtype, c.dtype)) {
    return MakeError(DiagId::kDotTypes,
                     absl::StrCat("'dot' cannot multiply ", a.dtype.name(), " and ", b.dtype.name(),
                                  " into ", c.dtype.name()),
                     "cast the operands to one type; sums are f32 (f16 and small floats also f16, "
                     "f64), or integers of at least 32 bits");
  }
  ResultType found{c.dtype, c.shape};
  TILUS_RETURN_IF_ERROR(MatchDeclared(in, found));
  return found;
}

}  // namespace tilus::ir

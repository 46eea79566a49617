// The type that an instruction gives its result, from its operands and the result's declaration.
//
// ResolveTypes fills tensors with it, the verifier compares tensors with it: one set of rules.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/analysis.h"
#include "ir/program.h"

namespace tilus::ir {

struct ResultType {
  DataType dtype;
  std::vector<ExprPtr> shape;
};

class ResultTypes {
 public:
  ResultTypes(const Program& program, const Constants& constants, const Limits& limits)
      : program_(program), constants_(constants), limits_(limits) {}

  // @pre CheckStructure(instruction) is OK, its tensor operands are resolved, and it has a tensor
  //      as result (for an in-place one: resolved).
  absl::StatusOr<ResultType> Of(const Instruction& in) const;

  // What literals among the scalar operands are retyped to; nullopt where they keep their types.
  // @pre as Of
  absl::StatusOr<std::optional<DataType>> ScalarType(const Instruction& in) const;

  // Rank, extents and size of a tensor's shape: all positive, within the limits, and constant
  // unless it is global. Extents of global shapes that are not constant are left to the launch.
  absl::Status CheckShape(Scope scope, absl::string_view name,
                          const std::vector<ExprPtr>& shape) const;
  std::vector<int64_t> Extents(const std::vector<ExprPtr>& shape) const;

 private:
  const Tensor& At(TensorId id) const { return program_.tensors[static_cast<size_t>(id)]; }
  const Tensor& OperandAt(const Instruction& in, size_t i) const {
    return At(TensorOf(in.operands[i]));
  }

  absl::StatusOr<ResultType> OfMemory(const Instruction& in) const;
  absl::StatusOr<ResultType> OfRegister(const Instruction& in) const;
  absl::StatusOr<ResultType> OfLoad(const Instruction& in) const;
  absl::StatusOr<ResultType> OfElementwise(const Instruction& in) const;
  absl::StatusOr<ResultType> OfCast(const Instruction& in) const;
  absl::StatusOr<ResultType> OfView(const Instruction& in) const;
  absl::StatusOr<ResultType> OfDot(const Instruction& in) const;

  absl::StatusOr<DataType> ElementType(const Instruction& in) const;
  absl::StatusOr<std::vector<ExprPtr>> BroadcastShape(const Instruction& in) const;
  // The shape given by the declaration, or by its layout, or (in place) by the tensor.
  std::optional<std::vector<ExprPtr>> DeclaredShape(const Instruction& in) const;
  std::optional<DataType> DeclaredType(const Instruction& in) const;
  // That what is declared is what was found.
  absl::Status MatchDeclared(const Instruction& in, const ResultType& found) const;
  absl::Status Undetermined(const Instruction& in, absl::string_view what) const;

  const Program& program_;
  const Constants& constants_;
  const Limits& limits_;
};

}  // namespace tilus::ir

#include "ir/resolve.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "ir/analysis.h"
#include "ir/report.h"
#include "ir/result_type.h"
#include "ir/structure.h"
#include "ir/walk.h"

namespace tilus::ir {
namespace {

class Resolver {
 public:
  Resolver(Program* program, const Limits& limits, DiagnosticList* diagnostics)
      : program_(*program),
        constants_(*program),
        types_(*program, constants_, limits),
        reporter_(*program, diagnostics) {}

  void Run() {
    WalkStatements(&program_, [this](Stmt& stmt, const StmtPath& path) {
      Instruction* in = std::get_if<Instruction>(&stmt.node);
      if (in == nullptr || in->result == kNoTensor || !IsReady(*in)) return;
      reporter_.Enter(&stmt, &path);
      reporter_.Report(Resolve(in));
    });
  }

 private:
  Tensor& At(TensorId id) { return program_.tensors[static_cast<size_t>(id)]; }

  // Whether the rules can look at it. What is wrong otherwise is reported elsewhere: the verifier
  // checks the structure, and an operand without a type had its own report.
  bool IsReady(const Instruction& in) {
    for (const Operand& operand : in.operands) {
      const TensorId id = TensorOf(operand);
      if (id != kNoTensor && !At(id).resolved) return false;
    }
    return (!in.in_place || At(in.result).resolved) && CheckStructure(program_, in).ok();
  }

  absl::Status Resolve(Instruction* in) {
    if (in->in_place) {
      RetypeLiterals(in);
      return absl::OkStatus();  // the verifier compares
    }
    absl::StatusOr<ResultType> type = types_.Of(*in);
    if (!type.ok()) return type.status();
    Tensor& tensor = At(in->result);
    if (absl::Status shape = types_.CheckShape(tensor.scope, tensor.name, type->shape);
        !shape.ok()) {
      return shape;
    }
    RetypeLiterals(in);
    tensor.dtype = type->dtype;
    tensor.extents = types_.Extents(type->shape);
    tensor.shape = std::move(type->shape);
    tensor.resolved = true;
    return SpellLayout(&tensor);
  }

  void RetypeLiterals(Instruction* in) {
    const absl::StatusOr<std::optional<DataType>> type = types_.ScalarType(*in);
    if (!type.ok() || !*type) return;
    for (Operand& operand : in->operands) {
      const ExprPtr& scalar = ScalarOf(operand);
      if (scalar == nullptr) continue;
      if (absl::StatusOr<ExprPtr> typed = CoerceTo(**type, scalar); typed.ok()) {
        operand = *std::move(typed);
      }
    }
  }

  absl::Status SpellLayout(Tensor* tensor) {
    if (tensor->decl.layout) tensor->layout = tensor->decl.layout->layout;
    const std::optional<SharedLayoutSpec>& spec = tensor->decl.shared_layout;
    // Strides that are not given are row-major, and the swizzle is the planner's choice unless one
    // is spelled.
    if (!spec) return absl::OkStatus();
    absl::StatusOr<SharedLayout> layout =
        spec->strides.empty()
            ? SharedLayout::RowMajor(tensor->extents, spec->swizzle)
            : SharedLayout::Strided(tensor->extents, spec->strides, spec->swizzle);
    if (!layout.ok()) return layout.status();
    tensor->shared_layout = *std::move(layout);
    return absl::OkStatus();
  }

  Program& program_;
  const Constants constants_;
  const ResultTypes types_;
  Reporter reporter_;
};

}  // namespace

void ResolveTypes(Program* program, const Limits& limits, DiagnosticList* diagnostics) {
  ResolveLayouts(program, diagnostics);
  Resolver(program, limits, diagnostics).Run();
}

void ResolveLayouts(Program* program, DiagnosticList* diagnostics) {
  Reporter reporter(*program, diagnostics);
  absl::flat_hash_map<absl::string_view, const RegisterLayout*> aliases;
  for (LayoutAlias& alias : program->layouts) {
    if (absl::StatusOr<RegisterLayout> value = alias.expression.Evaluate(); value.ok()) {
      alias.layout = *std::move(value);
    } else {
      reporter.Report(value.status());
    }
    aliases[alias.name] = &alias.layout;
  }
  for (Tensor& tensor : program->tensors) {
    if (!tensor.decl.layout) continue;
    LayoutSpec& spec = *tensor.decl.layout;
    if (!spec.alias.empty()) {
      const auto found = aliases.find(spec.alias);
      if (found != aliases.end()) {
        spec.layout = *found->second;
      } else {
        reporter.Report(DiagId::kUnknownLayout,
                        absl::StrCat("there is no layout '", spec.alias, "', which '", tensor.name,
                                     "' is declared with"),
                        "name layouts at the head of the program: let name = ...");
      }
    } else if (absl::StatusOr<RegisterLayout> value = spec.expression.Evaluate(); value.ok()) {
      spec.layout = *std::move(value);
    } else {
      reporter.Report(value.status());
    }
  }
}

std::vector<int64_t> ConstantExtents(const Program& program, const std::vector<ExprPtr>& shape) {
  const Constants constants(program);
  std::vector<int64_t> extents;
  for (const ExprPtr& extent : shape) extents.push_back(constants.Int(*extent).value_or(-1));
  return extents;
}

}  // namespace tilus::ir

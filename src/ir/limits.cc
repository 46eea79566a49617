#include "ir/limits.h"

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "ir/walk.h"

namespace tilus::ir {
namespace {

// Counts the nodes of an expression against what is left; negative when there are more.
void CountNodes(const Expr& e, int64_t* left) {
  if (--*left < 0) return;
  for (const ExprPtr& arg : e.args) CountNodes(*arg, left);
}

class LimitCheck {
 public:
  LimitCheck(const Program& program, const Limits& limits)
      : limits_(limits),
        left_(limits.max_nodes -
              static_cast<int64_t>(program.vars.size() + program.tensors.size())) {}

  // Whether all is within the limits.
  bool Visit(const Block& block, int depth) {
    if (depth > limits_.max_depth) {
      deep_ = true;
      return false;
    }
    for (const Stmt& stmt : block.stmts) {
      if (!VisitStmt(stmt, depth)) return false;
    }
    return true;
  }

  bool VisitExpr(const ExprPtr& e) {
    if (e == nullptr) {
      incomplete_ = true;
      return false;
    }
    if (e->depth > limits_.max_depth) {
      deep_ = true;
      return false;
    }
    CountNodes(*e, &left_);
    return left_ >= 0;
  }
  bool too_deep() const { return deep_; }
  bool incomplete() const { return incomplete_; }

 private:
  bool VisitStmt(const Stmt& stmt, int depth) {
    if (--left_ < 0) return false;
    bool ok = true;
    WalkExpressions(stmt, [&](const ExprPtr& e) { ok = ok && VisitExpr(e); });
    if (!ok) return false;
    if (const Instruction* in = std::get_if<Instruction>(&stmt.node)) {
      left_ -= static_cast<int64_t>(in->operands.size());
      return left_ >= 0;
    }
    if (const ForStmt* loop = std::get_if<ForStmt>(&stmt.node)) return Visit(loop->body, depth + 1);
    if (const WhileStmt* loop = std::get_if<WhileStmt>(&stmt.node)) {
      return Visit(loop->body, depth + 1);
    }
    if (const IfStmt* branch = std::get_if<IfStmt>(&stmt.node)) {
      return Visit(branch->then_body, depth + 1) && Visit(branch->else_body, depth + 1);
    }
    return true;
  }

  const Limits& limits_;
  int64_t left_;
  bool deep_ = false;
  bool incomplete_ = false;
};

bool VisitHead(const Program& program, LimitCheck* check) {
  bool ok = true;
  const auto visit = [&](const ExprPtr& e) { ok = ok && check->VisitExpr(e); };
  for (VarId id : program.consts) {
    const ExprPtr& value = program.vars[static_cast<size_t>(id)].value;
    if (value != nullptr) visit(value);
  }
  for (const ExprPtr& extent : program.grid) visit(extent);
  for (const Tensor& tensor : program.tensors) {
    if (tensor.decl.shape) {
      for (const ExprPtr& extent : *tensor.decl.shape) visit(extent);
    }
    for (const ExprPtr& stride : tensor.decl.strides) visit(stride);
  }
  return ok;
}

}  // namespace

absl::Status CheckLimits(const Program& program, const Limits& limits) {
  LimitCheck check(program, limits);
  if (VisitHead(program, &check) && check.Visit(program.body, 1)) return absl::OkStatus();
  if (check.incomplete()) {
    return MakeError(DiagId::kOperandKind, "an expression of the program is missing");
  }
  if (check.too_deep()) {
    return MakeError(DiagId::kLimitDepth,
                     absl::StrCat("statements or expressions are nested deeper than ",
                                  limits.max_depth, " levels"));
  }
  return MakeError(DiagId::kLimitNodes,
                   absl::StrCat("the program has more than ", limits.max_nodes, " nodes"));
}

}  // namespace tilus::ir

#include "ir/walk.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace tilus::ir {
namespace {

// Calls fn(block name, block) for each block of a statement, const or not.
template <typename StmtT, typename Fn>
void ForEachBlock(StmtT& stmt, Fn fn) {
  if (auto* loop = std::get_if<ForStmt>(&stmt.node)) {
    fn("body", loop->body);
  } else if (auto* loop = std::get_if<WhileStmt>(&stmt.node)) {
    fn("body", loop->body);
  } else if (auto* branch = std::get_if<IfStmt>(&stmt.node)) {
    fn("then", branch->then_body);
    fn("else", branch->else_body);
  }
}

template <typename BlockT, typename Enter, typename Leave>
void WalkBlock(BlockT& block, StmtPath path, Enter enter, Leave leave) {
  for (auto& stmt : block.stmts) {
    enter(stmt, path);
    ForEachBlock(stmt, [&](const char* name, auto& inner) {
      WalkBlock(inner, StmtPath{&path, BlockOwnerName(stmt), name, 0}, enter, leave);
    });
    leave(stmt, path);
    ++path.index;
  }
}

// Calls fn on each expression slot of a statement, const or not.
template <typename StmtT, typename Fn>
void ForEachExpr(StmtT& stmt, Fn fn) {
  if (auto* in = std::get_if<Instruction>(&stmt.node)) {
    for (auto& operand : in->operands) {
      if (auto* tensor = std::get_if<TensorOperand>(&operand)) {
        for (auto& offset : tensor->offsets) fn(offset);
      } else {
        fn(std::get<ExprPtr>(operand));
      }
    }
    for (auto& extent : in->tile_shape) fn(extent);
  } else if (auto* loop = std::get_if<ForStmt>(&stmt.node)) {
    fn(loop->begin);
    fn(loop->end);
    fn(loop->step);
  } else if (auto* branch = std::get_if<IfStmt>(&stmt.node)) {
    fn(branch->condition);
  } else if (auto* loop = std::get_if<WhileStmt>(&stmt.node)) {
    fn(loop->condition);
  } else if (auto* define = std::get_if<DefineStmt>(&stmt.node)) {
    fn(define->value);
  } else if (auto* assign = std::get_if<AssignStmt>(&stmt.node)) {
    fn(assign->value);
  }
}

}  // namespace

int StmtPath::depth() const { return parent == nullptr ? 1 : parent->depth() + 1; }

std::string StmtPath::ToString(absl::string_view program_name) const {
  const std::string outer = parent == nullptr
                                ? std::string(program_name)
                                : absl::StrCat(parent->ToString(program_name), ".", owner);
  return absl::StrCat(outer, ".", block, "[", index, "]");
}

const char* BlockOwnerName(const Stmt& stmt) {
  if (std::holds_alternative<ForStmt>(stmt.node)) return "for";
  if (std::holds_alternative<WhileStmt>(stmt.node)) return "while";
  if (std::holds_alternative<IfStmt>(stmt.node)) return "if";
  return "";
}

void WalkStatements(const Program& program, StmtFn enter) {
  WalkStatements(program, enter, [](const Stmt&, const StmtPath&) {});
}

void WalkStatements(const Program& program, StmtFn enter, StmtFn leave) {
  WalkBlock(program.body, StmtPath(), enter, leave);
}

void WalkStatements(Program* program, absl::FunctionRef<void(Stmt&, const StmtPath&)> enter) {
  WalkBlock(program->body, StmtPath(), enter, [](Stmt&, const StmtPath&) {});
}

void WalkInstructions(const Program& program,
                      absl::FunctionRef<void(const Instruction&, const StmtPath&)> visit) {
  WalkStatements(program, [&](const Stmt& stmt, const StmtPath& path) {
    if (const Instruction* in = std::get_if<Instruction>(&stmt.node)) visit(*in, path);
  });
}

void WalkExpressions(const Stmt& stmt, absl::FunctionRef<void(const ExprPtr&)> visit) {
  ForEachExpr(stmt, [&](const ExprPtr& e) { visit(e); });
}

void RewriteExpressions(Stmt* stmt, absl::FunctionRef<ExprPtr(const ExprPtr&)> rewrite) {
  ForEachExpr(*stmt, [&](ExprPtr& e) { e = rewrite(e); });
}

void WalkNodes(const Expr& expr, absl::FunctionRef<void(const Expr&)> visit) {
  visit(expr);
  for (const ExprPtr& arg : expr.args) WalkNodes(*arg, visit);
}

bool Mentions(const Expr& expr, VarId var) {
  if (expr.kind == ExprKind::kVar && expr.var == var) return true;
  for (const ExprPtr& arg : expr.args) {
    if (Mentions(*arg, var)) return true;
  }
  return false;
}

}  // namespace tilus::ir

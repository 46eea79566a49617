// Walking the statements of a program, each with its path.
#pragma once

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "ir/program.h"

namespace tilus::ir {

// Where a statement stands: a chain of frames on the stack of the walk, spelled only on demand as
// "matmul.body[3].for.body[1]".
struct StmtPath {
  const StmtPath* parent = nullptr;  // of the statement whose block this is in; null at the top
  const char* owner = "";            // what the parent is: "for", "if", "while"; "" at the top
  const char* block = "body";        // "body", "then", "else"
  int index = 0;

  int depth() const;  // 1 at the top
  std::string ToString(absl::string_view program_name) const;
};

// "for", "if", "while", or "" for a statement without blocks.
const char* BlockOwnerName(const Stmt& stmt);

// Calls `enter` before and `leave` after what a statement holds. Recursion is as deep as the
// program is nested.
using StmtFn = absl::FunctionRef<void(const Stmt&, const StmtPath&)>;
void WalkStatements(const Program& program, StmtFn enter);
void WalkStatements(const Program& program, StmtFn enter, StmtFn leave);
// The same for statements that may be changed (not moved) by `enter`.
void WalkStatements(Program* program, absl::FunctionRef<void(Stmt&, const StmtPath&)> enter);

// Every instruction, in order.
void WalkInstructions(const Program& program,
                      absl::FunctionRef<void(const Instruction&, const StmtPath&)> visit);

// The expressions that stand directly in a statement (not those of statements inside it), and for
// instructions those of offsets and attributes.
void WalkExpressions(const Stmt& stmt, absl::FunctionRef<void(const ExprPtr&)> visit);
void RewriteExpressions(Stmt* stmt, absl::FunctionRef<ExprPtr(const ExprPtr&)> rewrite);

// Every node of an expression, parents first.
void WalkNodes(const Expr& expr, absl::FunctionRef<void(const Expr&)> visit);
// Whether `expr` mentions the variable.
bool Mentions(const Expr& expr, VarId var);

}  // namespace tilus::ir

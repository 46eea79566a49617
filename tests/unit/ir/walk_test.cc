// Paths and order of walks.
#include "ir/walk.h"

#include <gtest/gtest.h>

#include "ir/text.h"

namespace tilus::ir {
namespace {

Program Sample() {
  absl::StatusOr<Module> module = ParseText(R"(program p(n: i32) warps 1 {
  grid 1
  let a = n
  for i in a .. n {
    if i < a {
      synchronize
    } else {
      let b = i + a
    }
    while n > 3 {
      break
    }
  }
  exit
})",
                                            Limits());
  EXPECT_TRUE(module.ok()) << module.status();
  return module->programs[0];
}

TEST(Walk, VisitsInOrderWithPaths) {
  const Program program = Sample();
  std::vector<std::string> paths;
  int open = 0, deepest = 0;
  WalkStatements(
      program,
      [&](const Stmt&, const StmtPath& path) {
        paths.push_back(path.ToString(program.name));
        deepest = std::max(deepest, ++open);
        EXPECT_EQ(path.depth(), open);
      },
      [&](const Stmt&, const StmtPath&) { --open; });
  EXPECT_EQ(paths,
            (std::vector<std::string>{"p.body[0]", "p.body[1]", "p.body[1].for.body[0]",
                                      "p.body[1].for.body[0].if.then[0]",
                                      "p.body[1].for.body[0].if.else[0]", "p.body[1].for.body[1]",
                                      "p.body[1].for.body[1].while.body[0]", "p.body[2]"}));
  EXPECT_EQ(open, 0);
  EXPECT_EQ(deepest, 3);
}

TEST(Walk, ExpressionsAreThoseOfTheStatementItself) {
  Program program = Sample();
  int count = 0;
  WalkStatements(program, [&](const Stmt& stmt, const StmtPath&) {
    WalkExpressions(stmt, [&](const ExprPtr&) { ++count; });
  });
  EXPECT_EQ(count, 1 + 3 + 1 + 1 + 1);
  WalkStatements(&program, [&](Stmt& stmt, const StmtPath&) {
    RewriteExpressions(&stmt,
                       [](const ExprPtr& e) { return e->type.is_bool() ? Literal(kBool, 1) : e; });
  });
  EXPECT_NE(PrintText(program).find("while true {"), std::string::npos);
}

TEST(Walk, MentionsFindsVariables) {
  const ExprPtr e = *MakeOp(ExprOp::kAdd, {VarRef(3, kI32), IntLiteral(1)});
  EXPECT_TRUE(Mentions(*e, 3));
  EXPECT_FALSE(Mentions(*e, 1));
  int nodes = 0;
  WalkNodes(*e, [&](const Expr&) { ++nodes; });
  EXPECT_EQ(nodes, 3);
}

}  // namespace
}  // namespace tilus::ir

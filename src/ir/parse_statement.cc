#include "absl/strings/str_cat.h"
#include "ir/parser.h"
#include "ir/parser_nesting.h"

namespace tilus::ir {

bool Parser::ParseBlock(Block* block) {
  if (!Expect("{", "before the block")) return false;
  ParseBlockBody(block);
  return true;
}

void Parser::ParseBlockBody(Block* block) {
  const Token first = token_;
  if (block_depth_ >= limits_.max_depth) {
    Fail(DiagId::kLimitDepth, first.span(),
         absl::StrCat("this block is nested deeper than ", limits_.max_depth, " levels"));
    SkipBlock();
    return;
  }
  ++block_depth_;
  const size_t mark = scope_.size();
  while (true) {
    while (token_.kind == TokenKind::kNewline) Advance();
    if (Accept("}")) break;
    if (token_.kind == TokenKind::kEnd || token_.Is("program")) {
      if (!unclosed_) {
        Fail(DiagId::kTextUnclosed, token_.span(), "a block is not closed",
             "add the '}' that is missing");
      }
      unclosed_ = true;
      break;
    }
    if (!ParseStatement(block)) {
      Recover();
    } else if (!AtLineEnd() && !unclosed_) {
      Unexpected("the end of the line");
      Recover();
    }
  }
  while (scope_.size() > mark) {
    symbols_.erase(scope_.back());
    scope_.pop_back();
  }
  --block_depth_;
}

bool Parser::ParseStatement(Block* block) {
  if (!Count(1)) return false;
  if (token_.kind != TokenKind::kName) return Unexpected("a statement");
  const Token ahead = Peek();
  if (ahead.Is("=") || ahead.Is(",")) return ParseInstruction(block);

  const bool is_grid = token_.Is("grid");
  if (is_grid || token_.Is("const")) {
    if (!InHead(*block)) {
      return Fail(DiagId::kTextSyntax, token_.span(),
                  absl::StrCat("'", token_.text, "' belongs before the first instruction"));
    }
    return is_grid ? ParseGrid() : ParseConsts();
  }
  if (token_.Is("let")) return ParseLet(block);
  if (token_.Is("var")) return ParseVar(block);
  if (token_.Is("set")) return ParseSet(block);
  if (token_.Is("for")) return ParseFor(block);
  if (token_.Is("if")) return ParseIf(block);
  if (token_.Is("while")) return ParseWhile(block);
  if (token_.Is("break") || token_.Is("continue")) {
    Stmt stmt;
    stmt.span = token_.span();
    if (token_.Is("break")) {
      stmt.node = BreakStmt();
    } else {
      stmt.node = ContinueStmt();
    }
    Advance();
    block->stmts.push_back(std::move(stmt));
    return true;
  }
  return ParseInstruction(block);
}

bool Parser::ParseFor(Block* block) {
  Stmt stmt;
  stmt.span = token_.span();
  ForStmt loop;
  absl::string_view name;
  const bool head = ParseForHead(&loop, &name) &&
                    (token_.Is("{") || Unexpected("'{' after the head of the loop"));
  const size_t mark = scope_.size();
  if (head) {
    loop.var = AddVar(name, VarKind::kLoop, loop.begin->type);
    ParseBlock(&loop.body);
  } else {
    Poison(name);
    Recover();
  }
  while (scope_.size() > mark) {
    symbols_.erase(scope_.back());
    scope_.pop_back();
  }
  stmt.node = std::move(loop);
  if (head) block->stmts.push_back(std::move(stmt));
  return true;
}

// for k in 0 .. K / 16 step 2 unroll 4
bool Parser::ParseForHead(ForStmt* loop, absl::string_view* name) {
  Advance();
  if (!NewName(name) || !Expect("in", "after the variable of the loop")) return false;
  const SourceSpan span = token_.span();
  ExprPtr range[3];
  range[0] = ParseExpr();
  if (range[0] == nullptr || !Expect("..", "between the bounds of the loop")) return false;
  range[1] = ParseExpr();
  if (range[1] == nullptr) return false;
  range[2] = Accept("step") ? ParseExpr() : IntLiteral(1);
  if (range[2] == nullptr) return false;
  if (absl::Status unified = UnifyTypes("for", absl::MakeSpan(range)); !unified.ok()) {
    return Fail(unified, span);
  }
  loop->begin = std::move(range[0]);
  loop->end = std::move(range[1]);
  loop->step = std::move(range[2]);
  if (Accept("unroll")) {
    loop->unroll = kUnrollFull;
    if (!token_.Is("{")) return ParseUnrollCount(&loop->unroll);
  }
  return true;
}

bool Parser::ParseUnrollCount(int64_t* count) {
  const SourceSpan span = token_.span();
  if (!ParseInt(count)) return false;
  if (*count >= 1) return true;
  return Fail(DiagId::kUnroll, span, absl::StrCat("a loop cannot be unrolled ", *count, " times"),
              "give a count of at least 1, or none to unroll the whole loop");
}

bool Parser::ParseIf(Block* block) {
  Stmt stmt;
  stmt.span = token_.span();
  Advance();
  IfStmt branch;
  branch.condition = ParseExpr();
  if (branch.condition == nullptr || !ParseBlock(&branch.then_body)) return false;
  if (Accept("else")) {
    if (token_.Is("if")) {
      // A chain is nested branches, so it is as deep as it is long.
      if (block_depth_ >= limits_.max_depth) {
        return Fail(DiagId::kLimitDepth, token_.span(),
                    absl::StrCat("this chain is longer than ", limits_.max_depth, " branches"));
      }
      ++block_depth_;
      const bool parsed = ParseIf(&branch.else_body);
      --block_depth_;
      if (!parsed) return false;
    } else if (!ParseBlock(&branch.else_body)) {
      return false;
    }
  }
  stmt.node = std::move(branch);
  block->stmts.push_back(std::move(stmt));
  return true;
}

bool Parser::ParseWhile(Block* block) {
  Stmt stmt;
  stmt.span = token_.span();
  Advance();
  WhileStmt loop;
  loop.condition = ParseExpr();
  if (loop.condition == nullptr || !ParseBlock(&loop.body)) return false;
  stmt.node = std::move(loop);
  block->stmts.push_back(std::move(stmt));
  return true;
}

// let x = expr    let x: i64 = expr    let name = layout
bool Parser::ParseLet(Block* block) {
  Stmt stmt;
  stmt.span = token_.span();
  Advance();
  absl::string_view name;
  if (!NewName(&name)) return false;
  DataType type;
  const bool typed = Accept(":");
  if ((typed && !ParseType(&type)) || !Expect("=", "before the value")) {
    Poison(name);
    return false;
  }
  if (!typed && AtLayout()) {
    if (InHead(*block)) return ParseLayoutAlias(name);
    Poison(name);
    return Fail(DiagId::kTextSyntax, token_.span(),
                "a layout gets its name before the first instruction");
  }
  DefineStmt define;
  define.value = typed ? ParseExprAs(type) : ParseExpr();
  if (define.value == nullptr) {
    Poison(name);
    return false;
  }
  define.var = AddVar(name, VarKind::kLet, define.value->type);
  stmt.node = std::move(define);
  block->stmts.push_back(std::move(stmt));
  return true;
}

// var i: i32 = 0
bool Parser::ParseVar(Block* block) {
  Stmt stmt;
  stmt.span = token_.span();
  Advance();
  absl::string_view name;
  if (!NewName(&name)) return false;
  DataType type;
  const bool typed = Accept(":");
  DefineStmt define;
  if ((!typed || ParseType(&type)) && Expect("=", "before the first value")) {
    define.value = typed ? ParseExprAs(type) : ParseExpr();
  }
  if (define.value == nullptr) {
    Poison(name);
    return false;
  }
  define.var = AddVar(name, VarKind::kMutable, define.value->type);
  stmt.node = std::move(define);
  block->stmts.push_back(std::move(stmt));
  return true;
}

// set i = i + 1
bool Parser::ParseSet(Block* block) {
  Stmt stmt;
  stmt.span = token_.span();
  Advance();
  const Token name = token_;
  if (name.kind != TokenKind::kName) return Unexpected("the name of a variable");
  Advance();
  const Symbol* symbol = Find(name.text);
  if (symbol == nullptr) {
    return FailUnknown(name);
  }
  if (symbol->kind == Symbol::kPoison) return false;
  const bool is_mutable = symbol->kind == Symbol::kVar &&
                          program_->vars[static_cast<size_t>(symbol->id)].kind == VarKind::kMutable;
  if (!is_mutable) {
    return Fail(DiagId::kAssignment, name.span(), absl::StrCat("'", name.text, "' cannot be set"),
                "define it with var");
  }
  AssignStmt assign;
  assign.var = symbol->id;
  const DataType type = program_->vars[static_cast<size_t>(symbol->id)].type;
  if (!Expect("=", "before the value")) return false;
  assign.value = ParseExprAs(type);
  if (assign.value == nullptr) return false;
  stmt.node = std::move(assign);
  block->stmts.push_back(std::move(stmt));
  return true;
}

}  // namespace tilus::ir

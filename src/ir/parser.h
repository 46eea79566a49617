// The reader of .tilus text: recursive descent over Lexer's tokens, straight into the IR.
//
// Errors. A method that fails has reported it and returns false (or a null expression); the
// statement is then given up, reading resumes at the next line, and names that the statement would
// have defined are *poisoned*: statements that use them are given up without a further report.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "base/diagnostic.h"
#include "ir/lexer.h"
#include "ir/program.h"

namespace tilus::ir {

class Parser {
 public:
  Parser(absl::string_view text, const Limits& limits);

  Module ParseModule();
  const DiagnosticList& diagnostics() const { return diagnostics_; }

 private:
  // An expression; null when it failed. A flexible one is a literal whose type nothing has fixed
  // yet: floats are kept as f64 until then.
  struct Parsed {
    ExprPtr expr;
    bool flexible = false;
    explicit operator bool() const { return expr != nullptr; }
  };
  struct Symbol {
    enum Kind { kVar, kTensor, kLayout, kPoison } kind = kPoison;
    int32_t id = 0;
  };
  class Nesting;

  // --- Tokens and errors (parse_program.cc)
  void Advance();
  Token Peek() const;
  bool Expect(absl::string_view punct, absl::string_view context);
  bool Accept(absl::string_view word);
  bool AtLineEnd() const;
  // Reports and returns false.
  bool Fail(DiagId id, SourceSpan span, std::string message, std::string hint = {});
  bool Fail(const absl::Status& status, SourceSpan span);
  bool Unexpected(absl::string_view wanted);
  bool Count(int64_t nodes);  // towards the limit of nodes
  void Abort();
  // After an error: to the end of the line, or to the "}" that closes the block around it. True
  // when the line ends by opening a block.
  bool SkipLine();
  // To the end of the block whose "{" has been read.
  void SkipBlock();
  // After an error in a statement: over the line and the blocks that it opens, which are still read
  // for their errors.
  void Recover();

  // --- Names (parse_program.cc)
  const Symbol* Find(absl::string_view name) const;
  bool FailUnknown(const Token& name);
  void Bind(absl::string_view name, Symbol symbol);
  // Reads a name that is about to be defined: not reserved, not in use.
  bool NewName(absl::string_view* name);
  bool CheckNew(const Token& name);
  void Poison(absl::string_view name);
  VarId AddVar(absl::string_view name, VarKind kind, DataType type);

  // --- Programs (parse_program.cc)
  bool ParseProgram();
  bool ParseParams();
  bool ParseParam();
  bool ParseHeadOptions();
  bool ParseConsts();
  bool ParseGrid();
  bool ParseLayoutAlias(absl::string_view name);
  bool AtLayout() const;  // at the start of a layout expression
  // Whether const, grid and layouts may still come.
  bool InHead(const Block& block) const;

  // --- Statements (parse_statement.cc)
  bool ParseBlock(Block* block);
  // What follows "{", with the closing "}".
  void ParseBlockBody(Block* block);
  bool ParseStatement(Block* block);
  bool ParseFor(Block* block);
  bool ParseForHead(ForStmt* loop, absl::string_view* name);
  bool ParseUnrollCount(int64_t* count);
  bool ParseIf(Block* block);
  bool ParseWhile(Block* block);
  bool ParseLet(Block* block);
  bool ParseVar(Block* block);
  bool ParseSet(Block* block);

  // --- Instructions (parse_instruction.cc)
  bool ParseInstruction(Block* block);
  bool ParseResults(std::vector<Token>* names);
  bool ParseOperands(const InstructionInfo& info, Instruction* in, TensorDecl* decl,
                     uint32_t* seen);
  bool ParseOperand(char letter, Instruction* in);
  bool ParseMemoryOperand(Instruction* in);
  bool ParseAttributes(const InstructionInfo& info, Instruction* in, TensorDecl* decl,
                       uint32_t* seen);
  bool ParseAttribute(Attr attr, Instruction* in, TensorDecl* decl);
  bool ParseTileAnnotation(Instruction* in);
  bool ParseAnnotation(Scope scope, TensorDecl* decl);
  bool ParseSharedLayout(TensorDecl* decl);
  bool ParseLayoutSpec(LayoutSpec* spec);
  bool ParseLayoutExpression(LayoutExpression* expression, RegisterLayout* layout);
  bool DefineResults(const std::vector<Token>& names, const InstructionInfo& info, Instruction* in,
                     TensorDecl decl, SourceSpan annotation);
  bool DefineIndices(const std::vector<Token>& names, Instruction* in);
  bool OverwriteTensor(const Token& name, const InstructionInfo& info, TensorId id,
                       const TensorDecl& decl, SourceSpan annotation, Instruction* in);
  bool SameDeclaration(const TensorDecl& given, const TensorDecl& known) const;

  // --- Expressions (parse_expression.cc)
  Parsed ParseFlexible(int least_precedence = 1);
  ExprPtr ParseExpr();                 // floats that nothing typed are f32
  ExprPtr ParseExprAs(DataType type);  // coerced
  ExprPtr Settle(const Parsed& parsed, SourceSpan span);
  Parsed ParseUnary();
  Parsed ParsePrimary();
  Parsed ParseNumber(bool negative);
  Parsed ParseNamed();
  Parsed ParseCast(DataType type);
  Parsed ParseCall(ExprOp op);
  Parsed ParseIndex();
  Parsed Make(ExprOp op, std::vector<Parsed> args, SourceSpan span);
  Parsed Checked(ExprPtr expr, bool flexible, SourceSpan span);
  bool ParseList(absl::string_view close, std::vector<ExprPtr>* list);
  template <typename Int>
  bool ParseIntList(absl::string_view close, std::vector<Int>* list);
  bool ParseInt(int64_t* value);
  bool ParseType(DataType* type);

  Lexer lexer_;
  Token token_;
  Limits limits_;
  DiagnosticList diagnostics_;
  Module module_;
  Program* program_ = nullptr;
  absl::flat_hash_map<absl::string_view, Symbol> symbols_;
  std::vector<absl::string_view> scope_;  // names bound, to be taken back at the ends of blocks
  Parsed initialiser_;                    // the last operand of letter 'e'
  int64_t nodes_ = 0;
  int depth_ = 0;  // of recursion in expressions
  int block_depth_ = 0;
  bool unclosed_ = false;  // the program that is being read, and it was reported
  bool aborted_ = false;
};

// Whether a word cannot be a name: statements, literals, operators.
bool IsReservedWord(absl::string_view word);
// Whether a word names a data type.
bool IsTypeName(absl::string_view word);

}  // namespace tilus::ir

// Programs: one kernel each, at the level of a thread block.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/diagnostic.h"
#include "ir/expr.h"
#include "ir/instruction.h"
#include "ir/tensor.h"

namespace tilus::ir {

enum class VarKind : uint8_t {
  kParam,       // scalar or pointer parameter
  kConst,       // const N = expr, known at compile time
  kBlockIndex,  // a result of block_indices
  kLoop,        // the variable of a for
  kLet,         // let x = expr, never assigned again
  kMutable,     // var x = expr, assigned by `set`
};

struct Var {
  std::string name;
  VarKind kind = VarKind::kLet;
  DataType type = kI32;     // of the scalar, or of what the pointer points to
  bool is_pointer = false;
  int64_t align = 0;        // pointer parameters: promised alignment in bytes, 0 = 16
  int64_t divisible = 1;    // integer parameters: promised divisor
  ExprPtr value;            // kConst
};

struct Stmt;

struct Block {
  std::vector<Stmt> stmts;
};

inline constexpr int64_t kUnrollFull = -1;

struct ForStmt {
  VarId var = kNoVar;
  ExprPtr begin, end, step;  // step is never null; runs while step > 0 ? var < end : var > end
  int64_t unroll = 1;        // copies of the body; 1 = as written, kUnrollFull = all
  Block body;
};

struct IfStmt {
  ExprPtr condition;
  Block then_body;
  Block else_body;  // may be empty
};

struct WhileStmt {
  ExprPtr condition;
  Block body;
};

// let x = value (kLet), var x: type = value (kMutable)
struct DefineStmt {
  VarId var = kNoVar;
  ExprPtr value;
};

// set x = value
struct AssignStmt {
  VarId var = kNoVar;
  ExprPtr value;
};

struct BreakStmt {};
struct ContinueStmt {};

struct Stmt {
  std::variant<Instruction, ForStmt, IfStmt, WhileStmt, DefineStmt, AssignStmt, BreakStmt,
               ContinueStmt>
      node;
  SourceSpan span;  // where it stood in the text, when it came from text
};

// let name = layout, at the head of a program.
struct LayoutAlias {
  std::string name;
  LayoutExpression expression;
  RegisterLayout layout;
};

struct Program {
  std::string name;
  int warps = 1;
  std::string target;     // lowest target that may run it, "sm_90a"; empty = any
  bool contract = false;  // mul and add may be contracted into fma
  bool fast = false;      // transcendentals may use the hardware approximation
  std::vector<Var> vars;
  std::vector<VarId> params;  // in order
  std::vector<VarId> consts;  // in order
  std::vector<LayoutAlias> layouts;
  std::vector<ExprPtr> grid;  // 1 to 3, x first
  std::vector<Tensor> tensors;
  Block body;
  SourceSpan span;  // of the name, when the program came from text

  // Derived by memory planning.
  int64_t shared_bytes = 0;
  // i64 expressions of the parameters, null where there is no workspace: all alloc_global tensors,
  // the clean ones first, and of these the bytes that must be zero before the first launch.
  ExprPtr workspace_bytes;
  ExprPtr clean_workspace_bytes;

  int num_threads() const { return warps * 32; }
};

// What a file or blob holds.
struct Module {
  std::vector<Program> programs;
};

// The limits that programs from outside are held to. Defaults as in the header of the C API.
struct Limits {
  int64_t max_bytes = 16 << 20;
  int max_depth = 64;               // of statements, and of expressions, each
  int64_t max_nodes = 1000000;      // statements, operands, expression nodes, tensors, variables
  int max_rank = 8;
  int64_t max_elements = (int64_t{1} << 31) - 1;
  int64_t max_unroll = 4096;        // product over nested loops
  int64_t max_code_bytes = 16 << 20;
};

}  // namespace tilus::ir

// What is known about scalar expressions at compile time: constants, divisors, ranges.
//
// Everything here is sound under wrapping arithmetic: a divisor or range is claimed of a result
// only where overflow is excluded (a power of two divides a wrapped product all the same).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program.h"

namespace tilus::ir {

// All values v with min <= v <= max.
struct Range {
  int64_t min = 0;
  int64_t max = 0;
  bool operator==(const Range&) const = default;
};

// Facts about the variables of one program, gathered once (O(program)); queries cost the size of
// the expression. Holds pointers into the program, which must outlive it and not change.
class Facts {
 public:
  explicit Facts(const Program& program);

  // The value of an integer or bool expression of literals and constants.
  std::optional<int64_t> Constant(const Expr& e) const;
  // A number >= 1 that divides every value of the integer expression (constants: |value|, and 0
  // for the constant 0, which everything divides).
  int64_t Divisor(const Expr& e) const;
  // Bounds of an integer or bool expression; at least those of its type, nullopt for u64.
  std::optional<Range> RangeOf(const Expr& e) const;
  // Whether 0 <= offset and offset + size <= extent for all values, so that no bounds test is
  // needed. Knows ranges, and block_index * c + c <= m where the grid is ceil_div(m, c).
  bool Within(const Expr& offset, int64_t size, const Expr& extent) const;

  // What defines a variable.
  struct Definition {
    enum Kind { kUnknown, kConst, kBlockIndex, kLoop, kLet } kind = kUnknown;
    const ExprPtr* value = nullptr;   // kConst, kLet
    const ForStmt* loop = nullptr;    // kLoop
    int grid_dim = 0;                 // kBlockIndex
  };
  const Definition& DefinitionOf(VarId var) const;
  const Program& program() const { return *program_; }

 private:
  void Collect(const Block& block);

  const Program* program_;
  std::vector<Definition> definitions_;
};

// For a few questions; each gathers what it needs from the program.
std::optional<int64_t> ConstantInt(const Program& program, const Expr& expr);  // O(expression)
int64_t Divisibility(const Program& program, const Expr& expr);
std::optional<Range> RangeOf(const Program& program, const Expr& expr);

// Evaluates an integer or bool operation as types/arithmetic.h defines it.
std::optional<int64_t> EvaluateIntOp(const Expr& op, absl::Span<const int64_t> args);

}  // namespace tilus::ir

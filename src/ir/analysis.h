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

// The values of a program's `const`s, and of expressions of them.
class Constants {
 public:
  explicit Constants(const Program& program);  // O(consts)

  // The code of an expression of literals and constants (of any type), if it is one.
  std::optional<uint64_t> Code(const Expr& e) const;
  // Its value, where it is an integer or bool.
  std::optional<int64_t> Int(const Expr& e) const;

 private:
  std::vector<std::optional<uint64_t>> codes_;  // by VarId
};

// Facts about the variables of one program, gathered once (O(program)); queries cost the size of
// the expression. Holds pointers into the program, which must outlive it and not change.
class Facts {
 public:
  explicit Facts(const Program& program);

  // The value of an integer or bool expression of literals and constants.
  std::optional<int64_t> Constant(const Expr& e) const { return constants_.Int(e); }
  // A number >= 1 that divides every value of the integer expression (constants: |value|, and 0
  // for the constant 0, which everything divides).
  int64_t Divisor(const Expr& e) const;
  // Bounds of an integer or bool expression; at least those of its type, nullopt where these do
  // not fit (u64) and for other types.
  std::optional<Range> RangeOf(const Expr& e) const;
  // Whether 0 <= offset and offset + size <= extent for all values, so that no bounds test is
  // needed. Knows ranges, and v * c + r where v counts to extent / c, or to ceil_div(extent, c)
  // and c divides the extent.
  bool Within(const Expr& offset, int64_t size, const Expr& extent) const;

  // What defines a variable.
  struct Definition {
    enum Kind { kUnknown, kConst, kBlockIndex, kLoop, kLet } kind = kUnknown;
    const ExprPtr* value = nullptr;  // kConst, kLet
    const ForStmt* loop = nullptr;   // kLoop
    int grid_dim = 0;                // kBlockIndex
  };
  const Definition& DefinitionOf(VarId var) const { return definitions_[static_cast<size_t>(var)]; }
  const Program& program() const { return *program_; }

 private:
  // What is known of a variable, from its definition.
  struct Known {
    int64_t divisor = 1;
    std::optional<Range> range;
  };

  void CollectParams();
  void Collect(const Block& block);
  void CollectLoop(const ForStmt& loop);
  void CollectIndices(const Instruction& in);
  Known& KnownOf(VarId var) { return known_[static_cast<size_t>(var)]; }

  std::optional<Range> RangeOfOp(const Expr& e) const;
  std::optional<Range> RangeOfCast(const Expr& e) const;
  int64_t DivisorOfOp(const Expr& e) const;
  bool NeverWraps(const Expr& op) const;
  // The expression that a variable stays below while it counts up from 0 or more, or null.
  const Expr* UpperBoundOf(VarId var) const;
  const Expr& ThroughLets(const Expr& e) const;
  bool WithinScaled(const Expr& scaled, const Expr* rest, int64_t size, const Expr& extent) const;

  const Program* program_;
  Constants constants_;
  std::vector<Definition> definitions_;  // by VarId
  std::vector<Known> known_;             // by VarId
};

// For a few questions; each gathers what it needs from the program.
std::optional<int64_t> ConstantInt(const Program& program, const Expr& expr);
int64_t Divisibility(const Program& program, const Expr& expr);
std::optional<Range> RangeOf(const Program& program, const Expr& expr);

// The bounds of an integer type or bool; nullopt for u64 and for other types.
std::optional<Range> RangeOfType(DataType type);

// An operation on the codes of its arguments, as types/arithmetic.h and expr_ops.def define it.
uint64_t EvaluateOp(const Expr& op, absl::Span<const uint64_t> codes);
// The same on values, for integers and bools; nullopt for other types.
std::optional<int64_t> EvaluateIntOp(const Expr& op, absl::Span<const int64_t> args);

}  // namespace tilus::ir

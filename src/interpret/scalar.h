// Evaluation of scalar expressions.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "ir/program.h"

namespace tilus::interpret {

// The variables of a program while it runs: the code of each, in its type.
class Scalars {
 public:
  explicit Scalars(const ir::Program& program);

  // The code of the expression's value in its type. `index` is what #d stands for.
  uint64_t Code(const ir::Expr& expr, absl::Span<const int32_t> index = {}) const;
  // The value of an integer or bool expression.
  int64_t Int(const ir::Expr& expr) const;

  void Set(ir::VarId var, uint64_t code) { codes_[static_cast<size_t>(var)] = code; }
  uint64_t Get(ir::VarId var) const { return codes_[static_cast<size_t>(var)]; }

 private:
  std::vector<uint64_t> codes_;
};

}  // namespace tilus::interpret

// Random valid programs and expressions, from a seed.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "ir/builder.h"

namespace tilus::ir {

class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed) {}

  // A program of a few dozen statements; Build() accepts it.
  Program Make();

  // An expression of type i32 over the variables, at most `depth` high.
  Scalar IntExpr(const std::vector<Scalar>& variables, int depth);
  Scalar BoolExpr(const std::vector<Scalar>& variables, int depth);
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

 private:
  void Statements(ProgramBuilder* b, int count, int depth);
  void Statement(ProgramBuilder* b, int depth);
  void TensorStatement(ProgramBuilder* b);
  template <typename Body>
  void Scoped(Body body);

  std::mt19937 random_;
  std::vector<Scalar> ints_;  // in scope, type i32
  std::vector<Scalar> mutables_;
  std::vector<TensorHandle> floats_;  // f32[32] spatial(32)
  TensorHandle memory_, shared_;
  bool in_loop_ = false;
};

}  // namespace tilus::ir

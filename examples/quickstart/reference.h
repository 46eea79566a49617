// The numbers that the kernels are held against: products in double precision, the i6 weights, and
// the distance between two matrices.
#pragma once

#include <cstdint>
#include <vector>

#include "layer.h"

namespace quickstart {

struct Matrix {
  int rows = 0;
  int columns = 0;
  std::vector<double> values;  // [rows, columns]
};

// Signed 6-bit weights with one f16 scale per column and 32 consecutive k:
// w[i, j] = scales[i / 32, j] * codes[i, j].
struct I6Layer {
  int k = 0;  // a multiple of 32
  int n = 0;  // a multiple of 8
  std::vector<int8_t> codes;     // [k, n], -32 to 31
  std::vector<uint16_t> scales;  // f16 [k / 32, n]
};

// The values of halves and of quantised weights, all exact in double.
Matrix Values(const HalfMatrix& halves);
Matrix Values(const Q41Layer& layer);
Matrix Values(const I6Layer& layer);

// `weights` [K, N] in i6, K a multiple of 32: of each group of 32 consecutive k of a column,
// scale = max |w| / 31 rounded to f16 and code = w / scale rounded to nearest, ties to even, and
// clamped to [-32, 31]. A group whose scale rounds to zero gets zeros.
// @pre max |w| / 31 is a finite half.
I6Layer QuantizeI6(const Matrix& weights);

// a [M, K] times w [K, N], summed in double in the order of k: within K * 2^-53 * sum |a||w| of the
// exact product, far below the half ulp of f16 that a kernel's result has.
Matrix Multiply(const Matrix& a, const Matrix& w);

// The relative error in the Frobenius norm, ||x - reference|| / ||reference||. NaN when x holds a
// NaN, infinity for a nonzero x and a zero reference; test it with !(error <= bound).
// @pre the shapes are equal.
double RelativeError(const Matrix& x, const Matrix& reference);

}  // namespace quickstart

#include "reference.h"

#include <algorithm>
#include <cmath>

#include "tensor_data.h"

namespace quickstart {
namespace {

std::vector<double> Decode(const std::vector<uint16_t>& halves) {
  std::vector<double> values(halves.size());
  std::transform(halves.begin(), halves.end(), values.begin(), HalfToDouble);
  return values;
}

}  // namespace

Matrix Values(const HalfMatrix& halves) {
  return {halves.rows, halves.columns, Decode(halves.values)};
}

Matrix Values(const Q41Layer& layer) {
  const std::vector<double> scales = Decode(layer.scales), minima = Decode(layer.minima);
  Matrix w{layer.k, layer.n, std::vector<double>(layer.codes.size())};
  const size_t n = layer.n;
  for (size_t at = 0; at < layer.codes.size(); ++at) {
    const size_t group = at / n / kGroup * n + at % n;
    w.values[at] = scales[group] * layer.codes[at] + minima[group];
  }
  return w;
}

Matrix Values(const I6Layer& layer) {
  const std::vector<double> scales = Decode(layer.scales);
  Matrix w{layer.k, layer.n, std::vector<double>(layer.codes.size())};
  const size_t n = layer.n;
  for (size_t at = 0; at < layer.codes.size(); ++at) {
    w.values[at] = scales[at / n / kGroup * n + at % n] * layer.codes[at];
  }
  return w;
}

I6Layer QuantizeI6(const Matrix& weights) {
  I6Layer layer{weights.rows, weights.columns, std::vector<int8_t>(weights.values.size()), {}};
  const size_t n = layer.n, groups = layer.k / kGroup;
  layer.scales.resize(groups * n);
  for (size_t group = 0; group < groups; ++group) {
    for (size_t column = 0; column < n; ++column) {
      const size_t first = group * kGroup * n + column;
      double largest = 0;
      for (size_t i = 0; i < kGroup; ++i) {
        largest = std::max(largest, std::fabs(weights.values[first + i * n]));
      }
      const uint16_t half = DoubleToHalf(largest / 31);
      const double scale = HalfToDouble(half);
      layer.scales[group * n + column] = half;
      if (scale == 0) continue;
      for (size_t i = 0; i < kGroup; ++i) {
        const double code = std::nearbyint(weights.values[first + i * n] / scale);
        layer.codes[first + i * n] = static_cast<int8_t>(std::clamp(code, -32.0, 31.0));
      }
    }
  }
  return layer;
}

Matrix Multiply(const Matrix& a, const Matrix& w) {
  Matrix c{a.rows, w.columns, std::vector<double>(static_cast<size_t>(a.rows) * w.columns)};
  const size_t inner = a.columns, n = w.columns;
  for (size_t row = 0; row < static_cast<size_t>(a.rows); ++row) {
    double* out = &c.values[row * n];
    for (size_t k = 0; k < inner; ++k) {
      const double factor = a.values[row * inner + k];
      const double* in = &w.values[k * n];
      for (size_t column = 0; column < n; ++column) out[column] += factor * in[column];
    }
  }
  return c;
}

double RelativeError(const Matrix& x, const Matrix& reference) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < reference.values.size(); ++i) {
    const double distance = x.values[i] - reference.values[i];
    difference += distance * distance;
    norm += reference.values[i] * reference.values[i];
  }
  if (difference == 0) return 0;
  return std::fabs(std::sqrt(difference) / std::sqrt(norm));  // fabs: no "-nan" in reports
}

}  // namespace quickstart

#include "layer.h"

#include <cmath>
#include <string>

#include "prompt.h"
#include "tensor_data.h"

namespace quickstart {
namespace {

constexpr uint64_t kMaxExtent = 1 << 14;
constexpr double kNormEpsilon = 1e-5;  // llama.attention.layer_norm_rms_epsilon of the file

Error Missing(std::string_view name) {
  return Error{"The GGUF file has no tensor " + Quote(name)};
}

}  // namespace

Result<Q41Layer> ReadQ41Layer(const GgufFile& file, std::string_view name) {
  const GgufTensor* tensor = file.FindTensor(name);
  if (tensor == nullptr) return Missing(name);
  if (tensor->type != TensorType::kQ4_1 || tensor->extents.size() != 2) {
    return Error{"Tensor " + Quote(name) + " is " + TensorTypeName(tensor->type) + " of rank " +
                 std::to_string(tensor->extents.size()) + ", and a Q4_1 matrix is needed"};
  }
  if (tensor->row_count % 8 != 0 || tensor->row_count > kMaxExtent ||
      tensor->row_length() > kMaxExtent) {
    return Error{"Tensor " + Quote(name) + " has " + std::to_string(tensor->row_count) +
                 " rows of " + std::to_string(tensor->row_length()) +
                 ": rows must be a multiple of 8, and both at most " + std::to_string(kMaxExtent)};
  }
  Q41Layer layer;
  layer.k = static_cast<int>(tensor->row_length());
  layer.n = static_cast<int>(tensor->row_count);
  const size_t n = layer.n, groups = layer.k / kGroup;
  layer.codes.resize(layer.k * n);
  layer.scales.resize(groups * n);
  layer.minima.resize(groups * n);
  for (size_t column = 0; column < n; ++column) {
    for (size_t group = 0; group < groups; ++group) {
      const Q41Block block = ReadQ41Block(tensor->Row(column).subspan(group * 20, 20));
      if (!HalfIsFinite(block.scale) || !HalfIsFinite(block.minimum)) {
        return Error{"Row " + std::to_string(column) + " of tensor " + Quote(name) +
                     " has a scale or minimum that is not finite"};
      }
      layer.scales[group * n + column] = block.scale;
      layer.minima[group * n + column] = block.minimum;
      for (size_t i = 0; i < kGroup; ++i) {
        layer.codes[(group * kGroup + i) * n + column] = block.codes[i];
      }
    }
  }
  return layer;
}

Result<HalfMatrix> ReadActivations(const GgufFile& file) {
  const GgufTensor* embedding = file.FindTensor(kEmbeddingName);
  if (embedding == nullptr) return Missing(kEmbeddingName);
  const GgufTensor* norm_tensor = file.FindTensor(kNormName);
  if (norm_tensor == nullptr) return Missing(kNormName);
  const Result<std::vector<double>> norm = DecodeRow(*norm_tensor, 0);
  if (!norm.ok()) return norm.error();
  if (norm->size() != embedding->row_length()) {
    return Error{"Tensors " + Quote(kEmbeddingName) + " and " + Quote(kNormName) +
                 " have rows of different lengths"};
  }
  const Result<std::vector<uint64_t>> rows = PromptRows(file);
  if (!rows.ok()) return rows.error();

  HalfMatrix activations;
  activations.rows = kTokenCount;
  activations.columns = static_cast<int>(norm->size());
  for (const uint64_t row : *rows) {
    const Result<std::vector<double>> x = DecodeRow(*embedding, row);
    if (!x.ok()) return x.error();
    double squares = 0;
    for (const double value : *x) squares += value * value;
    const double scale = 1 / std::sqrt(squares / static_cast<double>(x->size()) + kNormEpsilon);
    for (size_t i = 0; i < x->size(); ++i) {
      activations.values.push_back(DoubleToHalf((*x)[i] * scale * (*norm)[i]));
    }
  }
  return activations;
}

}  // namespace quickstart

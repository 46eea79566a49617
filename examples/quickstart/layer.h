// The real input of the example: one feed-forward projection of SmolLM2-135M-Instruct, and
// activations for it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "gguf.h"
#include "result.h"

namespace quickstart {

// Block 14, the middle one of 30: up projection from 576 features (K) to 1536 (N).
inline constexpr std::string_view kWeightName = "blk.14.ffn_up.weight";
inline constexpr std::string_view kNormName = "blk.14.ffn_norm.weight";
inline constexpr std::string_view kEmbeddingName = "token_embd.weight";

// The consecutive k that share a scale, in Q4_1 and in the i6 weights made from it.
inline constexpr int kGroup = 32;

// Q4_1 weights exactly as the file has them, transposed to [K, N]:
// w[i, j] = scales[i / 32, j] * codes[i, j] + minima[i / 32, j].
struct Q41Layer {
  int k = 0;  // a multiple of 32
  int n = 0;  // a multiple of 8
  std::vector<uint8_t> codes;    // [k, n], 0 to 15
  std::vector<uint16_t> scales;  // f16 [k / 32, n]
  std::vector<uint16_t> minima;  // f16 [k / 32, n]
};

struct HalfMatrix {
  int rows = 0;
  int columns = 0;
  std::vector<uint16_t> values;  // f16 [rows, columns]
};

// The tensor `name` of `file`. An error when it is missing, is not a Q4_1 matrix of whole tiles,
// or has a scale or minimum that is not finite.
Result<Q41Layer> ReadQ41Layer(const GgufFile& file, std::string_view name);

// f16 activations [16, K] for the sentence of prompt.h, one row a token: its embedding x, then as
// the model's own feed-forward norm does, x / sqrt(mean(x^2) + 1e-5) * norm, rounded to f16 at the
// end. (In the model the block sees the residual stream of 14 blocks there; the embedding is its
// first summand.)
Result<HalfMatrix> ReadActivations(const GgufFile& file);

}  // namespace quickstart

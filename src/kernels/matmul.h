// Matrix products with low-precision weights.
//
//     c[m, n] = sum over k of a[m, k] * (w[k, n] * scale[k / group, n])
//
// The weights are stored tile by tile as the bytes that the threads hold when a tile is an mma
// operand (the weight transform of layouts.md), so that a thread loads its bytes and views them as
// its elements. A tile is 32 deep: with 8 elements a thread, every width from 1 to 8 bits gives
// whole bytes.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "ir/program.h"
#include "layout/register_layout.h"
#include "types/data_type.h"

namespace tilus::kernels {

struct MatmulConfig {
  DataType weight = kU8;         // 1 to 8 bits, any kind
  DataType activation = kF16;    // f16 or bf16: of a, of the scales and of c
  int64_t n = 0;                 // columns of w, a multiple of tile_n()
  int64_t k = 0;                 // rows of w, a multiple of 32
  int64_t group = 0;             // rows of w that share a scale, a multiple of 32; 0 = k
  int warps = 4;                 // each has 8 columns of the block's tile
  int unroll = 2;                // k tiles a round of the loop

  static constexpr int64_t kTileM = 16;
  static constexpr int64_t kTileK = 32;
  int64_t tile_n() const { return int64_t{8} * warps; }
};

// The register layout of a weight tile [32, tile_n], the key of the weight transform.
absl::StatusOr<RegisterLayout> WeightTileLayout(const MatmulConfig& config);

// matmul(m: i32, a: *activation [m, k], w: *u8 [k / 32, n / tile_n, bytes of a tile],
//        scales: *activation [k / group, n], c: *activation [m, n]); grid ceil(m / 16) x n / tile_n.
absl::StatusOr<ir::Program> MatmulProgram(const MatmulConfig& config);

// pack(w: *weight [k, n] dense, packed: *u8): the weight transform as a program.
absl::StatusOr<ir::Program> PackWeightsProgram(const MatmulConfig& config);

}  // namespace tilus::kernels

#include "kernels/matmul.h"

#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "ir/builder.h"
#include "layout/layout_expression.h"

namespace tilus::kernels {
namespace {

using ir::At;
using ir::Opcode;
using ir::ProgramBuilder;
using ir::Scalar;
using ir::TensorHandle;
using ir::TensorType;

constexpr char kFragmentA[] = "column_local(2,2).spatial(8,4).local(1,2)";
constexpr char kFragmentB[] = "local(2,1).column_spatial(4,8).local(2,1)";
constexpr char kFragmentC[] = "local(2,1).spatial(8,4).local(1,2)";

absl::Status Refuse(absl::string_view message, absl::string_view hint) {
  return MakeError(DiagId::kInvalidArgument, message, hint);
}

absl::Status Check(const MatmulConfig& config) {
  if (config.weight.bits() > 8 || config.weight.is_bool()) {
    return Refuse(absl::StrCat("weights of type ", config.weight.name(), " are not low precision"),
                  "use a type of 1 to 8 bits");
  }
  if (config.activation != kF16 && config.activation != kBF16) {
    return Refuse(absl::StrCat("activations of type ", config.activation.name()), "use f16 or bf16");
  }
  if (config.warps < 1 || config.warps > 32 || config.unroll < 1) {
    return Refuse(absl::StrCat(config.warps, " warps, unrolled ", config.unroll, " times"),
                  "use 1 to 32 warps and at least one copy of the loop");
  }
  if (config.n < 1 || config.n % config.tile_n() != 0 || config.k < 1 ||
      config.k % MatmulConfig::kTileK != 0) {
    return Refuse(absl::StrCat("a weight matrix of ", config.k, " x ", config.n),
                  absl::StrCat("its rows are a multiple of ", MatmulConfig::kTileK,
                               ", its columns of ", config.tile_n()));
  }
  if (config.group < 0 || config.group % MatmulConfig::kTileK != 0 ||
      (config.group > 0 && config.k % config.group != 0)) {
    return Refuse(absl::StrCat("groups of ", config.group, " rows in ", config.k),
                  absl::StrCat("a group is a multiple of ", MatmulConfig::kTileK,
                               " and divides the rows"));
  }
  return absl::OkStatus();
}

// Warps side by side over the columns; two fragments along k.
std::string LayoutB(const MatmulConfig& config) {
  return absl::StrCat("spatial(1,", config.warps, ").local(2,1).", kFragmentB);
}
std::string LayoutA(const MatmulConfig& config) {
  const std::string warps =
      config.warps > 1 ? absl::StrCat("replicated(", config.warps, ").") : "";
  return absl::StrCat(warps, "local(1,2).", kFragmentA);
}
std::string LayoutC(const MatmulConfig& config) {
  return absl::StrCat("spatial(1,", config.warps, ").", kFragmentC);
}

// What a thread holds of a tile: 8 elements of `bits` bits are `bits` bytes.
std::string LayoutBytes(const MatmulConfig& config) {
  const int64_t bytes = config.weight.bits();
  const int64_t inner = std::gcd(bytes, int64_t{16});
  return absl::StrCat("local(", bytes / inner, ").spatial(", 32 * config.warps, ").local(", inner,
                      ")");
}

int64_t TileBytes(const MatmulConfig& config) {
  return config.weight.bits() * int64_t{32} * config.warps;
}

}  // namespace

absl::StatusOr<RegisterLayout> WeightTileLayout(const MatmulConfig& config) {
  TILUS_RETURN_IF_ERROR(Check(config));
  return ParseLayout(LayoutB(config));
}

absl::StatusOr<ir::Program> MatmulProgram(const MatmulConfig& config) {
  TILUS_RETURN_IF_ERROR(Check(config));
  const int64_t tile_m = MatmulConfig::kTileM, tile_k = MatmulConfig::kTileK;
  const int64_t tile_n = config.tile_n();
  const int64_t group = config.group > 0 ? config.group : config.k;
  const DataType type = config.activation;

  ProgramBuilder b(absl::StrCat("matmul_", config.weight.name(), "_", type.name()), config.warps);
  const Scalar m = b.Param("m", kI32);
  const Scalar a = b.Pointer("a", type), w = b.Pointer("w", kU8);
  const Scalar scales = b.Pointer("scales", type), c = b.Pointer("c", type);
  const Scalar n = b.Const("N", Scalar(static_cast<int>(config.n)));
  const Scalar k = b.Const("K", Scalar(static_cast<int>(config.k)));
  b.Layout("mma_a", LayoutA(config));
  b.Layout("mma_b", LayoutB(config));
  b.Layout("mma_c", LayoutC(config));
  b.Grid({CeilDiv(m, Scalar(tile_m)), n / Scalar(tile_n)});
  const std::vector<Scalar> block = b.BlockIndices({"bi", "bj"});

  const TensorHandle ga = b.GlobalView("ga", a, {type, {m, k}});
  const TensorHandle gw = b.GlobalView(
      "gw", w, {kU8, {k / Scalar(tile_k), n / Scalar(tile_n), Scalar(TileBytes(config))}});
  const TensorHandle gs =
      b.GlobalView("gs", scales, {type, {Scalar(config.k / group), n}});
  const TensorHandle gc = b.GlobalView("gc", c, {type, {m, n}});
  const TensorHandle acc =
      b.Register("acc", Scalar(0.0), {kF32, {Scalar(tile_m), Scalar(tile_n)}, "mma_c"});
  ir::LoopOptions loop;
  loop.unroll = config.unroll;
  b.For("kt", 0, k / Scalar(tile_k), [&](const Scalar& kt) {
    const TensorHandle bytes = b.LoadGlobal("bytes", At(gw, {kt, block[1], 0}),
                                            {kU8, {Scalar(TileBytes(config))}, LayoutBytes(config)});
    const TensorHandle scale =
        b.LoadGlobal("scale", At(gs, {kt / Scalar(group / tile_k), block[1] * Scalar(tile_n)}),
                     {type, {1, Scalar(tile_n)}});
    const TensorHandle xa =
        b.LoadGlobal("xa", At(ga, {block[0] * Scalar(tile_m), kt * Scalar(tile_k)}),
                     {type, {Scalar(tile_m), Scalar(tile_k)}, "mma_a"});
    const TensorHandle codes =
        b.View("codes", bytes, {config.weight, {Scalar(tile_k), Scalar(tile_n)}, "mma_b"});
    const TensorHandle values = b.Cast("values", codes, {type});
    const TensorHandle xb = b.Apply("xb", Opcode::kMul, {values, scale});
    b.Dot(acc, xa, xb, acc);
  }, loop);
  const TensorHandle out = b.Cast("out", acc, {type});
  b.StoreGlobal(out, At(gc, {block[0] * Scalar(tile_m), block[1] * Scalar(tile_n)}));
  return b.Build();
}

absl::StatusOr<ir::Program> PackWeightsProgram(const MatmulConfig& config) {
  TILUS_RETURN_IF_ERROR(Check(config));
  const int64_t tile_k = MatmulConfig::kTileK, tile_n = config.tile_n();
  ProgramBuilder b(absl::StrCat("pack_", config.weight.name()), config.warps);
  const Scalar w = b.Pointer("w", config.weight), packed = b.Pointer("packed", kU8);
  const Scalar n = b.Const("N", Scalar(static_cast<int>(config.n)));
  const Scalar k = b.Const("K", Scalar(static_cast<int>(config.k)));
  b.Layout("mma_b", LayoutB(config));
  b.Grid({k / Scalar(tile_k), n / Scalar(tile_n)});
  const std::vector<Scalar> block = b.BlockIndices({"bi", "bj"});
  const TensorHandle gw = b.GlobalView("gw", w, {config.weight, {k, n}});
  const TensorHandle gp = b.GlobalView(
      "gp", packed, {kU8, {k / Scalar(tile_k), n / Scalar(tile_n), Scalar(TileBytes(config))}});
  const TensorHandle tile =
      b.LoadGlobal("tile", At(gw, {block[0] * Scalar(tile_k), block[1] * Scalar(tile_n)}),
                   {config.weight, {Scalar(tile_k), Scalar(tile_n)}, "mma_b"});
  const TensorHandle bytes =
      b.View("bytes", tile, {kU8, {Scalar(TileBytes(config))}, LayoutBytes(config)});
  b.StoreGlobal(bytes, At(gp, {block[0], block[1], 0}));
  return b.Build();
}

}  // namespace tilus::kernels

// Loads and stores of global memory.
#include "lower/context.h"
#include "lower/families.h"
#include "lower/tile_transfer.h"

namespace tilus::lower {

absl::Status LowerLoadGlobal(Context& ctx, const ir::Instruction& instruction) {
  const RegisterLayout& layout = *ctx.tensor(instruction.result).layout;
  TileAddress address(&ctx, std::get<ir::TensorOperand>(instruction.operands[0]), instruction.dims,
                      layout.shape(), ThreadCoordinatesOf(ctx, layout));
  ctx.CommitResult(instruction,
                   LoadTile(ctx, address, LocalParts(layout), DestinationWords(ctx, instruction),
                            HintOf(instruction.cache)));
  return absl::OkStatus();
}

absl::Status LowerStoreGlobal(Context& ctx, const ir::Instruction& instruction) {
  const ir::TensorId source = ir::TensorOf(instruction.operands[0]);
  const RegisterLayout& layout = *ctx.tensor(source).layout;
  TileAddress address(&ctx, std::get<ir::TensorOperand>(instruction.operands[1]), instruction.dims,
                      layout.shape(), ThreadCoordinatesOf(ctx, layout));
  StoreTile(ctx, address, LocalParts(layout), ctx.Words(source), OwnerOf(ctx, layout),
            HintOf(instruction.cache));
  return absl::OkStatus();
}

}  // namespace tilus::lower

// Loads and stores of shared memory.
#include <limits>
#include <optional>

#include "lower/context.h"
#include "lower/families.h"
#include "lower/ldmatrix.h"
#include "lower/tile_transfer.h"
#include "lower/vectorize.h"

namespace tilus::lower {
namespace {

// Instructions that the element-for-element path takes.
int64_t Cost(const TileAddress& address, absl::Span<const std::vector<int64_t>> locals) {
  const std::optional<VectorPlan> plan = PlanVectors(address, locals);
  if (!plan) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(locals.size()) * address.bits() / (int64_t{8} * plan->bytes);
}

}  // namespace

absl::Status LowerLoadShared(Context& ctx, const ir::Instruction& instruction) {
  const RegisterLayout& layout = *ctx.tensor(instruction.result).layout;
  TileAddress address(&ctx, std::get<ir::TensorOperand>(instruction.operands[0]), instruction.dims,
                      layout.shape(), ThreadCoordinatesOf(ctx, layout));
  const std::vector<std::vector<int64_t>> locals = LocalParts(layout);
  const RegisterFile destination = DestinationWords(ctx, instruction);
  std::optional<RegisterFile> loaded =
      LoadByLdmatrix(ctx, instruction, destination, Cost(address, locals));
  if (!loaded) loaded = LoadTile(ctx, address, locals, destination, {});
  ctx.CommitResult(instruction, *loaded);
  return absl::OkStatus();
}

absl::Status LowerStoreShared(Context& ctx, const ir::Instruction& instruction) {
  const ir::TensorId source = ir::TensorOf(instruction.operands[0]);
  const RegisterLayout& layout = *ctx.tensor(source).layout;
  TileAddress address(&ctx, std::get<ir::TensorOperand>(instruction.operands[1]), instruction.dims,
                      layout.shape(), ThreadCoordinatesOf(ctx, layout));
  StoreTile(ctx, address, LocalParts(layout), ctx.Words(source), OwnerOf(ctx, layout), {});
  return absl::OkStatus();
}

}  // namespace tilus::lower

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "interpret/execution.h"
#include "types/codec.h"
#include "types/packing.h"

namespace tilus::interpret {
namespace {

std::vector<int64_t> RowMajorStrides(const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

}  // namespace

IndexTable::IndexTable(const RegisterLayout& layout)
    : rank(layout.rank()), threads(layout.num_threads()), locals(layout.locals_per_thread()) {
  indices.resize(static_cast<size_t>(threads * locals * rank));
  std::vector<std::vector<int64_t>> local_parts;
  for (int64_t i = 0; i < locals; ++i) local_parts.push_back(layout.LocalPart(i));
  size_t at = 0;
  for (int64_t t = 0; t < threads; ++t) {
    const std::vector<int64_t> thread_part = layout.SpatialPart(t);
    for (int64_t i = 0; i < locals; ++i) {
      for (size_t d = 0; d < static_cast<size_t>(rank); ++d) {
        indices[at++] = static_cast<int32_t>(thread_part[d] + local_parts[static_cast<size_t>(i)][d]);
      }
    }
  }
}

const IndexTable& Execution::TableOf(ir::TensorId id) {
  std::unique_ptr<IndexTable>& table = tables_[static_cast<size_t>(id)];
  if (!table) table = std::make_unique<IndexTable>(*tensor(id).layout);
  return *table;
}

absl::Status Execution::GlobalView(const ir::Instruction& instruction) {
  const ir::VarId pointer = ir::ScalarOf(instruction.operands[0])->var;
  TensorValue& view = value(instruction.result);
  const ir::Tensor& type = tensor(instruction.result);
  view.base = reinterpret_cast<uint8_t*>(scalars_.Get(pointer));
  for (size_t i = 0; i < program_.params.size(); ++i) {
    if (program_.params[i] == pointer) view.bytes = arguments_[i].bytes;
  }
  view.extents.clear();
  for (const ir::ExprPtr& extent : type.shape) view.extents.push_back(scalars_.Int(*extent));
  if (type.decl.strides.empty()) {
    view.strides = RowMajorStrides(view.extents);
  } else {
    view.strides.clear();
    for (const ir::ExprPtr& stride : type.decl.strides) view.strides.push_back(scalars_.Int(*stride));
  }
  return absl::OkStatus();
}

absl::Status Execution::AllocGlobal(const ir::Instruction& instruction) {
  const ir::Tensor& type = tensor(instruction.result);
  TensorValue& workspace = value(instruction.result);
  workspace.base =
      static_cast<uint8_t*>(options_.workspace) + scalars_.Int(*type.workspace_offset);
  workspace.extents.clear();
  for (const ir::ExprPtr& extent : type.shape) workspace.extents.push_back(scalars_.Int(*extent));
  workspace.strides = RowMajorStrides(workspace.extents);
  return absl::OkStatus();
}

// The interpreter keeps shared tensors row-major: how they are laid out is not part of the meaning.
absl::Status Execution::AllocShared(const ir::Instruction& instruction) {
  const ir::Tensor& type = tensor(instruction.result);
  TensorValue& memory = value(instruction.result);
  memory.extents = type.extents;
  memory.strides = RowMajorStrides(type.extents);
  shared_storage_[static_cast<size_t>(instruction.result)].assign(
      static_cast<size_t>(PackedBytes(Product(type.extents), type.dtype.bits())), 0);
  memory.base = shared_storage_[static_cast<size_t>(instruction.result)].data();
  return absl::OkStatus();
}

Tile Execution::TileOf(const ir::Operand& operand, const std::optional<std::vector<int>>& dims,
                       size_t tile_rank) {
  const auto& access = std::get<ir::TensorOperand>(operand);
  const TensorValue& memory = value(access.tensor);
  std::vector<int64_t> offsets(memory.extents.size(), 0);
  for (size_t d = 0; d < access.offsets.size(); ++d) offsets[d] = scalars_.Int(*access.offsets[d]);
  std::vector<int> mapped;
  if (dims) {
    mapped = *dims;
  } else {
    mapped.resize(tile_rank);
    std::iota(mapped.begin(), mapped.end(), static_cast<int>(memory.extents.size() - tile_rank));
  }
  return Tile(memory, tensor(access.tensor).dtype, std::move(offsets), std::move(mapped));
}

absl::Status Execution::OutOfBuffer(const ir::Instruction& instruction, ir::TensorId id,
                                    absl::Span<const int32_t> index, int64_t bit_offset) const {
  return Error(DiagId::kOutOfBuffer,
               absl::StrCat(ir::InfoOf(instruction.opcode).name, " reaches byte ", bit_offset / 8,
                            " of ", tensor(id).name, ", whose buffer has ",
                            values_[static_cast<size_t>(id)].bytes, " bytes (element [",
                            absl::StrJoin(index, ", "), "] of the tile, thread block [",
                            absl::StrJoin(block_, ", "), "])"),
               "pass a larger buffer, or give the tensor its true shape");
}

absl::Status Execution::Load(const ir::Instruction& instruction) {
  const IndexTable& table = TableOf(instruction.result);
  const Tile tile = TileOf(instruction.operands[0], instruction.dims,
                           static_cast<size_t>(table.rank));
  std::vector<uint64_t> codes(static_cast<size_t>(table.threads * table.locals), 0);
  for (size_t slot = 0; slot < codes.size(); ++slot) {
    const absl::Span<const int32_t> index = table.At(static_cast<int64_t>(slot));
    const std::optional<int64_t> bits = tile.BitOffset(index);
    if (!bits) continue;
    if (!tile.InBuffer(*bits)) {
      return OutOfBuffer(instruction, ir::TensorOf(instruction.operands[0]), index, *bits);
    }
    codes[slot] = tile.Read(*bits);
  }
  value(instruction.result).codes = std::move(codes);
  return absl::OkStatus();
}

absl::Status Execution::Store(const ir::Instruction& instruction) {
  const ir::TensorId source = ir::TensorOf(instruction.operands[0]);
  const IndexTable& table = TableOf(source);
  const Tile tile = TileOf(instruction.operands[1], instruction.dims,
                           static_cast<size_t>(table.rank));
  const std::vector<uint64_t>& codes = value(source).codes;
  for (size_t slot = 0; slot < codes.size(); ++slot) {
    const absl::Span<const int32_t> index = table.At(static_cast<int64_t>(slot));
    const std::optional<int64_t> bits = tile.BitOffset(index);
    if (!bits) continue;
    if (!tile.InBuffer(*bits)) {
      return OutOfBuffer(instruction, ir::TensorOf(instruction.operands[1]), index, *bits);
    }
    tile.Write(*bits, codes[slot]);
  }
  return absl::OkStatus();
}

absl::Status Execution::CopyAsync(const ir::Instruction& instruction) {
  std::vector<int64_t> extents;
  for (const ir::ExprPtr& extent : instruction.tile_shape) extents.push_back(scalars_.Int(*extent));
  if (extents.empty()) extents = value(ir::TensorOf(instruction.operands[1])).extents;
  const Tile from = TileOf(instruction.operands[0], instruction.dims, extents.size());
  const Tile to = TileOf(instruction.operands[1], std::nullopt, extents.size());
  std::vector<int32_t> index(extents.size(), 0);
  for (int64_t n = Product(extents); n > 0; --n) {
    const std::optional<int64_t> source = from.BitOffset(index);
    const std::optional<int64_t> target = to.BitOffset(index);
    if (source && !from.InBuffer(*source)) {
      return OutOfBuffer(instruction, ir::TensorOf(instruction.operands[0]), index, *source);
    }
    if (target) to.Write(*target, source ? from.Read(*source) : 0);
    for (size_t d = extents.size(); d-- > 0;) {
      if (++index[d] < extents[d]) break;
      index[d] = 0;
    }
  }
  return absl::OkStatus();
}

}  // namespace tilus::interpret

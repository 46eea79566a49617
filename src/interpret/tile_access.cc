#include "interpret/tile_access.h"

#include <utility>

#include "types/packing.h"

namespace tilus::interpret {

Tile::Tile(const TensorValue& memory, DataType dtype, std::vector<int64_t> offsets,
           std::vector<int> dims)
    : memory_(memory), dtype_(dtype), offsets_(std::move(offsets)), dims_(std::move(dims)) {}

std::optional<int64_t> Tile::BitOffset(absl::Span<const int32_t> index) const {
  int64_t element = 0;
  for (size_t d = 0; d < offsets_.size(); ++d) {
    int64_t coordinate = offsets_[d];
    for (size_t k = 0; k < dims_.size(); ++k) {
      if (dims_[k] == static_cast<int>(d)) coordinate += index[k];
    }
    if (coordinate < 0 || coordinate >= memory_.extents[d]) return std::nullopt;
    element += coordinate * memory_.strides[d];
  }
  return element * dtype_.bits();
}

uint64_t Tile::Read(int64_t bit_offset) const {
  return ReadBits(memory_.base, bit_offset, dtype_.bits());
}

void Tile::Write(int64_t bit_offset, uint64_t code) const {
  WriteBits(memory_.base, bit_offset, dtype_.bits(), code);
}

}  // namespace tilus::interpret

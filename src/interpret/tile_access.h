// Tiles of memory, element by element: the general path that defines what loads, stores and copies
// mean. Out of range elements read as 0 and drop writes.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "interpret/machine_state.h"
#include "types/data_type.h"

namespace tilus::interpret {

// A memory tensor with the tile's origin in it.
class Tile {
 public:
  // `dims` maps the tile's dimensions to the tensor's; offsets has one entry a tensor dimension.
  Tile(const TensorValue& memory, DataType dtype, std::vector<int64_t> offsets,
       std::vector<int> dims);

  // Where the element at `index` of the tile is, in bits from the base; nullopt out of range.
  std::optional<int64_t> BitOffset(absl::Span<const int32_t> index) const;
  // Whether an element that is in range lies in the buffer behind the tensor.
  bool InBuffer(int64_t bit_offset) const {
    return memory_.bytes < 0 ||
           (bit_offset >= 0 && bit_offset + dtype_.bits() <= memory_.bytes * 8);
  }
  uint64_t Read(int64_t bit_offset) const;
  void Write(int64_t bit_offset, uint64_t code) const;
  DataType dtype() const { return dtype_; }

 private:
  const TensorValue& memory_;
  DataType dtype_;
  std::vector<int64_t> offsets_;
  std::vector<int> dims_;
};

}  // namespace tilus::interpret

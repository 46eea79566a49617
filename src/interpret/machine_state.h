// What the interpreter keeps of one program while it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "ir/walk.h"
#include "layout/register_layout.h"

namespace tilus::interpret {

// The index of every (thread, local) of a register layout, thread-major: rank numbers each.
struct IndexTable {
  int rank = 0;
  int64_t threads = 0;
  int64_t locals = 0;
  std::vector<int32_t> indices;

  explicit IndexTable(const RegisterLayout& layout);
  absl::Span<const int32_t> At(int64_t slot) const {
    return absl::MakeConstSpan(indices.data() + slot * rank, static_cast<size_t>(rank));
  }
};

// A register tensor holds the code of every (thread, local), so that a view can reinterpret the
// bits of each thread. A memory tensor knows where it is.
struct TensorValue {
  std::vector<uint64_t> codes;  // register tensors: threads * locals

  uint8_t* base = nullptr;         // memory tensors
  int64_t bytes = -1;              // known size of the buffer behind base, or -1
  std::vector<int64_t> extents;    // memory tensors, evaluated
  std::vector<int64_t> strides;    // in elements
};

}  // namespace tilus::interpret

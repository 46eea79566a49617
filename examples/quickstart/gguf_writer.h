// Writes GGUF files, version 3: enough of the format for the excerpt and for tests of the reader.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "gguf.h"

namespace quickstart {

class GgufWriter {
 public:
  void AddU32(std::string_view key, uint32_t value);
  void AddText(std::string_view key, std::string_view value);
  void AddU32Array(std::string_view key, std::span<const uint32_t> values);
  void AddTextArray(std::string_view key, std::span<const std::string_view> values);
  // `extents` are fastest first; `data` is copied.
  void AddTensor(std::string_view name, TensorType type, std::span<const uint64_t> extents,
                 Bytes data);

  // The whole file, with the default alignment of 32.
  std::vector<uint8_t> Finish() const;

 private:
  std::vector<uint8_t> pairs_, entries_, data_;
  uint64_t pair_count_ = 0, tensor_count_ = 0;
};

}  // namespace quickstart

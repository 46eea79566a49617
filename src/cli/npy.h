// NumPy's .npy files: one array, versions 1 to 3 of the format, C order, little-endian.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilus::cli {

struct NpyArray {
  std::string descr;            // element type as numpy spells it: "<f4", "|u1"
  std::vector<uint64_t> shape;  // may be empty: one element
  std::vector<uint8_t> data;    // C order; product of shape times item_bytes long
  uint64_t item_bytes = 0;
  std::string source;           // what findings call it

  uint64_t elements() const { return data.size() / item_bytes; }
};

// Reads a file, or stdin for "-". Throws Exit::kEnvironment for a file that cannot be read, and
// Exit::kInput for bytes that are no such array, or are fewer or more than its header says.
NpyArray ReadNpy(const std::string& path);

// The same from bytes.
NpyArray ParseNpy(std::vector<uint8_t> bytes, const std::string& source);

// A file, version 1, with `data` as its elements.
std::string NpyFile(std::string_view descr, const std::vector<uint64_t>& shape,
                    std::string_view data);

// "(8, 16)", "(8,)", "()": as numpy writes shapes.
std::string NpyShapeText(const std::vector<uint64_t>& shape);

}  // namespace tilus::cli

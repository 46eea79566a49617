// A reader of GGUF files, versions 2 and 3, little-endian.
//
// A file is, one after the other:
//   "GGUF" | u32 version | u64 tensor count | u64 pair count
//   pairs:   string key | u32 value type | value
//   tensors: string name | u32 rank | u64 extent[rank] | u32 data type | u64 offset
//   padding to general.alignment (32 when absent) | tensor data, each at its offset from here
// where a string is u64 length | bytes, and an array value is u32 element type | u64 count |
// elements. Extents are given fastest first: [576, 1536] is 1536 rows of 576.
//
// The file is not trusted: every count and offset is checked against the bytes that are left
// before anything is read or allocated, and what is wrong comes back as one sentence. Nothing is
// copied out of the file; a GgufFile and all that it hands out are views of the caller's bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "result.h"

namespace quickstart {

using Bytes = std::span<const uint8_t>;

enum class GgufType : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

// Tensor data types that have a name here; files may use any type of BlockOf below.
enum class TensorType : uint32_t { kF32 = 0, kF16 = 1, kQ4_1 = 3, kQ8_0 = 8 };

// One scalar of a pair or an array.
struct GgufScalar {
  GgufType type = GgufType::kU8;
  uint64_t bits = 0;  // the stored bytes, zero-extended

  // The value as an integer; nothing when it is a float or does not fit.
  std::optional<uint64_t> Unsigned() const;
  std::optional<int64_t> Signed() const;
  // The value as a double; nothing when it is an integer or a bool.
  std::optional<double> Float() const;
};

struct GgufArray {
  GgufType element = GgufType::kU8;
  uint64_t count = 0;
  Bytes packed;                           // scalar elements, as stored
  std::vector<std::string_view> strings;  // element == kString
  std::vector<GgufArray> arrays;          // element == kArray; their elements are not arrays

  // Element `index` < count of an array of scalars.
  GgufScalar Scalar(uint64_t index) const;
};

struct GgufValue {
  GgufType type = GgufType::kU8;
  GgufScalar scalar;      // type is neither kString nor kArray
  std::string_view text;  // type == kString
  GgufArray array;        // type == kArray
};

struct GgufTensor {
  std::string_view name;
  TensorType type = TensorType::kF32;
  std::vector<uint64_t> extents;  // 1 to 4, fastest first, none zero
  uint64_t row_count = 0;         // product of all extents but the first
  uint64_t row_bytes = 0;
  Bytes data;  // row_count * row_bytes bytes

  uint64_t row_length() const { return extents[0]; }
  // Row `index` < row_count.
  Bytes Row(uint64_t index) const { return data.subspan(index * row_bytes, row_bytes); }
};

// The elements of one block of a tensor data type, and the bytes it is stored in.
struct TensorBlock {
  uint32_t elements = 0;
  uint32_t bytes = 0;
};
// Nothing for a type that this reader does not know.
std::optional<TensorBlock> BlockOf(TensorType type);
// "Q4_1", or "type 77".
std::string TensorTypeName(TensorType type);
// The bytes of one scalar value, 0 for strings, arrays and unknown types.
uint32_t ScalarBytes(GgufType type);
// `text` in quotes with unprintable bytes escaped and a long tail cut, fit for a message.
std::string Quote(std::string_view text);

class GgufFile {
 public:
  // `bytes` must outlive the result.
  static Result<GgufFile> Parse(Bytes bytes);

  uint32_t version() const { return version_; }
  uint64_t alignment() const { return alignment_; }
  // Where tensor data begins.
  uint64_t data_begin() const { return data_begin_; }
  const std::map<std::string_view, GgufValue>& values() const { return values_; }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }

  // Null when absent.
  const GgufValue* FindValue(std::string_view key) const;
  const GgufTensor* FindTensor(std::string_view name) const;
  // The text of a string value, empty when the key is absent or not a string.
  std::string_view Text(std::string_view key) const;

 private:
  uint32_t version_ = 0;
  uint64_t alignment_ = 32;
  uint64_t data_begin_ = 0;
  std::map<std::string_view, GgufValue> values_;
  std::vector<GgufTensor> tensors_;  // in the file's order
  std::map<std::string_view, size_t> tensor_index_;
};

}  // namespace quickstart

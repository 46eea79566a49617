#include "gguf.h"

#include <bit>
#include <cstring>

namespace quickstart {
namespace {

constexpr uint32_t kMaxRank = 4;
constexpr uint64_t kMaxAlignment = uint64_t{1} << 20;
// The fewest bytes that a pair (empty key, u8 value) and a tensor entry (empty name, one extent)
// take: a count above bytes_left / this is refused before anything is reserved for it.
constexpr uint64_t kMinPairBytes = 8 + 4 + 1;
constexpr uint64_t kMinTensorBytes = 8 + 4 + 8 + 4 + 8;

struct TensorTypeRow {
  uint32_t type;
  const char* name;
  TensorBlock block;
};

constexpr TensorTypeRow kTensorTypes[] = {
    {0, "F32", {1, 4}},       {1, "F16", {1, 2}},       {2, "Q4_0", {32, 18}},
    {3, "Q4_1", {32, 20}},    {6, "Q5_0", {32, 22}},    {7, "Q5_1", {32, 24}},
    {8, "Q8_0", {32, 34}},    {9, "Q8_1", {32, 36}},    {10, "Q2_K", {256, 84}},
    {11, "Q3_K", {256, 110}}, {12, "Q4_K", {256, 144}}, {13, "Q5_K", {256, 176}},
    {14, "Q6_K", {256, 210}}, {15, "Q8_K", {256, 292}}, {24, "I8", {1, 1}},
    {25, "I16", {1, 2}},      {26, "I32", {1, 4}},      {27, "I64", {1, 8}},
    {28, "F64", {1, 8}},      {30, "BF16", {1, 2}},
};

const TensorTypeRow* FindTensorType(TensorType type) {
  for (const TensorTypeRow& row : kTensorTypes) {
    if (row.type == static_cast<uint32_t>(type)) return &row;
  }
  return nullptr;
}

uint64_t LittleEndian(Bytes bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) value |= uint64_t{bytes[i]} << (8 * i);
  return value;
}

// Reads forward through the file. The first fault is kept, and every read after it gives zeros,
// so callers may check once for several reads; loops check at each turn.
class Cursor {
 public:
  explicit Cursor(Bytes bytes) : bytes_(bytes) {}

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  uint64_t position() const { return position_; }
  uint64_t left() const { return bytes_.size() - position_; }

  void Fail(std::string message) {
    if (ok()) error_ = std::move(message);
  }

  Bytes Take(uint64_t count, const std::string& what) {
    if (!ok()) return {};
    if (count > left()) {
      Fail("The GGUF file ends inside " + what + ": " + std::to_string(count) +
           " bytes are needed at byte " + std::to_string(position_) + " and " +
           std::to_string(left()) + " are left");
      return {};
    }
    const Bytes taken = bytes_.subspan(position_, count);
    position_ += count;
    return taken;
  }
  uint32_t U32(const std::string& what) {
    return static_cast<uint32_t>(LittleEndian(Take(4, what)));
  }
  uint64_t U64(const std::string& what) { return LittleEndian(Take(8, what)); }
  std::string_view String(const std::string& what) {
    const Bytes text = Take(U64(what), what);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }
  // A count of `things`, which take at least `min_bytes` each.
  uint64_t Count(uint64_t min_bytes, const std::string& things) {
    const uint64_t count = U64("the count of " + things);
    if (ok() && count > left() / min_bytes) {
      Fail("The GGUF file announces " + std::to_string(count) + " " + things + ", and the " +
           std::to_string(left()) + " bytes that are left cannot hold them");
    }
    return ok() ? count : 0;
  }

 private:
  Bytes bytes_;
  uint64_t position_ = 0;
  std::string error_;
};

GgufArray ReadArray(Cursor& cursor, const std::string& what, int depth) {
  GgufArray array;
  const uint32_t element = cursor.U32(what);
  array.element = static_cast<GgufType>(element);
  if (!cursor.ok()) return array;
  if (const uint32_t size = ScalarBytes(array.element); size != 0) {
    array.count = cursor.Count(size, "elements of " + what);
    array.packed = cursor.Take(array.count * size, what);
  } else if (array.element == GgufType::kString) {
    array.count = cursor.Count(8, "strings of " + what);
    array.strings.reserve(array.count);
    for (uint64_t i = 0; i < array.count && cursor.ok(); ++i) {
      array.strings.push_back(cursor.String(what));
    }
  } else if (array.element == GgufType::kArray && depth == 0) {
    array.count = cursor.Count(4 + 8, "arrays of " + what);
    for (uint64_t i = 0; i < array.count && cursor.ok(); ++i) {
      array.arrays.push_back(ReadArray(cursor, what, depth + 1));
    }
  } else if (array.element == GgufType::kArray) {
    cursor.Fail("In the GGUF file, " + what + " nests arrays deeper than one level");
  } else {
    cursor.Fail("In the GGUF file, " + what + " has elements of the unknown type " +
                std::to_string(element));
  }
  return array;
}

GgufValue ReadValue(Cursor& cursor, const std::string& what) {
  GgufValue value;
  const uint32_t type = cursor.U32(what);
  value.type = static_cast<GgufType>(type);
  if (!cursor.ok()) return value;
  if (const uint32_t size = ScalarBytes(value.type); size != 0) {
    value.scalar = {value.type, LittleEndian(cursor.Take(size, what))};
  } else if (value.type == GgufType::kString) {
    value.text = cursor.String(what);
  } else if (value.type == GgufType::kArray) {
    value.array = ReadArray(cursor, what, 0);
  } else {
    cursor.Fail("In the GGUF file, " + what + " has the unknown type " + std::to_string(type));
  }
  return value;
}

// Fills in everything of a tensor but its data, and gives the offset of that.
uint64_t ReadTensorEntry(Cursor& cursor, GgufTensor& tensor) {
  tensor.name = cursor.String("a tensor name");
  const std::string what = "tensor " + Quote(tensor.name);
  const uint32_t rank = cursor.U32(what);
  if (cursor.ok() && (rank == 0 || rank > kMaxRank)) {
    cursor.Fail("In the GGUF file, " + what + " has " + std::to_string(rank) +
                " dimensions, outside 1 to 4");
  }
  for (uint32_t i = 0; i < rank && cursor.ok(); ++i) {
    const uint64_t extent = cursor.U64(what);
    if (cursor.ok() && extent == 0) {
      cursor.Fail("In the GGUF file, " + what + " has a dimension of zero");
    }
    tensor.extents.push_back(extent);
  }
  tensor.type = static_cast<TensorType>(cursor.U32(what));
  const uint64_t offset = cursor.U64(what);
  if (!cursor.ok()) return 0;

  const std::optional<TensorBlock> block = BlockOf(tensor.type);
  if (!block) {
    cursor.Fail("In the GGUF file, " + what + " has the unknown data " +
                TensorTypeName(tensor.type));
    return 0;
  }
  if (tensor.row_length() % block->elements != 0) {
    cursor.Fail("In the GGUF file, " + what + " has rows of " +
                std::to_string(tensor.row_length()) + " elements, not a multiple of the " +
                std::to_string(block->elements) + " of a " + TensorTypeName(tensor.type) +
                " block");
    return 0;
  }
  bool overflow = __builtin_mul_overflow(tensor.row_length() / block->elements,
                                         uint64_t{block->bytes}, &tensor.row_bytes);
  tensor.row_count = 1;
  for (size_t i = 1; i < tensor.extents.size(); ++i) {
    overflow |= __builtin_mul_overflow(tensor.row_count, tensor.extents[i], &tensor.row_count);
  }
  uint64_t size = 0;
  overflow |= __builtin_mul_overflow(tensor.row_count, tensor.row_bytes, &size);
  if (overflow) cursor.Fail("In the GGUF file, the size of " + what + " overflows 64 bits");
  return offset;
}

void ReadPairs(Cursor& cursor, uint64_t count, std::map<std::string_view, GgufValue>& values) {
  for (uint64_t i = 0; i < count && cursor.ok(); ++i) {
    const std::string_view key = cursor.String("a metadata key");
    const std::string what = "the metadata value " + Quote(key);
    GgufValue value = ReadValue(cursor, what);
    if (cursor.ok() && !values.emplace(key, std::move(value)).second) {
      cursor.Fail("The GGUF file gives " + what + " twice");
    }
  }
}

// Gives each tensor its view of `data`; the first fault as a sentence, or empty.
std::string PlaceTensors(Bytes data, uint64_t alignment, const std::vector<uint64_t>& offsets,
                         std::vector<GgufTensor>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    GgufTensor& tensor = tensors[i];
    const uint64_t size = tensor.row_count * tensor.row_bytes;
    if (offsets[i] % alignment != 0) {
      return "In the GGUF file, tensor " + Quote(tensor.name) + " begins at " +
             std::to_string(offsets[i]) + ", not a multiple of the alignment " +
             std::to_string(alignment);
    }
    if (offsets[i] > data.size() || size > data.size() - offsets[i]) {
      return "The GGUF file ends inside the data of tensor " + Quote(tensor.name) + ": " +
             std::to_string(size) + " bytes at " + std::to_string(offsets[i]) + " of " +
             std::to_string(data.size());
    }
    tensor.data = data.subspan(offsets[i], size);
  }
  return {};
}

}  // namespace

uint32_t ScalarBytes(GgufType type) {
  switch (type) {
    case GgufType::kU8:
    case GgufType::kI8:
    case GgufType::kBool:
      return 1;
    case GgufType::kU16:
    case GgufType::kI16:
      return 2;
    case GgufType::kU32:
    case GgufType::kI32:
    case GgufType::kF32:
      return 4;
    case GgufType::kU64:
    case GgufType::kI64:
    case GgufType::kF64:
      return 8;
    default:
      return 0;
  }
}

std::optional<TensorBlock> BlockOf(TensorType type) {
  const TensorTypeRow* row = FindTensorType(type);
  return row == nullptr ? std::nullopt : std::optional<TensorBlock>(row->block);
}

std::string TensorTypeName(TensorType type) {
  const TensorTypeRow* row = FindTensorType(type);
  return row != nullptr ? row->name : "type " + std::to_string(static_cast<uint32_t>(type));
}

std::string Quote(std::string_view text) {
  constexpr size_t kLongest = 80;
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\') {
      out += c;
    } else {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out + (text.size() > kLongest ? "...\"" : "\"");
}

std::optional<int64_t> GgufScalar::Signed() const {
  switch (type) {
    case GgufType::kI8:
      return static_cast<int8_t>(bits);
    case GgufType::kI16:
      return static_cast<int16_t>(bits);
    case GgufType::kI32:
      return static_cast<int32_t>(bits);
    case GgufType::kI64:
      return static_cast<int64_t>(bits);
    case GgufType::kU8:
    case GgufType::kU16:
    case GgufType::kU32:
    case GgufType::kU64:
    case GgufType::kBool:
      if (bits > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
      return static_cast<int64_t>(bits);
    default:
      return std::nullopt;
  }
}

std::optional<uint64_t> GgufScalar::Unsigned() const {
  if (type == GgufType::kU64) return bits;
  const std::optional<int64_t> value = Signed();
  if (!value || *value < 0) return std::nullopt;
  return static_cast<uint64_t>(*value);
}

std::optional<double> GgufScalar::Float() const {
  if (type == GgufType::kF32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (type == GgufType::kF64) return std::bit_cast<double>(bits);
  return std::nullopt;
}

GgufScalar GgufArray::Scalar(uint64_t index) const {
  const uint32_t size = ScalarBytes(element);
  return {element, LittleEndian(packed.subspan(index * size, size))};
}

Result<GgufFile> GgufFile::Parse(Bytes bytes) {
  GgufFile file;
  Cursor cursor(bytes);
  const Bytes magic = cursor.Take(4, "the magic number");
  if (cursor.ok() && std::memcmp(magic.data(), "GGUF", 4) != 0) {
    return Error{"This is not a GGUF file: it does not begin with \"GGUF\""};
  }
  file.version_ = cursor.U32("the version");
  if (cursor.ok() && file.version_ != 2 && file.version_ != 3) {
    const bool swapped = file.version_ == 2u << 24 || file.version_ == 3u << 24;
    return Error{swapped ? "This GGUF file is big-endian, and only little-endian ones are read"
                         : "The GGUF file has version " + std::to_string(file.version_) +
                               ", and versions 2 and 3 are read"};
  }
  const uint64_t tensor_count = cursor.Count(kMinTensorBytes, "tensors");
  ReadPairs(cursor, cursor.Count(kMinPairBytes, "metadata pairs"), file.values_);
  if (const GgufValue* value = file.FindValue("general.alignment"); value != nullptr) {
    const uint64_t alignment = value->type == GgufType::kU32 ? value->scalar.bits : 0;
    if (alignment < 8 || alignment > kMaxAlignment || !std::has_single_bit(alignment)) {
      return Error{"In the GGUF file, general.alignment is not a u32 power of two from 8 to " +
                   std::to_string(kMaxAlignment)};
    }
    file.alignment_ = alignment;
  }

  std::vector<uint64_t> offsets;
  for (uint64_t i = 0; i < tensor_count && cursor.ok(); ++i) {
    GgufTensor& tensor = file.tensors_.emplace_back();
    offsets.push_back(ReadTensorEntry(cursor, tensor));
    if (cursor.ok() && !file.tensor_index_.emplace(tensor.name, i).second) {
      cursor.Fail("The GGUF file gives tensor " + Quote(tensor.name) + " twice");
    }
  }
  if (!cursor.ok()) return Error{cursor.error()};

  const uint64_t padding = -cursor.position() & (file.alignment_ - 1);
  file.data_begin_ = cursor.position() + padding;
  // A file without tensors may end at its last pair, before the padding.
  const Bytes data = file.data_begin_ <= bytes.size() ? bytes.subspan(file.data_begin_) : Bytes();
  const std::string fault = PlaceTensors(data, file.alignment_, offsets, file.tensors_);
  if (!fault.empty()) return Error{fault};
  return file;
}

const GgufValue* GgufFile::FindValue(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

const GgufTensor* GgufFile::FindTensor(std::string_view name) const {
  const auto found = tensor_index_.find(name);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second];
}

std::string_view GgufFile::Text(std::string_view key) const {
  const GgufValue* value = FindValue(key);
  return value != nullptr && value->type == GgufType::kString ? value->text : std::string_view();
}

}  // namespace quickstart

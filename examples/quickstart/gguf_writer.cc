#include "gguf_writer.h"

namespace quickstart {
namespace {

constexpr size_t kAlignment = 32;

void Put(std::vector<uint8_t>& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void PutText(std::vector<uint8_t>& out, std::string_view text) {
  Put(out, text.size(), 8);
  out.insert(out.end(), text.begin(), text.end());
}

void PutType(std::vector<uint8_t>& out, GgufType type) { Put(out, static_cast<uint32_t>(type), 4); }

void Pad(std::vector<uint8_t>& out) { out.resize((out.size() + kAlignment - 1) & -kAlignment); }

}  // namespace

void GgufWriter::AddU32(std::string_view key, uint32_t value) {
  ++pair_count_;
  PutText(pairs_, key);
  PutType(pairs_, GgufType::kU32);
  Put(pairs_, value, 4);
}

void GgufWriter::AddText(std::string_view key, std::string_view value) {
  ++pair_count_;
  PutText(pairs_, key);
  PutType(pairs_, GgufType::kString);
  PutText(pairs_, value);
}

void GgufWriter::AddU32Array(std::string_view key, std::span<const uint32_t> values) {
  ++pair_count_;
  PutText(pairs_, key);
  PutType(pairs_, GgufType::kArray);
  PutType(pairs_, GgufType::kU32);
  Put(pairs_, values.size(), 8);
  for (const uint32_t value : values) Put(pairs_, value, 4);
}

void GgufWriter::AddTextArray(std::string_view key, std::span<const std::string_view> values) {
  ++pair_count_;
  PutText(pairs_, key);
  PutType(pairs_, GgufType::kArray);
  PutType(pairs_, GgufType::kString);
  Put(pairs_, values.size(), 8);
  for (const std::string_view value : values) PutText(pairs_, value);
}

void GgufWriter::AddTensor(std::string_view name, TensorType type,
                           std::span<const uint64_t> extents, Bytes data) {
  ++tensor_count_;
  PutText(entries_, name);
  Put(entries_, extents.size(), 4);
  for (const uint64_t extent : extents) Put(entries_, extent, 8);
  Put(entries_, static_cast<uint32_t>(type), 4);
  Put(entries_, data_.size(), 8);
  data_.insert(data_.end(), data.begin(), data.end());
  Pad(data_);
}

std::vector<uint8_t> GgufWriter::Finish() const {
  std::vector<uint8_t> file = {'G', 'G', 'U', 'F'};
  Put(file, 3, 4);
  Put(file, tensor_count_, 8);
  Put(file, pair_count_, 8);
  file.insert(file.end(), pairs_.begin(), pairs_.end());
  file.insert(file.end(), entries_.begin(), entries_.end());
  Pad(file);
  file.insert(file.end(), data_.begin(), data_.end());
  return file;
}

}  // namespace quickstart

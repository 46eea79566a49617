#include "assemble/cubin.h"

#include <cstring>
#include <optional>
#include <unordered_map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"

namespace tilus::assemble {
namespace {

constexpr size_t kHeaderBytes = 64;
constexpr size_t kSectionBytes = 64;
constexpr size_t kSymbolBytes = 24;
constexpr uint16_t kMachineCuda = 190;
constexpr uint32_t kSymbolTable = 2;  // SHT_SYMTAB
constexpr uint32_t kNoBits = 8;       // SHT_NOBITS
constexpr uint32_t kCudaInfo = 0x70000000;
constexpr uint8_t kTypeFunction = 2;   // STT_FUNC
constexpr uint8_t kOtherEntry = 0x10;  // STO_CUDA_ENTRY
// From the ABI byte 0x41 on (CUDA 13) the architecture is one byte further up in e_flags.
constexpr uint8_t kNewAbi = 0x41;
// sm_90 and later: what .nv.shared of a kernel with shared memory begins with.
constexpr int64_t kReservedShared = 1024;

// EIATTR_*: format (1 none, 2 byte, 3 half, 4 sized), code, then the value.
constexpr uint8_t kFormatHalf = 3;
constexpr uint8_t kFormatSized = 4;
constexpr uint8_t kMaxThreads = 0x05;
constexpr uint8_t kFrameSize = 0x11;
constexpr uint8_t kMinStackSize = 0x12;
constexpr uint8_t kParameterSize = 0x19;
constexpr uint8_t kRegisterCount = 0x2f;

absl::Status Malformed(absl::string_view reason) {
  return MakeError(DiagId::kCubinMalformed, absl::StrCat("not a well-formed cubin: ", reason));
}

// Little-endian bytes with a bound on every access.
class Bytes {
 public:
  explicit Bytes(absl::string_view data) : data_(data) {}
  size_t size() const { return data_.size(); }

  std::optional<absl::string_view> Range(uint64_t offset, uint64_t size) const {
    if (offset > data_.size() || size > data_.size() - offset) return std::nullopt;
    return data_.substr(static_cast<size_t>(offset), static_cast<size_t>(size));
  }
  // The number at `offset`, 0 outside: for fields of a range that was checked.
  template <typename T>
  T At(size_t offset) const {
    T value = 0;
    if (const auto range = Range(offset, sizeof(T))) {
      std::memcpy(&value, range->data(), sizeof(T));
    }
    return value;
  }
  // The text at `offset` up to its zero byte.
  std::optional<absl::string_view> Text(uint64_t offset) const {
    if (offset >= data_.size()) return std::nullopt;
    const absl::string_view rest = data_.substr(static_cast<size_t>(offset));
    const size_t end = rest.find('\0');
    if (end == absl::string_view::npos) return std::nullopt;
    return rest.substr(0, end);
  }

 private:
  absl::string_view data_;
};

struct Section {
  absl::string_view name;
  uint32_t type = 0;
  uint32_t link = 0;
  uint32_t info = 0;
  int64_t size = 0;
  Bytes content{absl::string_view()};
};

struct Attribute {
  uint8_t code = 0;
  uint16_t half = 0;  // the value of the half format
  Bytes value{absl::string_view()};
};

class CubinReader {
 public:
  explicit CubinReader(absl::string_view cubin) : file_(cubin), budget_(cubin.size()) {}

  absl::StatusOr<ExecutableInfo> Read() {
    TILUS_RETURN_IF_ERROR(ReadHeader());
    TILUS_RETURN_IF_ERROR(ReadSections());
    TILUS_RETURN_IF_ERROR(ReadKernels());
    for (const Section& section : sections_) TILUS_RETURN_IF_ERROR(Apply(section));
    return std::move(info_);
  }

 private:
  absl::Status ReadHeader();
  absl::Status ReadSections();
  absl::Status ReadKernels();
  absl::Status Apply(const Section& section);
  absl::Status ApplyAttributes(const Section& section);
  void ApplyAttribute(const Attribute& attribute, KernelInfo* owner);

  // Hostile tables may point at the same bytes again and again; in all, no more are read than a
  // few times the file's size.
  bool Spend(size_t bytes) {
    if (bytes > budget_) return false;
    budget_ -= bytes;
    return true;
  }

  KernelInfo* KernelOf(const std::unordered_map<uint32_t, size_t>& map, uint32_t key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &info_.kernels[found->second];
  }

  Bytes file_;
  size_t budget_;
  ExecutableInfo info_;
  std::vector<Section> sections_;
  std::unordered_map<uint32_t, size_t> kernel_of_symbol_;
  std::unordered_map<uint32_t, size_t> kernel_of_section_;
};

absl::Status CubinReader::ReadHeader() {
  const auto header = file_.Range(0, kHeaderBytes);
  if (!header || !absl::StartsWith(*header, absl::string_view("\177ELF\2\1", 6))) {
    return Malformed("it does not begin with the header of a 64-bit ELF file");
  }
  if (file_.At<uint16_t>(18) != kMachineCuda) {
    return Malformed(absl::StrCat("its machine is ", file_.At<uint16_t>(18), ", not CUDA (190)"));
  }
  const uint32_t flags = file_.At<uint32_t>(48);
  info_.sm = static_cast<int>(file_.At<uint8_t>(7) >= kNewAbi ? (flags >> 8) & 0xff : flags & 0xff);
  return absl::OkStatus();
}

absl::Status CubinReader::ReadSections() {
  const uint64_t table = file_.At<uint64_t>(40);
  const size_t count = file_.At<uint16_t>(60);
  const size_t names_index = file_.At<uint16_t>(62);
  if (!file_.Range(table, count * kSectionBytes)) {
    return Malformed("its table of sections lies outside the file");
  }
  const size_t first = static_cast<size_t>(table);
  std::vector<uint32_t> name_offsets;
  for (size_t i = 0; i < count; ++i) {
    const size_t row = first + i * kSectionBytes;
    Section section;
    name_offsets.push_back(file_.At<uint32_t>(row));
    section.type = file_.At<uint32_t>(row + 4);
    section.link = file_.At<uint32_t>(row + 40);
    section.info = file_.At<uint32_t>(row + 44);
    const uint64_t size = file_.At<uint64_t>(row + 32);
    if (size > INT64_MAX) return Malformed(absl::StrCat("section ", i, " is too large"));
    section.size = static_cast<int64_t>(size);
    if (section.type != kNoBits) {
      const auto content = file_.Range(file_.At<uint64_t>(row + 24), size);
      if (!content) return Malformed(absl::StrCat("section ", i, " lies outside the file"));
      section.content = Bytes(*content);
    }
    sections_.push_back(section);
  }
  if (names_index >= count) return Malformed("it has no table of section names");
  for (size_t i = 0; i < count; ++i) {
    const auto name = sections_[names_index].content.Text(name_offsets[i]);
    if (!name) return Malformed(absl::StrCat("the name of section ", i, " has no end"));
    sections_[i].name = *name;
  }
  return absl::OkStatus();
}

// Kernels are the functions of the symbol table that are marked as entries.
absl::Status CubinReader::ReadKernels() {
  for (const Section& section : sections_) {
    if (section.type != kSymbolTable) continue;
    if (section.link >= sections_.size()) return Malformed("its symbols have no table of names");
    const Bytes& names = sections_[section.link].content;
    const size_t count = section.content.size() / kSymbolBytes;
    for (size_t i = 0; i < count; ++i) {
      const size_t row = i * kSymbolBytes;
      const uint8_t type = section.content.At<uint8_t>(row + 4) & 0xf;
      const uint32_t code = section.content.At<uint16_t>(row + 6);
      if (type != kTypeFunction || (section.content.At<uint8_t>(row + 5) & kOtherEntry) == 0) {
        continue;
      }
      const auto name = names.Text(section.content.At<uint32_t>(row));
      if (!name || code >= sections_.size() || !Spend(name->size())) {
        return Malformed(absl::StrCat("symbol ", i, " is not a kernel's"));
      }
      KernelInfo kernel;
      kernel.name = std::string(*name);
      kernel.code_bytes = sections_[code].size;
      kernel_of_symbol_[static_cast<uint32_t>(i)] = info_.kernels.size();
      kernel_of_section_[code] = info_.kernels.size();
      info_.kernels.push_back(std::move(kernel));
    }
    return absl::OkStatus();
  }
  return Malformed("it has no table of symbols");
}

absl::Status CubinReader::Apply(const Section& section) {
  if (section.type == kCudaInfo && absl::StartsWith(section.name, ".nv.info")) {
    return ApplyAttributes(section);
  }
  if (!absl::StartsWith(section.name, ".nv.shared.")) return absl::OkStatus();
  if (KernelInfo* kernel = KernelOf(kernel_of_section_, section.info)) {
    const bool reserves = info_.sm >= 90 && section.size >= kReservedShared;
    kernel->static_shared_bytes = section.size - (reserves ? kReservedShared : 0);
  }
  return absl::OkStatus();
}

absl::Status CubinReader::ApplyAttributes(const Section& section) {
  if (!Spend(section.content.size())) return Malformed("its attributes overlap");
  // .nv.info names the kernel in each attribute, .nv.info.<name> is all about one.
  KernelInfo* const owner = KernelOf(kernel_of_section_, section.info);
  size_t at = 0;
  while (at + 4 <= section.content.size()) {
    Attribute attribute;
    const uint8_t format = section.content.At<uint8_t>(at);
    attribute.code = section.content.At<uint8_t>(at + 1);
    attribute.half = section.content.At<uint16_t>(at + 2);
    at += 4;
    if (format == kFormatSized) {
      const auto value = section.content.Range(at, attribute.half);
      if (!value) return Malformed("an attribute is cut short");
      attribute.value = Bytes(*value);
      at += attribute.half;
    } else if (format < 1 || format > kFormatHalf) {
      return Malformed(absl::StrCat("an attribute has the unknown format ", format));
    }
    ApplyAttribute(attribute, owner);
  }
  return absl::OkStatus();
}

void CubinReader::ApplyAttribute(const Attribute& attribute, KernelInfo* owner) {
  const Bytes& value = attribute.value;
  KernelInfo* const named = KernelOf(kernel_of_symbol_, value.At<uint32_t>(0));
  const auto number = value.At<uint32_t>(4);
  switch (attribute.code) {
    case kRegisterCount:
      if (named != nullptr) named->registers = static_cast<int>(number & 0xffff);
      break;
    case kFrameSize:
    case kMinStackSize:
      if (named != nullptr && number > named->stack_bytes) named->stack_bytes = number;
      break;
    case kParameterSize:
      if (owner != nullptr) owner->parameter_bytes = attribute.half;
      break;
    case kMaxThreads:
      if (owner != nullptr) {
        // Extents of at most 1024 each: saturate what no assembler writes.
        const uint64_t threads = uint64_t{value.At<uint32_t>(0) & 0xffff} *
                                 (value.At<uint32_t>(4) & 0xffff) *
                                 (value.At<uint32_t>(8) & 0xffff);
        owner->max_threads = static_cast<int>(threads < INT32_MAX ? threads : INT32_MAX);
      }
      break;
    default:
      break;
  }
}

}  // namespace

absl::StatusOr<ExecutableInfo> ReadCubin(absl::string_view cubin) {
  return CubinReader(cubin).Read();
}

}  // namespace tilus::assemble

#include "capi/module_file.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "capi/module_cache.h"

namespace tilus::capi {
namespace {

constexpr absl::string_view kMagic = "TILUSMOD";
constexpr uint32_t kFormat = 1;
constexpr size_t kHeaderBytes = 8 + 4 + 4 + 8 + 16;
constexpr uint32_t kMaxTargets = 64;

template <typename Number>
void AppendNumber(Number value, std::string* out) {
  for (size_t i = 0; i < sizeof(value); ++i) *out += static_cast<char>(value >> (8 * i) & 0xff);
}

void AppendString(absl::string_view text, std::string* out) {
  AppendNumber<uint64_t>(text.size(), out);
  out->append(text.data(), text.size());
}

// Reads from the front; once something is missing, everything is.
class Reader {
 public:
  explicit Reader(absl::string_view bytes) : bytes_(bytes) {}

  template <typename Number>
  Number Read() {
    Number value = 0;
    const absl::string_view part = Take(sizeof(Number));
    for (size_t i = 0; i < part.size(); ++i) {
      value |= static_cast<Number>(static_cast<uint8_t>(part[i])) << (8 * i);
    }
    return value;
  }
  absl::string_view Take(uint64_t size) {
    if (size > bytes_.size()) {
      good_ = false;
      bytes_ = {};
      return {};
    }
    const absl::string_view part = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return part;
  }
  std::string String() { return std::string(Take(Read<uint64_t>())); }

  bool good() const { return good_; }
  bool done() const { return good_ && bytes_.empty(); }
  size_t left() const { return bytes_.size(); }

 private:
  absl::string_view bytes_;
  bool good_ = true;
};

absl::Status Damaged(absl::string_view problem) {
  return MakeError(DiagId::kModuleFile, absl::StrCat("the saved module is damaged: ", problem),
                   "save it again, or compile the program");
}

absl::StatusOr<absl::string_view> Payload(absl::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    return MakeError(DiagId::kModuleFile, "the bytes are no saved module",
                     "tilus_module_save makes them");
  }
  Reader reader(bytes.substr(kMagic.size()));
  const auto format = reader.Read<uint32_t>();
  reader.Read<uint32_t>();
  const auto size = reader.Read<uint64_t>();
  const absl::string_view digest = reader.Take(16);
  if (!reader.good()) return Damaged(absl::StrCat("it ends after ", bytes.size(), " bytes"));
  if (format > kFormat) {
    return MakeError(DiagId::kModuleVersion,
                     absl::StrCat("the module has format ", format, ", this version reads up to ",
                                  kFormat),
                     "use a newer version of the library");
  }
  if (reader.left() != size) {
    return Damaged(absl::StrCat("it has ", reader.left(), " bytes of content, not ", size));
  }
  const absl::string_view payload = bytes.substr(kHeaderBytes);
  if (Digest128(payload) != digest) return Damaged("its checksum does not match");
  return payload;
}

}  // namespace

std::string WriteModuleFile(const SavedModule& module) {
  std::string payload;
  AppendString(module.program, &payload);
  AppendNumber<uint32_t>(module.contract ? 1 : 0, &payload);
  AppendNumber<uint32_t>(static_cast<uint32_t>(module.targets.size()), &payload);
  for (const SavedTarget& target : module.targets) {
    for (const std::string* text : {&target.name, &target.ptx, &target.cubin}) {
      AppendString(*text, &payload);
    }
  }
  std::string file(kMagic);
  AppendNumber<uint32_t>(kFormat, &file);
  AppendNumber<uint32_t>(0, &file);
  AppendNumber<uint64_t>(payload.size(), &file);
  return absl::StrCat(file, Digest128(payload), payload);
}

absl::StatusOr<SavedModule> ReadModuleFile(absl::string_view bytes) {
  const absl::StatusOr<absl::string_view> payload = Payload(bytes);
  if (!payload.ok()) return payload.status();
  Reader reader(*payload);
  SavedModule module;
  module.program = reader.String();
  module.contract = reader.Read<uint32_t>() != 0;
  const auto count = reader.Read<uint32_t>();
  if (!reader.good() || count > kMaxTargets) return Damaged("its list of targets is too long");
  for (uint32_t i = 0; i < count; ++i) {
    SavedTarget& target = module.targets.emplace_back();
    for (std::string* text : {&target.name, &target.ptx, &target.cubin}) *text = reader.String();
  }
  if (!reader.done()) return Damaged("its parts do not fill it");
  return module;
}

}  // namespace tilus::capi

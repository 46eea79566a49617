#include "driver/module.h"

#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"

namespace tilus::driver {
namespace {

constexpr size_t kLogBytes = 16384;
constexpr absl::string_view kElfMagic("\177ELF", 4);

// CUjit_option
constexpr int kInfoLog = 3;
constexpr int kInfoLogBytes = 4;
constexpr int kErrorLog = 5;
constexpr int kErrorLogBytes = 6;
constexpr int kLogVerbose = 12;

// CUfunction_attribute
constexpr int kMaxThreads = 0;
constexpr int kSharedBytes = 1;
constexpr int kLocalBytes = 3;
constexpr int kRegisters = 4;
constexpr int kBinaryVersion = 6;
constexpr int kMaxDynamicShared = 8;

template <typename T>
T ReadAt(absl::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

bool Inside(absl::string_view bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

// The driver is given no size: an image cut short would make it read beyond the end. So the extents
// that the ELF header and the section table claim must lie inside.
bool IsWholeElf(absl::string_view image) {
  constexpr size_t kHeaderBytes = 64;
  constexpr size_t kSectionBytes = 64;
  constexpr size_t kSegmentBytes = 56;
  constexpr uint32_t kNoBits = 8;
  if (image.size() < kHeaderBytes) return false;
  const auto segments = ReadAt<uint64_t>(image, 32);
  const auto sections = ReadAt<uint64_t>(image, 40);
  const auto segment_count = ReadAt<uint16_t>(image, 56);
  const auto section_count = ReadAt<uint16_t>(image, 60);
  if (!Inside(image, segments, segment_count * kSegmentBytes)) return false;
  if (!Inside(image, sections, section_count * kSectionBytes)) return false;
  for (size_t i = 0; i < section_count; ++i) {
    const size_t row = static_cast<size_t>(sections) + i * kSectionBytes;
    if (ReadAt<uint32_t>(image, row + 4) == kNoBits) continue;
    if (!Inside(image, ReadAt<uint64_t>(image, row + 24), ReadAt<uint64_t>(image, row + 32))) {
      return false;
    }
  }
  return true;
}

absl::Status InvalidImage(absl::string_view reason) {
  return MakeError(DiagId::kModuleImageInvalid,
                   absl::StrCat("the image cannot be loaded: ", reason),
                   "pass a cubin or PTX text as the compiler gave it");
}

absl::Status CheckImage(absl::string_view image) {
  if (image.empty()) return InvalidImage("it is empty");
  if (absl::StartsWith(image, kElfMagic)) {
    if (IsWholeElf(image)) return absl::OkStatus();
    return InvalidImage(absl::StrCat("it is a cubin cut short, of ", image.size(), " bytes"));
  }
  const size_t end = image.find('\0');
  if (end != absl::string_view::npos && end + 1 != image.size()) {
    return InvalidImage(
        absl::StrCat("it is not a cubin, and as PTX text it has a zero byte at ", end));
  }
  return absl::OkStatus();
}

absl::Status LoadError(const CudaApi& api, int code, absl::string_view log) {
  std::vector<Diagnostic> diagnostics = DiagnosticsOf(CudaError(api, code, "cuModuleLoadDataEx"));
  if (!log.empty()) absl::StrAppend(&diagnostics[0].message, "; its log: ", log);
  return MakeStatus(std::move(diagnostics));
}

// The text of a log buffer, which the driver ends with a zero byte.
std::string LogText(const std::string& buffer) {
  return std::string(absl::StripAsciiWhitespace(buffer.c_str()));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Module>> Module::Load(std::shared_ptr<const Context> context,
                                                           absl::string_view image) {
  TILUS_RETURN_IF_ERROR(CheckImage(image));
  ScopedCurrent current(*context);
  TILUS_RETURN_IF_ERROR(current.status());
  const CudaApi& api = current.api();
  if (api.cuModuleUnload == nullptr) return MissingSymbol(api, "cuModuleUnload");
  if (api.cuModuleLoadDataEx == nullptr) return MissingSymbol(api, "cuModuleLoadDataEx");
  void* handle = nullptr;
  if (absl::StartsWith(image, kElfMagic)) {
    const int code = api.cuModuleLoadDataEx(&handle, image.data(), 0, nullptr, nullptr);
    if (code != 0) return LoadError(api, code, "");
    return std::shared_ptr<const Module>(new Module(std::move(context), handle, ""));
  }
  const std::string text(image);  // ends with a zero byte, as the driver wants it
  std::string info(kLogBytes, '\0');
  std::string error(kLogBytes, '\0');
  int options[] = {kInfoLog, kInfoLogBytes, kErrorLog, kErrorLogBytes, kLogVerbose};
  // Numbers travel in the pointers; one byte is kept for the end of the text.
  void* const size = reinterpret_cast<void*>(kLogBytes - 1);
  void* values[] = {info.data(), size, error.data(), size, reinterpret_cast<void*>(1)};
  const int code = api.cuModuleLoadDataEx(&handle, text.c_str(), 5, options, values);
  if (code != 0) return LoadError(api, code, LogText(error));
  return std::shared_ptr<const Module>(new Module(std::move(context), handle, LogText(info)));
}

Module::~Module() {
  const ScopedCurrent current(*context_);
  if (current.status().ok()) current.api().cuModuleUnload(handle_);
}

absl::StatusOr<Function> Function::Find(std::shared_ptr<const Module> module,
                                        absl::string_view name) {
  ScopedCurrent current(module->context());
  TILUS_RETURN_IF_ERROR(current.status());
  const CudaApi& api = current.api();
  if (api.cuModuleGetFunction == nullptr) return MissingSymbol(api, "cuModuleGetFunction");
  std::string text(name);
  void* handle = nullptr;
  const int code = api.cuModuleGetFunction(&handle, module->handle(), text.c_str());
  if (code != 0) {
    return CudaError(api, code, "cuModuleGetFunction", absl::StrCat("\"", name, "\""));
  }
  return Function(std::move(module), handle, std::move(text));
}

absl::StatusOr<FunctionInfo> Function::Info() const {
  struct Row {
    int attribute;
    int value;
  };
  Row rows[] = {
      {kRegisters, 0}, {kLocalBytes, 0}, {kSharedBytes, 0}, {kMaxThreads, 0}, {kBinaryVersion, 0}};
  for (Row& row : rows) {
    TILUS_RETURN_IF_ERROR(
        TILUS_CUDA_CALL_IN(context(), cuFuncGetAttribute, &row.value, row.attribute, handle_));
  }
  FunctionInfo info;
  info.registers = rows[0].value;
  info.local_bytes = rows[1].value;
  info.static_shared_bytes = rows[2].value;
  info.max_threads_per_block = rows[3].value;
  info.binary_version = rows[4].value;
  return info;
}

absl::Status Function::SetMaxDynamicShared(int64_t bytes) const {
  ScopedCurrent current(context());
  TILUS_RETURN_IF_ERROR(current.status());
  const CudaApi& api = current.api();
  if (api.cuFuncSetAttribute == nullptr) return MissingSymbol(api, "cuFuncSetAttribute");
  const bool fits = bytes >= 0 && bytes <= INT32_MAX;
  const int code = fits ? api.cuFuncSetAttribute(handle_, kMaxDynamicShared,
                                                 static_cast<int>(bytes))
                        : 1;  // CUDA_ERROR_INVALID_VALUE, which the driver gives above its limit
  if (code == 0) return absl::OkStatus();
  if (code != 1) return CudaError(api, code, "cuFuncSetAttribute");
  return MakeError(DiagId::kLaunchResources,
                   absl::StrCat("kernel \"", name_, "\" asks for ", bytes,
                                " bytes of dynamic shared memory, more than device ",
                                context().ordinal(), " gives a block"),
                   "use smaller tiles or fewer pipeline stages");
}

}  // namespace tilus::driver

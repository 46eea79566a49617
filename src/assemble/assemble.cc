#include "assemble/assemble.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "assemble/nvjitlink.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"

namespace tilus::assemble {
namespace {

constexpr int kInputPtx = 2;  // NVJITLINK_INPUT_PTX

// nvJitLinkResult
constexpr int kUnrecognizedOption = 1;
constexpr int kInvalidInput = 3;
constexpr int kPtxCompile = 4;
constexpr int kIncorrectInputType = 12;
constexpr int kUnrecognizedArch = 16;
constexpr int kUnsupportedArch = 17;

// "sm_90", "sm_90a" or "sm_100f".
bool IsTargetName(absl::string_view target) {
  if (!absl::StartsWith(target, "sm_")) return false;
  target.remove_prefix(3);
  if (absl::EndsWith(target, "a") || absl::EndsWith(target, "f")) target.remove_suffix(1);
  if (target.empty() || target.size() > 4) return false;
  for (char c : target) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

// One run of the assembler; its handle lives as long as this.
class Session {
 public:
  Session(const NvJitLink& api, const std::vector<std::string>& options) : api_(api) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    created_ = api_.Create(&handle_, static_cast<uint32_t>(pointers.size()), pointers.data());
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (handle_ != nullptr) api_.Destroy(&handle_);
  }

  int Run(const std::string& ptx) const {
    if (created_ != 0) return created_;
    // The size includes the zero byte at the end: releases differ on whether they need it.
    const int added = api_.AddData(handle_, kInputPtx, ptx.c_str(), ptx.size() + 1, "program");
    return added != 0 ? added : api_.Complete(handle_);
  }
  int Cubin(std::string& cubin) const {
    size_t size = 0;
    if (const int result = api_.GetLinkedCubinSize(handle_, &size); result != 0) return result;
    cubin.resize(size);
    return api_.GetLinkedCubin(handle_, cubin.data());
  }
  std::string ErrorLog() const { return Log(api_.GetErrorLogSize, api_.GetErrorLog); }
  std::string InfoLog() const { return Log(api_.GetInfoLogSize, api_.GetInfoLog); }

 private:
  std::string Log(int (*get_size)(void*, size_t*), int (*get)(void*, char*)) const {
    size_t size = 0;
    if (handle_ == nullptr || get_size(handle_, &size) != 0 || size == 0) return "";
    std::string log(size + 1, '\0');  // whether the size counts the final zero byte has changed
    if (get(handle_, log.data()) != 0) return "";
    return std::string(absl::StripAsciiWhitespace(log.c_str()));
  }

  const NvJitLink& api_;
  void* handle_ = nullptr;
  int created_ = 0;
};

DiagId KindOf(int result, absl::string_view log) {
  if (absl::StrContains(log, "Unsupported .version")) return DiagId::kAssemblerTooOld;
  if (absl::StrContains(log, "'gpu-name'")) return DiagId::kAssemblerTarget;
  switch (result) {
    case kUnrecognizedArch:
    case kUnsupportedArch:
      return DiagId::kAssemblerTarget;
    case kUnrecognizedOption:
      return absl::StrContains(log, "arch") ? DiagId::kAssemblerTarget : DiagId::kAssemblerFault;
    case kPtxCompile:
    case kInvalidInput:
    case kIncorrectInputType:
      return DiagId::kAssemblyFailed;
    default:
      return DiagId::kAssemblerFault;
  }
}

const char* HintOf(DiagId id) {
  switch (id) {
    case DiagId::kAssemblerTooOld:
    case DiagId::kAssemblerTarget:
      return "use a newer toolkit's nvJitLink (TILUS_NVJITLINK), or keep the PTX for the driver";
    case DiagId::kAssemblyFailed:
      return "PTX that the compiler made should assemble: please report it with the program";
    default:
      return "try another toolkit's nvJitLink (TILUS_NVJITLINK), or keep the PTX for the driver";
  }
}

// The line of `ptx` that the log's first "line N;" is about, or empty.
std::string LineAtFault(absl::string_view ptx, absl::string_view log) {
  const size_t at = log.find("line ");
  if (at == absl::string_view::npos) return "";
  absl::string_view digits = log.substr(at + 5);
  digits = digits.substr(0, digits.find_first_not_of("0123456789"));
  int number = 0;
  if (!absl::SimpleAtoi(digits, &number) || number < 1) return "";
  for (absl::string_view line : absl::StrSplit(ptx, '\n')) {
    if (--number == 0) return std::string(absl::StripAsciiWhitespace(line));
  }
  return "";
}

absl::Status Failure(const NvJitLink& api, int result, absl::string_view target,
                     absl::string_view ptx, absl::string_view log) {
  Diagnostic d;
  d.id = KindOf(result, log);
  d.message = absl::StrCat(DiagIdSummary(d.id), ": nvJitLink ", api.version_major, ".",
                           api.version_minor, " for ", target, " gave result ", result);
  if (!log.empty()) absl::StrAppend(&d.message, "; its log: ", log);
  d.hint = HintOf(d.id);
  d.excerpt = LineAtFault(ptx, log);
  return MakeError(std::move(d));
}

std::vector<std::string> OptionTexts(absl::string_view target, const AssembleOptions& options) {
  std::vector<std::string> texts = {absl::StrCat("-arch=", target)};
  if (options.optimization == AssembleOptions::Optimization::kNone) texts.push_back("-O0");
  if (options.line_info == AssembleOptions::LineInfo::kKeep) texts.push_back("-lineinfo");
  if (options.max_registers > 0) {
    texts.push_back(absl::StrCat("-maxrregcount=", options.max_registers));
  }
  if (options.info_log != nullptr) texts.push_back("-Xptxas=-v");
  return texts;
}

absl::Status CheckInput(absl::string_view ptx, absl::string_view target) {
  if (!IsTargetName(target)) {
    return MakeError(DiagId::kAssemblerTarget,
                     absl::StrCat("\"", target, "\" is not the name of a target"),
                     "write it like sm_80 or sm_90a");
  }
  if (const size_t zero = ptx.find('\0'); zero != absl::string_view::npos) {
    return MakeError(DiagId::kAssemblyFailed,
                     absl::StrCat("the PTX has a zero byte at offset ", zero, " of ", ptx.size()),
                     "pass the text alone, without what follows it");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> AssembleCubin(absl::string_view ptx, absl::string_view target,
                                          const AssembleOptions& options) {
  TILUS_RETURN_IF_ERROR(CheckInput(ptx, target));
  TILUS_ASSIGN_OR_RETURN(const NvJitLink* api, ProcessNvJitLink());
  return AssembleWith(*api, ptx, target, options);
}

absl::StatusOr<std::string> AssembleWith(const NvJitLink& api, absl::string_view ptx,
                                         absl::string_view target, const AssembleOptions& options) {
  TILUS_RETURN_IF_ERROR(CheckInput(ptx, target));
  const Session session(api, OptionTexts(target, options));
  std::string cubin;
  int result = session.Run(std::string(ptx));
  if (result == 0) result = session.Cubin(cubin);
  if (result != 0) return Failure(api, result, target, ptx, session.ErrorLog());
  if (options.info_log != nullptr) *options.info_log = session.InfoLog();
  return cubin;
}

AssemblerInfo FindAssembler() {
  AssemblerInfo info;
  const absl::StatusOr<const NvJitLink*> api = ProcessNvJitLink();
  if (!api.ok()) {
    info.reason = std::string(api.status().message());
    return info;
  }
  info.found = true;
  info.path = (*api)->path;
  info.version_major = (*api)->version_major;
  info.version_minor = (*api)->version_minor;
  return info;
}

}  // namespace tilus::assemble

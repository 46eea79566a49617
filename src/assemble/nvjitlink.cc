#include "assemble/nvjitlink.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"

namespace tilus::assemble {
namespace {

constinit std::atomic<const NvJitLink*> g_assembler{nullptr};

constexpr const char* kNames[] = {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"};
// A toolkit, then what pip makes of NVIDIA's packages for CUDA 13 and 12.
constexpr const char* kSubfolders[] = {"lib64", "lib", "nvidia/cu13/lib", "nvidia/nvjitlink/lib"};
constexpr int kNewestMajor = 15;
constexpr int kOldestMajor = 12;
constexpr int kNewestMinor = 9;
constexpr char kHint[] =
    "name the library in TILUS_NVJITLINK or its folder in TILUS_CUDA_PATH; without it PTX still "
    "comes out, and the driver assembles it at load";

std::string Variable(const char* name) {
  const char* value = secure_getenv(name);
  return value != nullptr ? value : "";
}

bool AddIfPresent(std::string path, std::vector<std::string>& candidates) {
  if (access(path.c_str(), R_OK) != 0) return false;
  candidates.push_back(std::move(path));
  return true;
}

void AddFolder(const std::string& folder, std::vector<std::string>& candidates) {
  for (const char* subfolder : kSubfolders) {
    for (const char* name : kNames) {
      AddIfPresent(absl::StrCat(folder, "/", subfolder, "/", name), candidates);
    }
  }
}

// The folders that match, the highest version first ("cuda-13.0" before "cuda-12.8" before "cuda").
std::vector<std::string> MatchingFolders(const std::string& pattern) {
  std::vector<std::string> folders;
  if (pattern.empty()) return folders;
  glob_t found = {};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    folders.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  std::sort(folders.begin(), folders.end(), [](const std::string& a, const std::string& b) {
    return strverscmp(a.c_str(), b.c_str()) > 0;
  });
  return folders;
}

// Fills `api` with the functions whose names are prefix + stem + suffix; the name of the first that
// is missing, or empty.
std::string ResolveNames(void* library, const std::string& prefix, const std::string& suffix,
                         NvJitLink& api) {
  std::string missing;
  const auto resolve = [&](auto& pointer, const char* stem) {
    const std::string name = absl::StrCat(prefix, stem, suffix);
    void* symbol = dlsym(library, name.c_str());
    if (symbol == nullptr && missing.empty()) missing = name;
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(symbol);
  };
  resolve(api.Create, "Create");
  resolve(api.Destroy, "Destroy");
  resolve(api.AddData, "AddData");
  resolve(api.Complete, "Complete");
  resolve(api.GetLinkedCubinSize, "GetLinkedCubinSize");
  resolve(api.GetLinkedCubin, "GetLinkedCubin");
  resolve(api.GetErrorLogSize, "GetErrorLogSize");
  resolve(api.GetErrorLog, "GetErrorLog");
  resolve(api.GetInfoLogSize, "GetInfoLogSize");
  resolve(api.GetInfoLog, "GetInfoLog");
  return missing;
}

// The newest release whose names are all there, then the names without a release.
bool ResolveNewest(void* library, NvJitLink& api, std::string& missing) {
  for (int major = kNewestMajor; major >= kOldestMajor; --major) {
    for (int minor = kNewestMinor; minor >= 0; --minor) {
      const std::string suffix = absl::StrCat("_", major, "_", minor);
      if (dlsym(library, absl::StrCat("__nvJitLinkCreate", suffix).c_str()) == nullptr) continue;
      if (ResolveNames(library, "__nvJitLink", suffix, api).empty()) {
        api.version_major = major;
        api.version_minor = minor;
        return true;
      }
    }
  }
  missing = ResolveNames(library, "nvJitLink", "", api);
  return missing.empty();
}

std::string FileOf(void* symbol, const std::string& candidate) {
  Dl_info info = {};
  if (dladdr(symbol, &info) != 0 && info.dli_fname != nullptr) return info.dli_fname;
  return candidate;
}

absl::StatusOr<std::unique_ptr<NvJitLink>> LoadCandidate(const std::string& candidate) {
  void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return MakeError(DiagId::kAssemblerMissing,
                     absl::StrCat("the assembler library \"", candidate, "\" could not be loaded: ",
                                  reason != nullptr ? reason : "no reason given"),
                     kHint);
  }
  auto api = std::make_unique<NvJitLink>();
  std::string missing;
  if (!ResolveNewest(library, *api, missing)) {
    dlclose(library);
    return MakeError(
        DiagId::kAssemblerUnusable,
        absl::StrCat("the library \"", candidate, "\" is no usable nvJitLink: it has no ", missing),
        kHint);
  }
  api->path = FileOf(reinterpret_cast<void*>(api->Create), candidate);
  auto version =
      reinterpret_cast<int (*)(unsigned*, unsigned*)>(dlsym(library, "nvJitLinkVersion"));
  unsigned major = 0;
  unsigned minor = 0;
  if (version != nullptr && version(&major, &minor) == 0) {
    api->version_major = static_cast<int>(major);
    api->version_minor = static_cast<int>(minor);
  }
  return api;
}

}  // namespace

NvJitLinkSearch SearchOfEnvironment() {
  NvJitLinkSearch search;
  search.library = Variable("TILUS_NVJITLINK");
  for (const char* name : {"TILUS_CUDA_PATH", "CUDA_HOME", "CUDA_PATH"}) {
    if (std::string folder = Variable(name); !folder.empty()) search.folders.push_back(folder);
  }
  search.system_pattern = "/usr/local/cuda*";
  return search;
}

std::vector<std::string> NvJitLinkCandidates(const NvJitLinkSearch& search) {
  if (!search.library.empty()) return {search.library};
  std::vector<std::string> candidates;
  for (const std::string& folder : search.folders) AddFolder(folder, candidates);
  candidates.insert(candidates.end(), std::begin(kNames), std::end(kNames));
  for (const std::string& folder : MatchingFolders(search.system_pattern)) {
    AddFolder(folder, candidates);
  }
  return candidates;
}

absl::StatusOr<std::unique_ptr<NvJitLink>> LoadNvJitLink(const NvJitLinkSearch& search) {
  const std::vector<std::string> candidates = NvJitLinkCandidates(search);
  absl::Status unusable;
  absl::Status missing;
  for (const std::string& candidate : candidates) {
    auto api = LoadCandidate(candidate);
    if (api.ok()) return api;
    const bool loaded = DiagnosticsOf(api.status())[0].id == DiagId::kAssemblerUnusable;
    (loaded ? unusable : missing).Update(api.status());
  }
  // A library that is there and does not serve is worth more words than the names not found.
  if (!unusable.ok()) return unusable;
  if (candidates.size() == 1) return missing;
  return MakeError(
      DiagId::kAssemblerMissing,
      absl::StrCat("no nvJitLink could be loaded; tried ", absl::StrJoin(candidates, ", ")), kHint);
}

absl::StatusOr<const NvJitLink*> ProcessNvJitLink() {
  if (const NvJitLink* api = g_assembler.load(std::memory_order_acquire)) return api;
  TILUS_ASSIGN_OR_RETURN(std::unique_ptr<NvJitLink> api, LoadNvJitLink(SearchOfEnvironment()));
  const NvJitLink* expected = nullptr;
  if (!g_assembler.compare_exchange_strong(expected, api.get(), std::memory_order_acq_rel)) {
    return expected;
  }
  return api.release();
}

}  // namespace tilus::assemble

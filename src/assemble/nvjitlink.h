// nvJitLink as a table of function pointers: where it is looked for, and how its names are found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tilus::assemble {

// Handles are opaque pointers, results int (0 = success). The toolkit's header hides that every
// function carries the release in its name (__nvJitLinkCreate_13_0); all are of one release here.
struct NvJitLink {
  int (*Create)(void** handle, uint32_t option_count, const char** options) = nullptr;
  int (*Destroy)(void** handle) = nullptr;
  int (*AddData)(void* handle, int kind, const void* data, size_t bytes,
                 const char* name) = nullptr;
  int (*Complete)(void* handle) = nullptr;
  int (*GetLinkedCubinSize)(void* handle, size_t* bytes) = nullptr;
  int (*GetLinkedCubin)(void* handle, void* cubin) = nullptr;
  int (*GetErrorLogSize)(void* handle, size_t* bytes) = nullptr;
  int (*GetErrorLog)(void* handle, char* log) = nullptr;
  int (*GetInfoLogSize)(void* handle, size_t* bytes) = nullptr;
  int (*GetInfoLog)(void* handle, char* log) = nullptr;

  std::string path;  // the file that was loaded
  int version_major = 0;
  int version_minor = 0;
};

// Where to look; empty = not set.
struct NvJitLinkSearch {
  std::string library;               // TILUS_NVJITLINK: a file, then nothing else is tried
  std::vector<std::string> folders;  // TILUS_CUDA_PATH, CUDA_HOME, CUDA_PATH
  std::string system_pattern;        // "/usr/local/cuda*"
};

// As the environment says (ignored in set-user-id programs).
NvJitLinkSearch SearchOfEnvironment();

// What is tried, in order: files that exist, and bare names for the loader.
std::vector<std::string> NvJitLinkCandidates(const NvJitLinkSearch& search);

// The first candidate that loads and has all names. kAssemblerMissing says what was tried,
// kAssemblerUnusable what a library that loads lacks.
absl::StatusOr<std::unique_ptr<NvJitLink>> LoadNvJitLink(const NvJitLinkSearch& search);

// The process's assembler, by the environment. Loaded once; a failure is not remembered. No lock
// is held meanwhile, so a fork cannot leave a child waiting.
absl::StatusOr<const NvJitLink*> ProcessNvJitLink();

}  // namespace tilus::assemble

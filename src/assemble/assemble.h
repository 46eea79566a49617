// PTX text to cubin, by the assembler of a CUDA toolkit (nvJitLink) when one can be found.
//
// nvJitLink is a library: no process is started, no file is written, and neither a GPU nor a driver
// is needed. Where it is missing the caller keeps the PTX, which the driver assembles at load.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tilus::assemble {

struct AssembleOptions {
  // How the assembler optimises: kNone keeps the code as written, for debugging.
  enum class Optimization { kNone, kFull };
  enum class LineInfo { kOmit, kKeep };

  Optimization optimization = Optimization::kFull;
  LineInfo line_info = LineInfo::kOmit;
  // The most registers a thread may use, 0 = as the code asks (.maxnreg, .maxntid).
  int max_registers = 0;
  // When set, receives the assembler's log, with registers, spills and memory of each kernel.
  std::string* info_log = nullptr;
};

// Assembles `ptx` for `target`, "sm_80" or "sm_90a" and the like. May be called from many threads
// at once. Errors, with the assembler's own log in the message: kAssemblerMissing,
// kAssemblerUnusable, kAssemblerTarget, kAssemblerTooOld, kAssemblyFailed, kAssemblerFault.
absl::StatusOr<std::string> AssembleCubin(absl::string_view ptx, absl::string_view target,
                                          const AssembleOptions& options = {});

// The same by a library that was loaded explicitly (assemble/nvjitlink.h).
struct NvJitLink;
absl::StatusOr<std::string> AssembleWith(const NvJitLink& api, absl::string_view ptx,
                                         absl::string_view target,
                                         const AssembleOptions& options = {});

struct AssemblerInfo {
  bool found = false;
  std::string path;       // the file that was loaded
  int version_major = 0;  // of the toolkit: 13 and 0
  int version_minor = 0;
  std::string reason;  // when not found: one sentence, with what was tried
};

// The assembler that AssembleCubin uses. The first of these that loads: the file named by
// TILUS_NVJITLINK (when set, only that one), the folder TILUS_CUDA_PATH, the toolkits at CUDA_HOME
// and CUDA_PATH, the loader's libnvJitLink.so.13, .12 and plain, /usr/local/cuda*. A folder may be
// a toolkit, or one into which NVIDIA's Python packages were installed. Found once per process.
AssemblerInfo FindAssembler();

}  // namespace tilus::assemble

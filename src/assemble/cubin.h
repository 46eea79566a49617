// Reading what an assembled kernel uses, without any tool of the toolkit.
//
// A cubin is a 64-bit ELF file. Each kernel is a section .text.<name>; its numbers are attributes
// of the sections .nv.info and .nv.info.<name>, and the sizes of .nv.shared.<name> and
// .nv.constant0.<name>.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tilus::assemble {

struct KernelInfo {
  std::string name;
  int registers = 0;                // per thread
  int64_t stack_bytes = 0;          // local memory per thread: spills and arrays; 0 = no spills
  int64_t static_shared_bytes = 0;  // per block, without what the system reserves
  int64_t parameter_bytes = 0;
  int64_t code_bytes = 0;
  int max_threads = 0;  // .maxntid, 0 = not bounded
};

struct ExecutableInfo {
  int sm = 0;                       // 90 for sm_90 and sm_90a
  std::vector<KernelInfo> kernels;  // in the file's order
};

// Every offset and size is checked: any bytes give an answer or kCubinMalformed.
absl::StatusOr<ExecutableInfo> ReadCubin(absl::string_view cubin);

}  // namespace tilus::assemble

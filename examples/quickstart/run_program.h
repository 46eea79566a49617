// Compiling and running .tilus programs, over tilus.h alone.
#pragma once

#include <tilus.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "result.h"

namespace quickstart {

template <auto Destroy>
struct Destroyer {
  template <class T>
  void operator()(T* object) const {
    Destroy(object);
  }
};
using Context = std::unique_ptr<tilus_context, Destroyer<tilus_context_destroy>>;
using Device = std::unique_ptr<tilus_device, Destroyer<tilus_device_destroy>>;
using Module = std::unique_ptr<tilus_module, Destroyer<tilus_module_destroy>>;
using Executable = std::unique_ptr<tilus_executable, Destroyer<tilus_executable_destroy>>;
using Kernel = std::unique_ptr<tilus_kernel, Destroyer<tilus_kernel_destroy>>;
using Memory = std::unique_ptr<tilus_memory, Destroyer<tilus_memory_destroy>>;
using Blob = std::unique_ptr<tilus_blob, Destroyer<tilus_blob_destroy>>;

enum class DeviceChoice { kBest, kHost, kCuda };  // kBest: CUDA where there is a device

// A device and the context that compiles for it. Caches are off, so that compile times are those of
// compiles.
struct Session {
  Context context;
  Device device;
  std::string name;         // "host" or "cuda:0"
  std::string description;  // "NVIDIA H200, sm_90a"
};
Result<Session> OpenSession(DeviceChoice choice);

// A module ready on the session's device, and what it took to make.
struct Program {
  Module module;
  Executable executable;
  std::string target;                 // "sm_80"
  double first_ms = 0;                // bytes to PTX: the first compile in this process,
  double median_ms = 0;               // and the median of kCompiles of them
  size_t ptx_bytes = 0;
  std::optional<size_t> cubin_bytes;  // nothing when there is no assembler
  std::string assembler;              // "nvJitLink 12.8", or empty
};
inline constexpr int kCompiles = 9;

// Compiles a file of programs, text or protobuf, and loads it. The error is what the library
// reports, every diagnostic with its place in the file.
Result<Program> CompileFile(const Session& session, const std::string& path);

// The module as bytes that tilus_module_restore reads.
Result<std::vector<uint8_t>> SaveModule(const Program& program);

// Memory of the device. Fresh memory that is not uploaded is filled with ff bytes, which are NaN as
// f16: an element that a kernel fails to write is then seen.
Result<Memory> Upload(const Session& session, std::span<const uint8_t> bytes);
Result<Memory> Upload(const Session& session, std::span<const uint16_t> halves);
Result<Memory> Allocate(const Session& session, size_t size);
Result<std::vector<uint8_t>> Download(const Session& session, const Memory& memory);
Result<std::vector<uint16_t>> DownloadHalves(const Session& session, const Memory& memory);

// An argument of a kernel: an integer, or the address of memory that holds elements of `type`.
tilus_argument Argument(int64_t integer);
tilus_argument Argument(const Memory& memory, tilus_type type);

// Launches the kernel of that name, waits for it, and gives the milliseconds that took.
Result<double> Launch(const Session& session, const Program& program, std::string_view kernel,
                      std::span<const tilus_argument> arguments);

}  // namespace quickstart

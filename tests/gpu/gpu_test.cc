// Runs every program of the tree and the matmul template on a GPU, and compares each with the
// reference interpreter.
//
//   gpu_test [--root DIR] [--filter TEXT] [--seeds N] [--list]
//
// DIR holds examples/ and tests/; by default the parent of this program's folder. Exits 0 when all
// agree, 1 when one does not, 3 when there is no usable GPU. Run it under compute-sanitizer for
// memcheck, racecheck, initcheck and synccheck.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "assemble/assemble.h"
#include "base/status_macros.h"
#include "cases.h"
#include "compile/compile.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory.h"
#include "driver/module.h"
#include "driver/stream.h"
#include "executor.h"
#include "interpret/interpret.h"

namespace tilus::testing {
namespace {

struct Options {
  std::string root;
  std::string filter;
  int seeds = 1;
  bool list = false;
};

// Device memory that holds a copy of a buffer.
class DeviceBuffer {
 public:
  static absl::StatusOr<std::unique_ptr<DeviceBuffer>> Make(const driver::Context& context,
                                                            const std::vector<uint8_t>& bytes) {
    // At least a word, so that every pointer is a real one.
    TILUS_ASSIGN_OR_RETURN(const driver::DeviceAddress address,
                           driver::Alloc(context, std::max<size_t>(bytes.size(), 4)));
    std::unique_ptr<DeviceBuffer> buffer(new DeviceBuffer(context, address));
    if (!bytes.empty()) {
      TILUS_RETURN_IF_ERROR(driver::CopyToDevice(context, address, bytes.data(), bytes.size()));
    }
    return buffer;
  }
  ~DeviceBuffer() { (void)driver::Free(context_, address_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  driver::DeviceAddress address() const { return address_; }

 private:
  DeviceBuffer(const driver::Context& context, driver::DeviceAddress address)
      : context_(context), address_(address) {}

  const driver::Context& context_;
  driver::DeviceAddress address_;
};

class Gpu {
 public:
  static absl::StatusOr<Gpu> Open() {
    TILUS_ASSIGN_OR_RETURN(const int count, driver::DeviceCount());
    if (count == 0) return absl::UnavailableError("the driver shows no GPU");
    Gpu gpu;
    TILUS_ASSIGN_OR_RETURN(gpu.info_, driver::GetDeviceInfo(0));
    TILUS_ASSIGN_OR_RETURN(gpu.context_, driver::Context::Retain(0));
    for (const ptx::Target& target : ptx::Targets()) {
      if (ptx::RunsOn(target, gpu.sm())) gpu.target_ = target;
    }
    return gpu;
  }

  int sm() const { return info_.compute_major * 10 + info_.compute_minor; }
  const driver::DeviceInfo& info() const { return info_; }
  const ptx::Target& target() const { return target_; }

  absl::StatusOr<Outcome> Launch(const compile::Compilation& compilation, const KernelRun& run) {
    const machine::Kernel& kernel = compilation.targets[0].kernels.kernels[run.kernel_index()];
    TILUS_ASSIGN_OR_RETURN(const std::shared_ptr<const driver::Module> module,
                           driver::Module::Load(context_, compilation.targets[0].ptx));
    TILUS_ASSIGN_OR_RETURN(const driver::Function function,
                           driver::Function::Find(module, kernel.name));
    if (kernel.dynamic_shared_bytes() > 0) {
      TILUS_RETURN_IF_ERROR(function.SetMaxDynamicShared(kernel.dynamic_shared_bytes()));
    }
    Outcome outcome = run.Inputs();
    std::vector<uint64_t> values;
    std::vector<interpret::Argument> scalars;
    std::vector<std::unique_ptr<DeviceBuffer>> buffers;
    for (size_t i = 0; i < outcome.buffers.size(); ++i) {
      uint64_t value = 0;
      if (run.spec().arguments[i].is_buffer()) {
        TILUS_ASSIGN_OR_RETURN(std::unique_ptr<DeviceBuffer> buffer,
                               DeviceBuffer::Make(*context_, outcome.buffers[i]));
        value = buffer->address();
        buffers.push_back(std::move(buffer));
      } else {
        value = run.ScalarCode(i);
        buffers.push_back(nullptr);
      }
      values.push_back(value);
      scalars.push_back({value, -1});
    }
    TILUS_ASSIGN_OR_RETURN(const auto grid, interpret::EvaluateGrid(run.program(), scalars));
    TILUS_ASSIGN_OR_RETURN(const interpret::Workspace workspace,
                           interpret::EvaluateWorkspace(run.program(), scalars));
    std::unique_ptr<DeviceBuffer> memory;
    if (run.program().workspace_bytes) {
      TILUS_ASSIGN_OR_RETURN(
          memory, DeviceBuffer::Make(*context_, std::vector<uint8_t>(
                                                    static_cast<size_t>(workspace.bytes), 0)));
      values.push_back(memory->address());
    }
    std::vector<void*> pointers;
    for (uint64_t& value : values) pointers.push_back(&value);
    if (grid[0] > 0 && grid[1] > 0 && grid[2] > 0) {
      TILUS_RETURN_IF_ERROR(driver::Launch(
          function,
          {static_cast<uint32_t>(grid[0]), static_cast<uint32_t>(grid[1]),
           static_cast<uint32_t>(grid[2])},
          kernel.num_threads, kernel.dynamic_shared_bytes(), nullptr, pointers.data()));
    }
    TILUS_RETURN_IF_ERROR(driver::ContextSynchronize(*context_));
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (!buffers[i] || outcome.buffers[i].empty()) continue;
      TILUS_RETURN_IF_ERROR(driver::CopyToHost(*context_, outcome.buffers[i].data(),
                                               buffers[i]->address(), outcome.buffers[i].size()));
    }
    return outcome;
  }

 private:
  driver::DeviceInfo info_;
  std::shared_ptr<driver::Context> context_;
  ptx::Target target_{};
};

absl::Status RunCase(Gpu& gpu, const Case& c, int seeds) {
  compile::PipelineOptions options;
  options.targets = {gpu.target().name};
  TILUS_ASSIGN_OR_RETURN(const compile::Compilation compilation,
                         compile::CompileModule(c.module, options));
  for (int seed = 1; seed <= seeds; ++seed) {
    const KernelRun run(compilation, c.spec, static_cast<uint64_t>(seed));
    TILUS_RETURN_IF_ERROR(run.Check());
    TILUS_ASSIGN_OR_RETURN(const Outcome expected, run.Interpret());
    TILUS_ASSIGN_OR_RETURN(const Outcome actual, gpu.Launch(compilation, run));
    TILUS_RETURN_IF_ERROR(CompareOutcomes(c.spec, expected, actual));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Case>> SelectCases(const Options& options) {
  TILUS_ASSIGN_OR_RETURN(std::vector<Case> cases, ProgramCases(options.root));
  TILUS_ASSIGN_OR_RETURN(std::vector<Case> matmuls, MatmulCases());
  for (Case& c : matmuls) cases.push_back(std::move(c));
  cases.erase(std::remove_if(cases.begin(), cases.end(),
                             [&options](const Case& c) {
                               return c.name.find(options.filter) == std::string::npos;
                             }),
              cases.end());
  return cases;
}

int Main(const Options& options) {
  const absl::StatusOr<std::vector<Case>> cases = SelectCases(options);
  if (!cases.ok()) {
    std::fprintf(stderr, "gpu_test: %s\n", cases.status().ToString().c_str());
    return 1;
  }
  if (options.list) {
    for (const Case& c : *cases) std::printf("%s\n", c.name.c_str());
    return cases->empty() ? 1 : 0;
  }
  absl::StatusOr<Gpu> gpu = Gpu::Open();
  if (!gpu.ok()) {
    std::fprintf(stderr, "gpu_test: no GPU to run on: %s\n", gpu.status().ToString().c_str());
    return 3;
  }
  std::printf("gpu_test: %s, sm_%d, code for %s\n", gpu->info().name.c_str(), gpu->sm(),
              gpu->target().name);
  int passed = 0, failed = 0;
  for (const Case& c : *cases) {
    const absl::Status status = RunCase(*gpu, c, options.seeds);
    ++(status.ok() ? passed : failed);
    std::printf("%-6s %s%s%s\n", status.ok() ? "ok" : "FAILED", c.name.c_str(),
                status.ok() ? "" : ": ", status.ok() ? "" : status.ToString().c_str());
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace tilus::testing

int main(int argc, char** argv) {
  tilus::testing::Options options;
  options.root = std::filesystem::path(argv[0]).parent_path().parent_path().string();
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const bool has_value = i + 1 < argc;
    if (arg == "--list") {
      options.list = true;
    } else if (arg == "--root" && has_value) {
      options.root = argv[++i];
    } else if (arg == "--filter" && has_value) {
      options.filter = argv[++i];
    } else if (arg == "--seeds" && has_value) {
      options.seeds = std::max(1, std::atoi(argv[++i]));
    } else {
      std::fprintf(stderr, "usage: gpu_test [--root DIR] [--filter TEXT] [--seeds N] [--list]\n");
      return 2;
    }
  }
  return tilus::testing::Main(options);
}

// Code on a device: modules and their kernels.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "driver/context.h"

namespace tilus::driver {

// A loaded cubin or PTX text, unloaded when the last owner (a Function is one) goes.
class Module {
 public:
  // Loads `image`: a cubin (told by its ELF header, which is checked against the image's size) or
  // PTX text, which the driver assembles; its log is then in log(), or in the error's message.
  // Errors: kModuleImageInvalid, kModuleRejected, kNoImageForDevice, kDriverTooOld.
  static absl::StatusOr<std::shared_ptr<const Module>> Load(std::shared_ptr<const Context> context,
                                                            absl::string_view image);

  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();

  const Context& context() const { return *context_; }
  void* handle() const { return handle_; }  // CUmodule
  const std::string& log() const { return log_; }

 private:
  Module(std::shared_ptr<const Context> context, void* handle, std::string log)
      : context_(std::move(context)), handle_(handle), log_(std::move(log)) {}

  std::shared_ptr<const Context> context_;
  void* handle_;
  std::string log_;
};

// What the driver says of a kernel as assembled for this device.
struct FunctionInfo {
  int registers = 0;        // per thread
  int64_t local_bytes = 0;  // per thread: spills and stack
  int64_t static_shared_bytes = 0;
  int max_threads_per_block = 0;  // with these registers
  int binary_version = 0;         // 90 for sm_90
};

// A kernel of a module. Copies are cheap and keep the module loaded.
class Function {
 public:
  // The kernel `name` of `module`; kKernelNotFound when it has none of that name.
  static absl::StatusOr<Function> Find(std::shared_ptr<const Module> module,
                                       absl::string_view name);

  absl::StatusOr<FunctionInfo> Info() const;
  // Lets launches ask for up to `bytes` of dynamic shared memory (needed above 48 KiB).
  absl::Status SetMaxDynamicShared(int64_t bytes) const;

  const std::string& name() const { return name_; }
  const Module& module() const { return *module_; }
  const Context& context() const { return module_->context(); }
  void* handle() const { return handle_; }  // CUfunction

 private:
  Function(std::shared_ptr<const Module> module, void* handle, std::string name)
      : module_(std::move(module)), handle_(handle), name_(std::move(name)) {}

  std::shared_ptr<const Module> module_;
  void* handle_;
  std::string name_;
};

// Enqueues one launch on `stream` and returns without waiting. `arguments` points to one pointer
// per kernel parameter, each to its value, all read before return. A grid with a zero extent
// launches nothing and succeeds; extents above 2^31 - 1, 65535, 65535 and a block of no threads are
// errors. Allocates nothing on success. A fault of the kernel itself is reported by a later call,
// at the latest by synchronising the stream.
absl::Status Launch(const Function& function, const std::array<uint32_t, 3>& grid,
                    uint32_t block_threads, uint32_t dynamic_shared_bytes, Stream stream,
                    void* const* arguments);

}  // namespace tilus::driver

#include "run_program.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "files.h"

namespace quickstart {
namespace {

using Clock = std::chrono::steady_clock;
using ContextOptions =
    std::unique_ptr<tilus_context_options, Destroyer<tilus_context_options_destroy>>;
using CompileOptions =
    std::unique_ptr<tilus_compile_options, Destroyer<tilus_compile_options_destroy>>;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string Text(tilus_string text) { return {text.data, text.size}; }

// Takes over an error of the library.
Error Take(tilus_error* error) {
  std::string report = Text(tilus_error_report(error));
  tilus_error_destroy(error);
  while (!report.empty() && report.back() == '\n') report.pop_back();
  return Error{std::move(report)};
}

// The handle that `call` gives through its parameter.
template <class Handle, class Call>
Result<Handle> Make(const Call& call) {
  typename Handle::pointer raw = nullptr;
  if (tilus_error* error = call(&raw); error != nullptr) return Take(error);
  return Handle(raw);
}

Result<Device> OpenDevice(const Context& context, tilus_device_kind kind) {
  return Make<Device>(
      [&](tilus_device** out) { return tilus_device_open(context.get(), kind, 0, out); });
}

Result<Context> CreateContext() {
  Result<ContextOptions> options = Make<ContextOptions>(tilus_context_options_create);
  if (!options.ok()) return options.error();
  if (tilus_error* error = tilus_context_options_set_memory_cache(options->get(), 0)) {
    return Take(error);
  }
  return Make<Context>(
      [&](tilus_context** out) { return tilus_context_create(options->get(), out); });
}

// One compile, and its milliseconds into `elapsed`.
Result<Module> Compile(const Session& session, tilus_buffer bytes,
                       const CompileOptions& options, double& elapsed) {
  const Clock::time_point start = Clock::now();
  Result<Module> module = Make<Module>([&](tilus_module** out) {
    return tilus_compile_with(session.context.get(), bytes, options.get(), out);
  });
  elapsed = MillisecondsSince(start);
  return module;
}

Result<Blob> Image(const Program& program, tilus_image image) {
  return Make<Blob>([&](tilus_blob** out) {
    return tilus_module_image(program.module.get(), image,
                              tilus_string_of(program.target.c_str()), out);
  });
}

// Target, sizes and assembler of a compiled module.
Status Describe(const Session& session, Program& program) {
  program.target = Text(tilus_module_target_name(program.module.get(), 0));
  Result<Blob> ptx = Image(program, TILUS_IMAGE_PTX);
  if (!ptx.ok()) return ptx.error();
  program.ptx_bytes = tilus_blob_size(ptx->get());
  program.assembler = Text(tilus_context_assembler(session.context.get()));
  if (program.assembler.empty()) return Done{};
  Result<Blob> cubin = Image(program, TILUS_IMAGE_CUBIN);
  if (!cubin.ok()) return cubin.error();
  program.cubin_bytes = tilus_blob_size(cubin->get());
  return Done{};
}

}  // namespace

Result<Session> OpenSession(DeviceChoice choice) {
  Result<Context> context = CreateContext();
  if (!context.ok()) return context.error();
  Session session;
  session.context = std::move(*context);
  const bool cuda = choice == DeviceChoice::kCuda ||
                    (choice == DeviceChoice::kBest && tilus_device_count(TILUS_DEVICE_CUDA) > 0);
  Result<Device> device =
      OpenDevice(session.context, cuda ? TILUS_DEVICE_CUDA : TILUS_DEVICE_HOST);
  if (!device.ok()) return device.error();
  session.device = std::move(*device);
  session.name = cuda ? "cuda:0" : "host";
  tilus_device_info info = {};
  info.struct_size = sizeof info;
  if (tilus_error* error = tilus_device_describe(session.device.get(), &info)) return Take(error);
  session.description = cuda ? Text(info.name) + ", " + Text(info.target)
                             : "runs the meaning of programs on the CPU";
  if (choice == DeviceChoice::kBest && !cuda) session.description += "; there is no GPU";
  return session;
}

Result<Program> CompileFile(const Session& session, const std::string& path) {
  const Result<std::vector<uint8_t>> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.error();
  Result<CompileOptions> options = Make<CompileOptions>(tilus_compile_options_create);
  if (!options.ok()) return options.error();
  if (tilus_error* error = tilus_compile_options_set_source_name(options->get(),
                                                                 tilus_string_of(path.c_str()))) {
    return Take(error);
  }
  Program program;
  std::vector<double> times(kCompiles);
  for (double& time : times) {
    Result<Module> module = Compile(session, {bytes->data(), bytes->size()}, *options, time);
    if (!module.ok()) return module.error();
    program.module = std::move(*module);
  }
  program.first_ms = times.front();
  std::nth_element(times.begin(), times.begin() + kCompiles / 2, times.end());
  program.median_ms = times[kCompiles / 2];
  if (const Status status = Describe(session, program); !status.ok()) return status.error();
  Result<Executable> executable = Make<Executable>([&](tilus_executable** out) {
    return tilus_module_load(program.module.get(), session.device.get(), out);
  });
  if (!executable.ok()) return executable.error();
  program.executable = std::move(*executable);
  return program;
}

Result<std::vector<uint8_t>> SaveModule(const Program& program) {
  const Result<Blob> blob = Make<Blob>(
      [&](tilus_blob** out) { return tilus_module_save(program.module.get(), out); });
  if (!blob.ok()) return blob.error();
  const auto* data = static_cast<const uint8_t*>(tilus_blob_data(blob->get()));
  return std::vector<uint8_t>(data, data + tilus_blob_size(blob->get()));
}

Result<Memory> Upload(const Session& session, std::span<const uint8_t> bytes) {
  Result<Memory> memory = Allocate(session, bytes.size());
  if (!memory.ok()) return memory;
  if (tilus_error* error =
          tilus_device_upload(session.device.get(), tilus_memory_address(memory->get()),
                              bytes.data(), bytes.size(), nullptr)) {
    return Take(error);
  }
  return memory;
}

Result<Memory> Upload(const Session& session, std::span<const uint16_t> halves) {
  return Upload(session, std::span<const uint8_t>(reinterpret_cast<const uint8_t*>(halves.data()),
                                                  halves.size_bytes()));
}

Result<Memory> Allocate(const Session& session, size_t size) {
  Result<Memory> memory = Make<Memory>(
      [&](tilus_memory** out) { return tilus_memory_create(session.device.get(), size, out); });
  if (!memory.ok()) return memory;
  if (tilus_error* error = tilus_device_fill(
          session.device.get(), tilus_memory_address(memory->get()), 0xff, size, nullptr)) {
    return Take(error);
  }
  return memory;
}

Result<std::vector<uint8_t>> Download(const Session& session, const Memory& memory) {
  std::vector<uint8_t> bytes(tilus_memory_size(memory.get()));
  if (tilus_error* error =
          tilus_device_download(session.device.get(), bytes.data(),
                                tilus_memory_address(memory.get()), bytes.size(), nullptr)) {
    return Take(error);
  }
  return bytes;
}

Result<std::vector<uint16_t>> DownloadHalves(const Session& session, const Memory& memory) {
  const Result<std::vector<uint8_t>> bytes = Download(session, memory);
  if (!bytes.ok()) return bytes.error();
  std::vector<uint16_t> halves(bytes->size() / 2);
  std::memcpy(halves.data(), bytes->data(), halves.size() * 2);
  return halves;
}

tilus_argument Argument(int64_t integer) {
  tilus_argument argument = {};
  argument.struct_size = sizeof argument;
  argument.kind = TILUS_ARGUMENT_INTEGER;
  argument.integer = integer;
  return argument;
}

tilus_argument Argument(const Memory& memory, tilus_type type) {
  tilus_argument argument = {};
  argument.struct_size = sizeof argument;
  argument.kind = TILUS_ARGUMENT_POINTER;
  argument.type = type;
  argument.pointer = tilus_memory_address(memory.get());
  argument.size = tilus_memory_size(memory.get());
  return argument;
}

Result<double> Launch(const Session& session, const Program& program, std::string_view kernel,
                      std::span<const tilus_argument> arguments) {
  const Result<Kernel> handle = Make<Kernel>([&](tilus_kernel** out) {
    return tilus_executable_kernel(program.executable.get(), {kernel.data(), kernel.size()}, out);
  });
  if (!handle.ok()) return handle.error();
  const Clock::time_point start = Clock::now();
  if (tilus_error* error =
          tilus_kernel_launch(handle->get(), arguments.data(), arguments.size(), nullptr)) {
    return Take(error);
  }
  if (tilus_error* error = tilus_device_synchronize(session.device.get())) return Take(error);
  return MillisecondsSince(start);
}

}  // namespace quickstart

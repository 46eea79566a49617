// Programs of the tests, and the way from their text to a kernel.
#pragma once

#include "handles.h"

namespace capi_test {

inline constexpr char kAddOne[] = R"(program add_one(n: i32, x: *f32, y: *f32) warps 4 {
  grid ceil_div(n, 128)
  b = block_indices
  gx = global_view x : f32[n]
  gy = global_view y : f32[n]
  a = load_global gx[b * 128] : f32[128] spatial(128)
  c = add a, 1.0
  store_global c -> gy[b * 128]
}
)";

// Two kernels in one file.
inline constexpr char kTwo[] = R"(program first(x: *f32) warps 1 {
  grid 1
  gx = global_view x : f32[32]
  a = load_global gx[0] : f32[32] spatial(32)
  b = mul a, 2.0
  store_global b -> gx[0]
}

program second(x: *f32) warps 1 {
  grid 1
  gx = global_view x : f32[32]
  a = load_global gx[0] : f32[32] spatial(32)
  b = mul a, a
  store_global b -> gx[0]
}
)";

inline tilus_buffer Bytes(const std::string& text) { return {text.data(), text.size()}; }

inline Module Compile(const Context& context, const std::string& program,
                      const tilus_compile_options* options = nullptr) {
  tilus_module* module = nullptr;
  EXPECT_CALL_OK(tilus_compile_with(context.get(), Bytes(program), options, &module));
  return Module(module);
}

inline CompileOptions MakeCompileOptions() {
  tilus_compile_options* options = nullptr;
  EXPECT_CALL_OK(tilus_compile_options_create(&options));
  return CompileOptions(options);
}

inline std::string Image(const Module& module, tilus_image image, const std::string& target = "") {
  tilus_blob* blob = nullptr;
  EXPECT_CALL_OK(tilus_module_image(module.get(), image, View(target), &blob));
  return Text(Blob(blob).get());
}

inline Device OpenDevice(const Context& context, tilus_device_kind kind) {
  tilus_device* device = nullptr;
  EXPECT_CALL_OK(tilus_device_open(context.get(), kind, 0, &device));
  return Device(device);
}

// A kernel that keeps everything that it needs alive.
inline Kernel Load(const Module& module, const Device& device, const std::string& name = "") {
  tilus_executable* executable = nullptr;
  tilus_kernel* kernel = nullptr;
  EXPECT_CALL_OK(tilus_module_load(module.get(), device.get(), &executable));
  const Executable owner(executable);
  EXPECT_CALL_OK(tilus_executable_kernel(executable, View(name), &kernel));
  return Kernel(kernel);
}

inline tilus_argument Integer(int64_t value) {
  tilus_argument argument{};
  argument.struct_size = sizeof argument;
  argument.kind = TILUS_ARGUMENT_INTEGER;
  argument.integer = value;
  return argument;
}

inline tilus_argument Number(double value) {
  tilus_argument argument{};
  argument.struct_size = sizeof argument;
  argument.kind = TILUS_ARGUMENT_NUMBER;
  argument.number = value;
  return argument;
}

inline tilus_argument Pointer(void* pointer, uint64_t size = 0, tilus_type type = TILUS_TYPE_NONE) {
  tilus_argument argument{};
  argument.struct_size = sizeof argument;
  argument.kind = TILUS_ARGUMENT_POINTER;
  argument.pointer = pointer;
  argument.size = size;
  argument.type = type;
  return argument;
}

}  // namespace capi_test

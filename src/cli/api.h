// Owners of the handles of tilus.h, and its texts and bytes as those of C++.
#pragma once

#include <tilus.h>

#include <memory>
#include <string_view>
#include <vector>

#include "cli/failure.h"

namespace tilus::cli {

template <auto kDestroy>
struct Destroy {
  template <typename T>
  void operator()(T* handle) const {
    kDestroy(handle);
  }
};
template <typename T, auto kDestroy>
using Handle = std::unique_ptr<T, Destroy<kDestroy>>;

using ErrorHandle = Handle<tilus_error, tilus_error_destroy>;
using Blob = Handle<tilus_blob, tilus_blob_destroy>;
using Context = Handle<tilus_context, tilus_context_destroy>;
using ContextOptions = Handle<tilus_context_options, tilus_context_options_destroy>;
using Program = Handle<tilus_program, tilus_program_destroy>;
using CompileOptions = Handle<tilus_compile_options, tilus_compile_options_destroy>;
using Module = Handle<tilus_module, tilus_module_destroy>;
using Device = Handle<tilus_device, tilus_device_destroy>;
using Memory = Handle<tilus_memory, tilus_memory_destroy>;
using Executable = Handle<tilus_executable, tilus_executable_destroy>;
using Kernel = Handle<tilus_kernel, tilus_kernel_destroy>;
using Layout = Handle<tilus_layout, tilus_layout_destroy>;
using SharedLayout = Handle<tilus_shared_layout, tilus_shared_layout_destroy>;
using ViewAnswer = Handle<tilus_view, tilus_view_destroy>;

inline tilus_string Text(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view View(tilus_string text) { return {text.data, text.size}; }
inline std::string_view View(const Blob& blob) {
  return {static_cast<const char*>(tilus_blob_data(blob.get())), tilus_blob_size(blob.get())};
}
inline std::vector<int64_t> List(tilus_integers list) { return {list.data, list.data + list.size}; }

// What `function(arguments..., &handle)` makes; throws its error.
template <typename T, typename Function, typename... Arguments>
T Make(Function function, Arguments... arguments) {
  typename T::pointer handle = nullptr;
  Check(function(arguments..., &handle));
  return T(handle);
}

// A structure of tilus.h with its struct_size set.
template <typename T>
T Sized() {
  T value = {};
  value.struct_size = sizeof value;
  return value;
}

inline Layout ParseLayout(std::string_view text) {
  return Make<Layout>(tilus_layout_parse, Text(text));
}

inline tilus_type ParseType(std::string_view name) {
  tilus_type type = TILUS_TYPE_NONE;
  Check(tilus_type_parse(Text(name), &type));
  return type;
}

}  // namespace tilus::cli

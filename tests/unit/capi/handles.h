// Owners of the handles of the C ABI, and short forms for tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tilus.h>

#include <memory>
#include <string>
#include <vector>

namespace capi_test {

template <auto destroy>
struct Destroy {
  template <typename T>
  void operator()(T* handle) const {
    destroy(handle);
  }
};

using Error = std::unique_ptr<tilus_error, Destroy<tilus_error_destroy>>;
using Blob = std::unique_ptr<tilus_blob, Destroy<tilus_blob_destroy>>;
using Options = std::unique_ptr<tilus_context_options, Destroy<tilus_context_options_destroy>>;
using Context = std::unique_ptr<tilus_context, Destroy<tilus_context_destroy>>;
using Layout = std::unique_ptr<tilus_layout, Destroy<tilus_layout_destroy>>;
using Device = std::unique_ptr<tilus_device, Destroy<tilus_device_destroy>>;
using Memory = std::unique_ptr<tilus_memory, Destroy<tilus_memory_destroy>>;
using Stream = std::unique_ptr<tilus_stream, Destroy<tilus_stream_destroy>>;
using Program = std::unique_ptr<tilus_program, Destroy<tilus_program_destroy>>;
using CompileOptions =
    std::unique_ptr<tilus_compile_options, Destroy<tilus_compile_options_destroy>>;
using Module = std::unique_ptr<tilus_module, Destroy<tilus_module_destroy>>;
using Executable = std::unique_ptr<tilus_executable, Destroy<tilus_executable_destroy>>;
using Kernel = std::unique_ptr<tilus_kernel, Destroy<tilus_kernel_destroy>>;
using Cancellation = std::unique_ptr<tilus_cancellation, Destroy<tilus_cancellation_destroy>>;

inline std::string Text(tilus_string text) { return std::string(text.data, text.size); }
inline tilus_string View(const std::string& text) { return {text.data(), text.size()}; }
inline std::string Text(const tilus_blob* blob) {
  return std::string(static_cast<const char*>(tilus_blob_data(blob)), tilus_blob_size(blob));
}
inline std::vector<int64_t> List(tilus_integers list) {
  return std::vector<int64_t>(list.data, list.data + list.size);
}

inline tilus_diagnostic DiagnosticOf(const tilus_error* error, size_t index = 0) {
  tilus_diagnostic d{};
  d.struct_size = sizeof d;
  tilus_error_diagnostic(error, index, &d);
  return d;
}

// "ok", or "INVALID_ARGUMENT T0005". Destroys the error.
inline std::string Outcome(tilus_error* raw) {
  const Error error(raw);
  if (error == nullptr) return "ok";
  return Text(tilus_code_name(tilus_error_code(error.get()))) + " " +
         Text(DiagnosticOf(error.get()).id);
}

#define EXPECT_CALL_OK(call)                                                          \
  do {                                                                                \
    const ::capi_test::Error error_(call);                                            \
    EXPECT_EQ(error_, nullptr) << ::capi_test::Text(tilus_error_report(error_.get())); \
  } while (false)
#define ASSERT_CALL_OK(call)                                                          \
  do {                                                                                \
    const ::capi_test::Error error_(call);                                            \
    ASSERT_EQ(error_, nullptr) << ::capi_test::Text(tilus_error_report(error_.get())); \
  } while (false)

constexpr char kNull[] = "INVALID_ARGUMENT T0005";
constexpr char kInvalid[] = "INVALID_ARGUMENT T0004";
constexpr char kRange[] = "OUT_OF_RANGE T0006";

inline Context MakeContext(const tilus_context_options* options = nullptr) {
  tilus_context* context = nullptr;
  EXPECT_CALL_OK(tilus_context_create(options, &context));
  return Context(context);
}

inline Layout Parse(const std::string& text) {
  tilus_layout* layout = nullptr;
  EXPECT_CALL_OK(tilus_layout_parse(View(text), &layout));
  return Layout(layout);
}

inline std::string Product(const tilus_layout* layout) {
  tilus_blob* blob = nullptr;
  EXPECT_CALL_OK(tilus_layout_text(layout, TILUS_LAYOUT_PRODUCT, &blob));
  return Text(Blob(blob).get());
}

}  // namespace capi_test

// The stand-in libcuda (fake_libcuda.c) as the tests see it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>

#include "base/diagnostic.h"
#include "driver/context.h"

namespace tilus::driver {

inline DiagId IdOf(const absl::Status& status) {
  const std::vector<Diagnostic> diagnostics = DiagnosticsOf(status);
  return diagnostics.empty() ? DiagId{} : diagnostics[0].id;
}

// Points the library at the stand-in and scripts its failures; the process's driver is loaded by
// the first test that uses it and stays.
class FakeDriverTest : public ::testing::Test {
 protected:
  FakeDriverTest() {
    setenv("TILUS_LIBCUDA", FAKE_LIBCUDA, 1);
    unsetenv("FAKE_CUDA_FAIL");
    unsetenv("FAKE_CUDA_DEVICES");
    library_ = dlopen(FAKE_LIBCUDA, RTLD_NOW);
    context_ = *Context::Retain(0);
  }
  ~FakeDriverTest() override {
    unsetenv("FAKE_CUDA_FAIL");
    context_.reset();
    EXPECT_EQ(Int("fake_depth"), 0) << "the thread's context stack was not left as it was";
    EXPECT_EQ(Int("fake_retained", 0), 0) << "the primary context is still retained";
    EXPECT_EQ(Int("fake_live_modules"), 0);
    EXPECT_EQ(Int("fake_live_objects"), 0);
    EXPECT_EQ(Int("fake_live_allocations"), 0);
    dlclose(library_);
  }

  static void Fail(const std::string& script) { setenv("FAKE_CUDA_FAIL", script.c_str(), 1); }
  static void Recover() { unsetenv("FAKE_CUDA_FAIL"); }

  template <typename Result, typename... Arguments>
  Result Ask(const char* name, Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(dlsym(library_, name))(arguments...);
  }
  template <typename... Arguments>
  int Int(const char* name, Arguments... arguments) const {
    return Ask<int>(name, arguments...);
  }

  void* library_ = nullptr;
  std::shared_ptr<Context> context_;
};

}  // namespace tilus::driver

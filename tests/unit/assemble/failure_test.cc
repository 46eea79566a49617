// What is said when the assembler refuses or fails, by a stand-in that fails to order.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "assemble/assemble.h"
#include "assemble/nvjitlink.h"
#include "base/diagnostic.h"

namespace tilus::assemble {
namespace {

using ::testing::HasSubstr;

class FailureTest : public ::testing::Test {
 protected:
  FailureTest() {
    NvJitLinkSearch search;
    search.library = FAKE_NVJITLINK_RELEASE;
    api_ = *LoadNvJitLink(search);
  }
  ~FailureTest() override {
    unsetenv("FAKE_NVJITLINK_FAIL");
    unsetenv("FAKE_NVJITLINK_LOG");
    void* library = dlopen(FAKE_NVJITLINK_RELEASE, RTLD_NOW);
    EXPECT_EQ(reinterpret_cast<int (*)()>(dlsym(library, "fake_live"))(), 0) << "a handle leaked";
    dlclose(library);
  }
  Diagnostic Fail(const char* script, const char* log) {
    setenv("FAKE_NVJITLINK_FAIL", script, 1);
    setenv("FAKE_NVJITLINK_LOG", log, 1);
    const auto cubin = AssembleWith(*api_, "line one\nline two\n", "sm_90a");
    EXPECT_FALSE(cubin.ok());
    return DiagnosticsOf(cubin.status())[0];
  }

  std::unique_ptr<NvJitLink> api_;
};

TEST_F(FailureTest, OptionsReachTheAssembler) {
  EXPECT_EQ(*AssembleWith(*api_, "text", "sm_80"), "12.3 -arch=sm_80\ntext");
  AssembleOptions options;
  std::string log;
  options.optimization = AssembleOptions::Optimization::kNone;
  options.line_info = AssembleOptions::LineInfo::kKeep;
  options.max_registers = 128;
  options.info_log = &log;
  EXPECT_EQ(*AssembleWith(*api_, "text", "sm_100f", options),
            "12.3 -arch=sm_100f -O0 -lineinfo -maxrregcount=128 -Xptxas=-v\ntext");
  EXPECT_EQ(log, "info");
}

TEST_F(FailureTest, EachKindOfFailureHasItsDiagnostic) {
  struct Case {
    const char* script;
    const char* log;
    DiagId id;
  };
  for (const Case& c :
       {Case{"Create=16", "", DiagId::kAssemblerTarget},
        Case{"Create=17", "", DiagId::kAssemblerTarget},
        Case{"Create=1", "", DiagId::kAssemblerFault},
        Case{"Create=6", "", DiagId::kAssemblerFault},
        Case{"AddData=4", "error : no such instruction", DiagId::kAssemblyFailed},
        Case{"AddData=3", "", DiagId::kAssemblyFailed},
        Case{"AddData=12", "", DiagId::kAssemblyFailed},
        Case{"AddData=4", "fatal : Unsupported .version 99.0; current version is '9.0'",
             DiagId::kAssemblerTooOld},
        Case{"AddData=4", "fatal : Value 'sm_77' is not defined for option 'gpu-name'",
             DiagId::kAssemblerTarget},
        Case{"Complete=9", "", DiagId::kAssemblerFault},
        Case{"GetLinkedCubinSize=6", "", DiagId::kAssemblerFault},
        Case{"GetLinkedCubin=6", "", DiagId::kAssemblerFault}}) {
    const Diagnostic d = Fail(c.script, c.log);
    EXPECT_EQ(d.id, c.id) << c.script << " " << c.log;
    EXPECT_FALSE(d.hint.empty());
    EXPECT_THAT(d.message, HasSubstr("nvJitLink 12.3 for sm_90a"));
  }
}

TEST_F(FailureTest, TheLogAndTheLineAtFaultAreShown) {
  const Diagnostic d = Fail("AddData=4", "ptxas input, line 2; error : Unknown name\n");
  EXPECT_THAT(d.message, HasSubstr("its log: ptxas input, line 2; error : Unknown name"));
  EXPECT_EQ(d.excerpt, "line two");
  for (const char* log : {"line 99; error", "line x; error", "line 0; error",
                          "line 99999999999999999999; error", "line "}) {
    EXPECT_EQ(Fail("AddData=4", log).excerpt, "") << log;
  }
}

TEST_F(FailureTest, OddTargetsAndTextsNeverReachTheAssembler) {
  for (const char* target :
       {"", "sm_", "sm_a", "banana", "sm_90 -lto", "compute_90", "sm_90b", "sm_12345", "sm_90aa"}) {
    const auto cubin = AssembleWith(*api_, "text", target);
    ASSERT_FALSE(cubin.ok()) << target;
    EXPECT_EQ(DiagnosticsOf(cubin.status())[0].id, DiagId::kAssemblerTarget);
  }
  const auto cubin = AssembleWith(*api_, absl::string_view("a\0b", 3), "sm_80");
  EXPECT_EQ(DiagnosticsOf(cubin.status())[0].id, DiagId::kAssemblyFailed);
}

}  // namespace
}  // namespace tilus::assemble

// Finding the driver: a missing or odd library, several processes and threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "driver/cuda_api.h"
#include "driver/device.h"
#include "driver/memory.h"
#include "driver/stream.h"
#include "fake_driver.h"

namespace tilus::driver {
namespace {

using ::testing::ExitedWithCode;
using ::testing::HasSubstr;

// Runs in a process of its own (the driver is found once per process) and ends it with the text of
// the error on stderr.
[[noreturn]] void ReportAndExit(const absl::Status& status) {
  for (const Diagnostic& d : DiagnosticsOf(status)) {
    fprintf(stderr, "%s\n", FormatDiagnostic(d, "").c_str());
  }
  exit(status.ok() ? 0 : 1);
}

class LoadingTest : public ::testing::Test {
 protected:
  LoadingTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(LoadingTest, AMissingLibraryIsOneSentenceWithItsName) {
  const auto api = OpenCudaApi("/nonexistent/libcuda.so.1");
  ASSERT_FALSE(api.ok());
  EXPECT_EQ(IdOf(api.status()), DiagId::kDriverMissing);
  EXPECT_EQ(api.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(api.status().message()), HasSubstr("/nonexistent/libcuda.so.1"));
}

TEST_F(LoadingTest, EverySymbolOfTheTableIsFoundInAWholeDriver) {
  const auto api = OpenCudaApi(FAKE_LIBCUDA);
  ASSERT_TRUE(api.ok()) << api.status();
#define TILUS_CUDA_SYMBOL(name, parameters) EXPECT_NE((*api)->name, nullptr) << #name;
#include "driver/cuda_symbols.def"
#undef TILUS_CUDA_SYMBOL
}

TEST_F(LoadingTest, AnOldDriverLoadsWithoutItsMissingSymbols) {
  const auto api = OpenCudaApi(FAKE_LIBCUDA_OLD);
  ASSERT_TRUE(api.ok()) << api.status();
  EXPECT_EQ((*api)->cuGraphLaunch, nullptr);
  EXPECT_NE((*api)->cuLaunchKernel, nullptr);
}

TEST_F(LoadingTest, MissingDriverIsReportedByTheFirstCall) {
  EXPECT_EXIT(
      {
        setenv("TILUS_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
        ReportAndExit(DeviceCount().status());
      },
      ExitedWithCode(1), "error.T0700.: .*libcuda.so.1.* could not be loaded: .*\n.*help: install");
}

TEST_F(LoadingTest, AFailureIsNotRemembered) {
  EXPECT_EXIT(
      {
        setenv("TILUS_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
        if (DeviceCount().ok()) exit(2);
        setenv("TILUS_LIBCUDA", FAKE_LIBCUDA, 1);
        setenv("FAKE_CUDA_FAIL", "cuInit=999", 1);
        if (DeviceCount().ok()) exit(3);
        unsetenv("FAKE_CUDA_FAIL");
        ReportAndExit(DeviceCount().status());
      },
      ExitedWithCode(0), "");
}

TEST_F(LoadingTest, ALibraryThatIsNoDriverIsRefused) {
  EXPECT_EXIT(
      {
        setenv("TILUS_LIBCUDA", "libm.so.6", 1);
        ReportAndExit(DeviceCount().status());
      },
      ExitedWithCode(1), "error.T0702.: .*libm.so.6.* has no function cuInit");
}

TEST_F(LoadingTest, AnInitialisationFailureNamesTheDriversError) {
  EXPECT_EXIT(
      {
        setenv("TILUS_LIBCUDA", FAKE_LIBCUDA, 1);
        setenv("FAKE_CUDA_FAIL", "cuInit=999", 1);
        ReportAndExit(DeviceCount().status());
      },
      ExitedWithCode(1), "error.T0701.: .*CUDA_ERROR_UNKNOWN .999");
}

TEST_F(LoadingTest, TheToolkitsStubIsToldApart) {
  EXPECT_EXIT(
      {
        setenv("TILUS_LIBCUDA", FAKE_LIBCUDA, 1);
        setenv("FAKE_CUDA_FAIL", "cuInit=34", 1);
        ReportAndExit(DeviceCount().status());
      },
      ExitedWithCode(1), "error.T0701.: .*stub");
}

TEST_F(LoadingTest, ADriverWithoutADeviceCountsZero) {
  EXPECT_EXIT(
      {
        setenv("TILUS_LIBCUDA", FAKE_LIBCUDA, 1);
        setenv("FAKE_CUDA_FAIL", "cuInit=100", 1);
        const auto count = DeviceCount();
        if (!count.ok() || *count != 0) exit(2);
        ReportAndExit(Context::Retain(0).status());
      },
      ExitedWithCode(1), "error.T0705.: the CUDA driver finds no device");
}

TEST_F(LoadingTest, AnOldDriverRefusesOnlyWhatItLacks) {
  EXPECT_EXIT(
      {
        setenv("TILUS_LIBCUDA", FAKE_LIBCUDA_OLD, 1);
        auto context = Context::Retain(0);
        if (!context.ok()) exit(2);
        const auto stream = StreamCreate(**context);
        if (!stream.ok()) exit(3);
        ReportAndExit(StreamBeginCapture(**context, *stream));
      },
      ExitedWithCode(1), "error.T0702.: .*has no function cuStreamBeginCapture_v2");
}

TEST_F(LoadingTest, AChildForkedBeforeFirstUseHasTheDriver) {
  EXPECT_EXIT(
      {
        setenv("TILUS_LIBCUDA", FAKE_LIBCUDA, 1);
        const pid_t child = fork();
        if (child == 0) _exit(DeviceCount().ok() ? 0 : 1);
        int status = 0;
        waitpid(child, &status, 0);
        exit(WIFEXITED(status) ? WEXITSTATUS(status) : 9);
      },
      ExitedWithCode(0), "");
}

class ForkTest : public FakeDriverTest {};

// All calls of the child must answer at once and the destructors must leave the parent's handles.
TEST_F(ForkTest, AChildForkedAfterFirstUseGetsAnError) {
  const auto address = Alloc(*context_, 64);
  ASSERT_TRUE(address.ok());
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const bool refused = IdOf(DeviceCount().status()) == DiagId::kDriverAfterFork &&
                         IdOf(GetDeviceInfo(0).status()) == DiagId::kDriverAfterFork &&
                         IdOf(Context::Retain(0).status()) == DiagId::kDriverAfterFork &&
                         IdOf(Alloc(*context_, 64).status()) == DiagId::kDriverAfterFork &&
                         IdOf(Free(*context_, *address)) == DiagId::kDriverAfterFork;
    context_.reset();
    _exit(refused && Int("fake_retained", 0) == 1 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(Free(*context_, *address).ok());
}

TEST_F(LoadingTest, ManyThreadsMayMakeTheFirstCall) {
  EXPECT_EXIT(
      {
        setenv("TILUS_LIBCUDA", FAKE_LIBCUDA, 1);
        std::vector<std::thread> threads;
        std::vector<const CudaApi*> tables(8);
        for (const CudaApi*& table : tables) {
          threads.emplace_back([&table] { table = *Cuda(); });
        }
        for (std::thread& thread : threads) thread.join();
        for (const CudaApi* table : tables) {
          if (table != tables[0]) exit(2);
        }
        exit(0);
      },
      ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tilus::driver

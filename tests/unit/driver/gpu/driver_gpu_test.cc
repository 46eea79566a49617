// The driver's calls on a real GPU. Skipped where there is none; an error instead when the
// environment has TILUS_REQUIRE_GPU=1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "driver/device.h"
#include "driver/memory.h"
#include "driver/module.h"
#include "driver/stream.h"

namespace tilus::driver {
namespace {

// y[i] = a * x[i] + y[i] for i < n, and a kernel that stores four bytes at any address.
constexpr char kPtx[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u64 px, .param .u64 py, .param .f32 pa, .param .u32 pn)
{
  .reg .b64 %x, %y, %o; .reg .f32 %a, %u, %v; .reg .b32 %n, %i, %t, %b; .reg .pred %p;
  ld.param.u64 %x, [px];
  ld.param.u64 %y, [py];
  ld.param.f32 %a, [pa];
  ld.param.u32 %n, [pn];
  mov.u32 %t, %tid.x;
  mov.u32 %b, %ctaid.x;
  mov.u32 %i, %ntid.x;
  mad.lo.u32 %i, %i, %b, %t;
  setp.ge.u32 %p, %i, %n;
  @%p bra DONE;
  mul.wide.u32 %o, %i, 4;
  add.u64 %x, %x, %o;
  add.u64 %y, %y, %o;
  ld.global.f32 %u, [%x];
  ld.global.f32 %v, [%y];
  fma.rn.f32 %v, %a, %u, %v;
  st.global.f32 [%y], %v;
DONE:
  ret;
}
.visible .entry poke(.param .u64 pa)
{
  .reg .b64 %a; .reg .b32 %z;
  ld.param.u64 %a, [pa];
  mov.u32 %z, 0;
  st.global.u32 [%a], %z;
  ret;
}
)";

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto count = DeviceCount();
    if (count.ok() && *count > 0) {
      context_ = *Context::Retain(0);
      return;
    }
    const char* required = getenv("TILUS_REQUIRE_GPU");
    const std::string reason =
        count.ok() ? "no CUDA device" : std::string(count.status().message());
    if (required != nullptr && std::string(required) == "1") FAIL() << reason;
    GTEST_SKIP() << reason;
  }

  std::shared_ptr<Context> context_;
};

TEST_F(GpuTest, TheDeviceIsDescribed) {
  const auto info = GetDeviceInfo(0);
  ASSERT_TRUE(info.ok()) << info.status();
  printf("%s: sm_%d%d, %d multiprocessors, %lld bytes, %lld bytes L2, %lld shared, CUDA %d\n",
         info->name.c_str(), info->compute_major, info->compute_minor, info->multiprocessors,
         static_cast<long long>(info->total_memory_bytes), static_cast<long long>(info->l2_bytes),
         static_cast<long long>(info->shared_bytes_per_block_optin), info->driver_version);
  EXPECT_GE(info->compute_major, 3);
  EXPECT_GT(info->multiprocessors, 0);
  EXPECT_EQ(info->warp_size, 32);
  EXPECT_GE(info->max_threads_per_block, 512);
  EXPECT_GE(info->shared_bytes_per_block_optin, info->shared_bytes_per_block);
  EXPECT_GT(info->total_memory_bytes, int64_t{1} << 28);
  EXPECT_GT(info->driver_version, 11000);
}

TEST_F(GpuTest, AKernelComputesOnAStreamAndFromAGraph) {
  constexpr uint32_t kCount = 100000;
  const Context& context = *context_;
  const auto module = Module::Load(context_, kPtx);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto kernel = Function::Find(*module, "saxpy");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ(kernel->Info()->local_bytes, 0);
  EXPECT_GT(kernel->Info()->registers, 0);
  std::vector<float> x(kCount);
  for (uint32_t i = 0; i < kCount; ++i) x[i] = static_cast<float>(i);
  const DeviceAddress dx = *Alloc(context, kCount * 4);
  const DeviceAddress dy = *Alloc(context, kCount * 4);
  const Stream stream = *StreamCreate(context);
  ASSERT_TRUE(CopyToDevice(context, dx, x.data(), kCount * 4, stream).ok());
  ASSERT_TRUE(Fill(context, dy, 0, kCount * 4, stream).ok());
  float a = 2.0f;
  uint32_t n = kCount;
  const void* sources[] = {&dx, &dy, &a, &n};
  void* const* arguments = const_cast<void* const*>(sources);
  const auto launch = [&] {
    return Launch(*kernel, {(kCount + 127) / 128, 1, 1}, 128, 0, stream, arguments);
  };
  ASSERT_TRUE(launch().ok());

  ASSERT_TRUE(StreamBeginCapture(context, stream).ok());
  ASSERT_TRUE(launch().ok());
  const auto graph = StreamEndCapture(context, stream);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto exec = GraphInstantiate(context, *graph);
  ASSERT_TRUE(exec.ok()) << exec.status();
  const Event start = *EventCreate(context);
  const Event stop = *EventCreate(context);
  ASSERT_TRUE(EventRecord(context, start, stream).ok());
  ASSERT_TRUE(GraphLaunch(context, *exec, stream).ok());
  ASSERT_TRUE(EventRecord(context, stop, stream).ok());
  EXPECT_GT(*ElapsedMs(context, start, stop), 0.0f);

  std::vector<float> y(kCount);
  ASSERT_TRUE(CopyToHost(context, y.data(), dy, kCount * 4, stream).ok());
  for (uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(y[i], 4.0f * x[i]) << i;
  EXPECT_TRUE(GraphExecDestroy(context, *exec).ok());
  EXPECT_TRUE(GraphDestroy(context, *graph).ok());
  EXPECT_TRUE(EventDestroy(context, start).ok());
  EXPECT_TRUE(EventDestroy(context, stop).ok());
  EXPECT_TRUE(StreamDestroy(context, stream).ok());
  EXPECT_TRUE(Free(context, dx).ok());
  EXPECT_TRUE(Free(context, dy).ok());
}

TEST_F(GpuTest, RefusalsAreTold) {
  const auto module = Module::Load(context_, kPtx);
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(DiagnosticsOf(Function::Find(*module, "nothing").status())[0].id,
            DiagId::kKernelNotFound);
  const auto kernel = Function::Find(*module, "poke");
  DeviceAddress address = 0;
  void* arguments[] = {&address};
  EXPECT_EQ(DiagnosticsOf(Launch(*kernel, {1, 1, 1}, 4096, 0, nullptr, arguments))[0].id,
            DiagId::kLaunchRefused);
  EXPECT_EQ(DiagnosticsOf(kernel->SetMaxDynamicShared(int64_t{1} << 30))[0].id,
            DiagId::kLaunchResources);
  EXPECT_EQ(DiagnosticsOf(Alloc(*context_, size_t{1} << 50).status())[0].id,
            DiagId::kDeviceOutOfMemory);
  const auto bad = Module::Load(context_, ".version 7.0\n.target sm_80\n.nonsense\n");
  EXPECT_EQ(DiagnosticsOf(bad.status())[0].id, DiagId::kModuleRejected);
  EXPECT_THAT(std::string(bad.status().message()), ::testing::HasSubstr("line 3"));
  const auto newer = Module::Load(context_, ".version 99.0\n.target sm_80\n.address_size 64\n");
  EXPECT_EQ(DiagnosticsOf(newer.status())[0].id, DiagId::kDriverTooOld);
}

// A fault loses the context for the whole process, so each has one of its own.
enum class Target { kOddAddress, kNoMemory };
int FaultAt(Target target) {
  const auto context = Context::Retain(0);
  const auto kernel = Function::Find(*Module::Load(*context, kPtx), "poke");
  const bool odd = target == Target::kOddAddress;
  DeviceAddress address = odd ? *Alloc(**context, 64) + 2 : 16;
  void* arguments[] = {&address};
  absl::Status status = Launch(*kernel, {1, 1, 1}, 1, 0, nullptr, arguments);
  if (status.ok()) status = StreamSynchronize(**context, nullptr);
  if (status.ok()) return 1;
  fprintf(stderr, "%s\n", FormatDiagnostic(DiagnosticsOf(status)[0], "").c_str());
  _Exit(DiagnosticsOf(status)[0].id == (odd ? DiagId::kMisalignedAddress : DiagId::kIllegalAddress)
            ? 0
            : 2);
}

TEST_F(GpuTest, FaultsAreToldWhereOneWaits) {
  EXPECT_EXIT(exit(FaultAt(Target::kOddAddress)), ::testing::ExitedWithCode(0), "T0715");
  EXPECT_EXIT(exit(FaultAt(Target::kNoMemory)), ::testing::ExitedWithCode(0), "T0714");
}

}  // namespace
}  // namespace tilus::driver

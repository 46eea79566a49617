// Every call of the driver: what it does when it succeeds, what is said when it fails, and that the
// caller's current context is left alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <thread>

#include "driver/device.h"
#include "driver/memory.h"
#include "driver/module.h"
#include "driver/stream.h"
#include "fake_driver.h"

namespace tilus::driver {
namespace {

using ::testing::HasSubstr;

constexpr char kPtx[] = ".version 8.0\n.target sm_80\n";

class CallsTest : public FakeDriverTest {
 protected:
  std::shared_ptr<const Module> Load() const { return *Module::Load(context_, kPtx); }
  Function Kernel() const { return *Function::Find(Load(), "kernel"); }
};

TEST_F(CallsTest, DevicesAreCountedAndDescribed) {
  setenv("FAKE_CUDA_DEVICES", "3", 1);
  EXPECT_EQ(*DeviceCount(), 3);
  EXPECT_EQ(*DriverVersion(), 12040);
  const auto info = GetDeviceInfo(1);
  ASSERT_TRUE(info.ok()) << info.status();
  // The stand-in answers 1000 * attribute + device; the numbers are those of CUdevice_attribute.
  EXPECT_EQ(info->ordinal, 1);
  EXPECT_EQ(info->name, "Fake GPU 1");
  EXPECT_EQ(info->compute_major, 75001);
  EXPECT_EQ(info->compute_minor, 76001);
  EXPECT_EQ(info->multiprocessors, 16001);
  EXPECT_EQ(info->total_memory_bytes, int64_t{1} << 37);
  EXPECT_EQ(info->shared_bytes_per_block, 8001);
  EXPECT_EQ(info->shared_bytes_per_block_optin, 97001);
  EXPECT_EQ(info->shared_bytes_per_multiprocessor, 81001);
  EXPECT_EQ(info->registers_per_block, 12001);
  EXPECT_EQ(info->max_threads_per_block, 1001);
  EXPECT_EQ(info->l2_bytes, 38001);
  EXPECT_EQ(info->clock_khz, 13001);
  EXPECT_EQ(info->driver_version, 12040);
}

TEST_F(CallsTest, ADeviceOutsideTheCountIsNamed) {
  for (int ordinal : {-1, 2, 100}) {
    EXPECT_EQ(IdOf(GetDeviceInfo(ordinal).status()), DiagId::kNoSuchDevice);
    const auto context = Context::Retain(ordinal);
    EXPECT_EQ(IdOf(context.status()), DiagId::kNoSuchDevice);
    EXPECT_THAT(std::string(context.status().message()), HasSubstr(std::to_string(ordinal)));
    EXPECT_THAT(std::string(context.status().message()), HasSubstr("there are 2"));
  }
}

TEST_F(CallsTest, TheCallersContextStaysCurrent) {
  const CudaApi& api = **Cuda();
  void* const own = Ask<void*>("fake_context", 5);
  ASSERT_EQ(api.cuCtxPushCurrent_v2(own), 0);
  const auto address = Alloc(*context_, 16);
  ASSERT_TRUE(address.ok());
  Fail("cuMemsetD8Async=999");
  EXPECT_FALSE(Fill(*context_, *address, 1, 16).ok());
  Recover();
  EXPECT_TRUE(Free(*context_, *address).ok());
  void* current = nullptr;
  ASSERT_EQ(api.cuCtxGetCurrent(&current), 0);
  EXPECT_EQ(current, own);
  EXPECT_EQ(Int("fake_depth"), 1);

  const auto adopted = Context::AdoptCurrent();
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  EXPECT_EQ((*adopted)->handle(), own);
  EXPECT_EQ((*adopted)->ordinal(), 5);
  const int pushes = Int("fake_pushes");
  const auto inside = Alloc(**adopted, 16);
  EXPECT_TRUE(Free(**adopted, *inside).ok());
  EXPECT_EQ(Int("fake_pushes"), pushes) << "a context that is current need not be pushed";
  void* popped = nullptr;
  ASSERT_EQ(api.cuCtxPopCurrent_v2(&popped), 0);
}

TEST_F(CallsTest, AContextMayBeHandedOver) {
  EXPECT_EQ(IdOf(Context::AdoptCurrent().status()), DiagId::kNoCurrentContext);
  EXPECT_EQ(IdOf(Context::Adopt(nullptr).status()), DiagId::kNoCurrentContext);
  int not_a_context = 0;
  EXPECT_EQ(IdOf(Context::Adopt(&not_a_context).status()), DiagId::kNoCurrentContext);
  const auto adopted = Context::Adopt(Ask<void*>("fake_context", 3));
  ASSERT_TRUE(adopted.ok());
  EXPECT_EQ((*adopted)->ordinal(), 3);
  EXPECT_EQ(Int("fake_retained", 3), 0) << "an adopted context is not retained";
}

TEST_F(CallsTest, BytesTravelThereAndBack) {
  const auto a = Alloc(*context_, 8);
  const auto b = Alloc(*context_, 8);
  ASSERT_TRUE(a.ok() && b.ok());
  const auto stream = StreamCreate(*context_);
  ASSERT_TRUE(stream.ok());
  const std::string text = "8 bytes!";
  std::string back(8, '?');
  EXPECT_TRUE(CopyToDevice(*context_, *a, text.data(), 8, *stream).ok());
  EXPECT_EQ(Ask<void*>("fake_last_stream"), *stream);
  EXPECT_TRUE(CopyDeviceToDevice(*context_, *b, *a, 8).ok());
  EXPECT_TRUE(Fill(*context_, *b, '#', 1, *stream).ok());
  EXPECT_TRUE(CopyToHost(*context_, back.data(), *b, 8).ok());
  EXPECT_EQ(back, "# bytes!");
  EXPECT_TRUE(CopyToHost(*context_, back.data(), 12345, 0).ok()) << "no bytes, no access";
  EXPECT_EQ(GetMemoryInfo(*context_)->free_bytes, 1000u);
  EXPECT_TRUE(StreamDestroy(*context_, *stream).ok());
  EXPECT_TRUE(Free(*context_, *a).ok());
  EXPECT_TRUE(Free(*context_, *b).ok());
}

TEST_F(CallsTest, TheAsyncFormsDoNotWait) {
  const auto address = Alloc(*context_, 8);
  char bytes[8] = {};
  Fail("cuStreamSynchronize=999");
  EXPECT_TRUE(CopyToDeviceAsync(*context_, *address, bytes, 8, nullptr).ok());
  EXPECT_TRUE(CopyToHostAsync(*context_, bytes, *address, 8, nullptr).ok());
  EXPECT_TRUE(CopyDeviceToDeviceAsync(*context_, *address, *address, 8, nullptr).ok());
  EXPECT_TRUE(FillAsync(*context_, *address, 0, 8, nullptr).ok());
  EXPECT_FALSE(CopyToDevice(*context_, *address, bytes, 8).ok());
  EXPECT_FALSE(CopyToHost(*context_, bytes, *address, 8).ok());
  EXPECT_FALSE(CopyDeviceToDevice(*context_, *address, *address, 8).ok());
  EXPECT_FALSE(Fill(*context_, *address, 0, 8).ok());
  Recover();
  EXPECT_TRUE(Free(*context_, *address).ok());
}

TEST_F(CallsTest, AllocationHandlesTheEdges) {
  const auto empty = Alloc(*context_, 0);
  ASSERT_TRUE(empty.ok());
  EXPECT_NE(*empty, 0u);
  EXPECT_TRUE(Free(*context_, *empty).ok());
  EXPECT_TRUE(Free(*context_, 0).ok());
  Fail("cuMemAlloc_v2=2");
  const absl::Status status = Alloc(*context_, 123456).status();
  EXPECT_EQ(IdOf(status), DiagId::kDeviceOutOfMemory);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  const std::string message(status.message());
  EXPECT_THAT(message, HasSubstr("123456 bytes asked for on device 0"));
  EXPECT_THAT(message, HasSubstr("1000 of 2000 free"));
  EXPECT_THAT(message, HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
}

TEST_F(CallsTest, FaultsOfKernelsSurfaceWhereOneWaits) {
  struct Case {
    int code;
    DiagId id;
  };
  for (const Case& c : {Case{700, DiagId::kIllegalAddress}, Case{716, DiagId::kMisalignedAddress},
                        Case{717, DiagId::kIllegalAddress}, Case{710, DiagId::kKernelFault},
                        Case{715, DiagId::kKernelFault}, Case{719, DiagId::kKernelFault},
                        Case{702, DiagId::kKernelFault}, Case{999, DiagId::kDriverError}}) {
    Fail("cuStreamSynchronize=" + std::to_string(c.code));
    EXPECT_EQ(IdOf(StreamSynchronize(*context_, nullptr)), c.id) << c.code;
  }
  Fail("cuStreamSynchronize=716");
  const absl::Status status = StreamSynchronize(*context_, nullptr);
  EXPECT_EQ(std::string(status.message()),
            "a kernel accessed memory at a misaligned address: cuStreamSynchronize gave "
            "CUDA_ERROR_MISALIGNED_ADDRESS (716: misaligned address)");
}

TEST_F(CallsTest, EventsMeasure) {
  const auto start = EventCreate(*context_);
  const auto stop = EventCreate(*context_);
  ASSERT_TRUE(start.ok() && stop.ok());
  EXPECT_TRUE(EventRecord(*context_, *start, nullptr).ok());
  EXPECT_TRUE(EventRecord(*context_, *stop, nullptr).ok());
  EXPECT_TRUE(EventSynchronize(*context_, *stop).ok());
  EXPECT_EQ(*ElapsedMs(*context_, *start, *stop), 1.5f);
  EXPECT_TRUE(EventDestroy(*context_, *start).ok());
  EXPECT_TRUE(EventDestroy(*context_, *stop).ok());
}

TEST_F(CallsTest, WorkIsCapturedAndReplayed) {
  const auto stream = StreamCreate(*context_);
  EXPECT_FALSE(StreamBeginCapture(*context_, nullptr).ok()) << "the default stream has no capture";
  ASSERT_TRUE(StreamBeginCapture(*context_, *stream).ok());
  const auto graph = StreamEndCapture(*context_, *stream);
  ASSERT_TRUE(graph.ok());
  const auto exec = GraphInstantiate(*context_, *graph);
  ASSERT_TRUE(exec.ok());
  const long before = Ask<long>("fake_launches");
  EXPECT_TRUE(GraphLaunch(*context_, *exec, *stream).ok());
  EXPECT_EQ(Ask<long>("fake_launches"), before + 1);
  EXPECT_TRUE(GraphExecDestroy(*context_, *exec).ok());
  EXPECT_TRUE(GraphDestroy(*context_, *graph).ok());
  EXPECT_TRUE(StreamDestroy(*context_, *stream).ok());
}

// For each function of the table a call that needs it. What the call made is destroyed by hand: the
// row is run again for success.
struct Row {
  const char* symbol;
  std::function<absl::Status()> call;
};

class TableTest : public CallsTest {
 protected:
  std::vector<Row> Rows() {
    const Context& c = *context_;
    const DeviceAddress a = address_;
    const auto discard = [&c](absl::StatusOr<void*> made,
                              absl::Status (*destroy)(const Context&, void*)) {
      if (!made.ok()) return made.status();
      return destroy(c, *made);
    };
    return {
        {"cuDriverGetVersion", [] { return DriverVersion().status(); }},
        {"cuDeviceGetCount", [] { return DeviceCount().status(); }},
        {"cuDeviceGet", [] { return GetDeviceInfo(0).status(); }},
        {"cuDeviceGetName", [] { return GetDeviceInfo(0).status(); }},
        {"cuDeviceGetAttribute", [] { return GetDeviceInfo(0).status(); }},
        {"cuDeviceTotalMem_v2", [] { return GetDeviceInfo(0).status(); }},
        {"cuDevicePrimaryCtxRetain", [] { return Context::Retain(1).status(); }},
        {"cuCtxGetCurrent", [] { return Context::AdoptCurrent().status(); }},
        {"cuCtxPushCurrent_v2", [&c] { return StreamSynchronize(c, nullptr); }},
        {"cuCtxGetDevice",
         [this] { return Context::Adopt(Ask<void*>("fake_context", 2)).status(); }},
        {"cuModuleLoadDataEx", [this] { return Module::Load(context_, kPtx).status(); }},
        {"cuModuleGetFunction", [this] { return Function::Find(module_, "kernel").status(); }},
        {"cuFuncGetAttribute", [this] { return kernel_->Info().status(); }},
        {"cuFuncSetAttribute", [this] { return kernel_->SetMaxDynamicShared(65536); }},
        {"cuLaunchKernel",
         [this] {
           return Launch(*kernel_, {1, 1, 1}, 32, 0, nullptr, nullptr);
         }},
        {"cuMemGetInfo_v2", [&c] { return GetMemoryInfo(c).status(); }},
        {"cuMemAlloc_v2",
         [&c] {
           const auto made = Alloc(c, 8);
           return made.ok() ? Free(c, *made) : made.status();
         }},
        {"cuMemFree_v2",
         [this, &c] {
           const absl::Status status = Free(c, spare_);
           if (status.ok()) spare_ = *Alloc(c, 8);
           return status;
         }},
        {"cuMemcpyHtoDAsync_v2",
         [this, &c, a] { return CopyToDeviceAsync(c, a, bytes_, 8, nullptr); }},
        {"cuMemcpyDtoHAsync_v2",
         [this, &c, a] { return CopyToHostAsync(c, bytes_, a, 8, nullptr); }},
        {"cuMemcpyDtoDAsync_v2",
         [this, &c, a] { return CopyDeviceToDeviceAsync(c, a, spare_, 8, nullptr); }},
        {"cuMemsetD8Async", [&c, a] { return FillAsync(c, a, 0, 8, nullptr); }},
        {"cuStreamCreate", [&c, discard] { return discard(StreamCreate(c), StreamDestroy); }},
        {"cuStreamDestroy_v2",
         [this, &c] {
           const absl::Status status = StreamDestroy(c, stream_);
           if (status.ok()) stream_ = *StreamCreate(c);
           return status;
         }},
        {"cuStreamSynchronize", [this, &c] { return StreamSynchronize(c, stream_); }},
        {"cuCtxSynchronize", [&c] { return ContextSynchronize(c); }},
        {"cuEventCreate", [&c, discard] { return discard(EventCreate(c), EventDestroy); }},
        {"cuEventDestroy_v2",
         [this, &c] {
           const absl::Status status = EventDestroy(c, event_);
           if (status.ok()) event_ = *EventCreate(c);
           return status;
         }},
        {"cuEventRecord", [this, &c] { return EventRecord(c, event_, stream_); }},
        {"cuEventSynchronize", [this, &c] { return EventSynchronize(c, event_); }},
        {"cuEventElapsedTime", [this, &c] { return ElapsedMs(c, event_, event_).status(); }},
        {"cuStreamBeginCapture_v2", [this, &c] { return StreamBeginCapture(c, stream_); }},
        {"cuStreamEndCapture",
         [this, &c, discard] {
           (void)StreamBeginCapture(c, stream_);
           return discard(StreamEndCapture(c, stream_), GraphDestroy);
         }},
        {"cuGraphInstantiateWithFlags",
         [this, &c, discard] { return discard(GraphInstantiate(c, graph_), GraphExecDestroy); }},
        {"cuGraphLaunch", [this, &c] { return GraphLaunch(c, exec_, stream_); }},
        {"cuGraphDestroy",
         [this, &c] {
           const absl::Status status = GraphDestroy(c, graph_);
           if (status.ok()) {
             (void)StreamBeginCapture(c, stream_);
             graph_ = *StreamEndCapture(c, stream_);
           }
           return status;
         }},
        {"cuGraphExecDestroy",
         [this, &c] {
           const absl::Status status = GraphExecDestroy(c, exec_);
           if (status.ok()) exec_ = *GraphInstantiate(c, graph_);
           return status;
         }},
    };
  }

  // AdoptCurrent is the one call that needs a context of the caller's.
  bool NeedsOwnContext(const Row& row) const {
    return std::string(row.symbol) == "cuCtxGetCurrent";
  }
  absl::Status Run(const Row& row) {
    if (!NeedsOwnContext(row)) return row.call();
    const CudaApi& api = **Cuda();
    api.cuCtxPushCurrent_v2(context_->handle());
    const absl::Status status = row.call();
    void* popped = nullptr;
    api.cuCtxPopCurrent_v2(&popped);
    return status;
  }

  void SetUp() override {
    module_ = Load();
    kernel_ = std::make_unique<Function>(*Function::Find(module_, "kernel"));
    address_ = *Alloc(*context_, 8);
    spare_ = *Alloc(*context_, 8);
    (void)Fill(*context_, spare_, 0, 8);
    stream_ = *StreamCreate(*context_);
    event_ = *EventCreate(*context_);
    (void)StreamBeginCapture(*context_, stream_);
    graph_ = *StreamEndCapture(*context_, stream_);
    exec_ = *GraphInstantiate(*context_, graph_);
  }
  void TearDown() override {
    EXPECT_TRUE(GraphExecDestroy(*context_, exec_).ok());
    EXPECT_TRUE(GraphDestroy(*context_, graph_).ok());
    EXPECT_TRUE(EventDestroy(*context_, event_).ok());
    EXPECT_TRUE(StreamDestroy(*context_, stream_).ok());
    EXPECT_TRUE(Free(*context_, address_).ok());
    EXPECT_TRUE(Free(*context_, spare_).ok());
    kernel_.reset();
    module_.reset();
  }

  std::shared_ptr<const Module> module_;
  std::unique_ptr<Function> kernel_;
  DeviceAddress address_ = 0;
  DeviceAddress spare_ = 0;
  Stream stream_ = nullptr;
  Event event_ = nullptr;
  Graph graph_ = nullptr;
  GraphExec exec_ = nullptr;
  char bytes_[8] = {};
};

TEST_F(TableTest, EveryFunctionOfTheTableHasARow) {
  // Those whose failure cannot be told to anyone, or is tested elsewhere.
  std::set<std::string> named = {"cuInit",
                                 "cuGetErrorName",
                                 "cuGetErrorString",
                                 "cuDevicePrimaryCtxRelease_v2",
                                 "cuCtxPopCurrent_v2",
                                 "cuModuleUnload"};
  for (const Row& row : Rows()) named.insert(row.symbol);
#define TILUS_CUDA_SYMBOL(name, parameters) EXPECT_EQ(named.count(#name), 1u) << #name;
#include "driver/cuda_symbols.def"
#undef TILUS_CUDA_SYMBOL
}

TEST_F(TableTest, EveryCallSucceedsWithoutFailures) {
  for (const Row& row : Rows()) EXPECT_TRUE(Run(row).ok()) << row.symbol << ": " << Run(row);
}

TEST_F(TableTest, EveryFailureNamesTheFunctionAndTheDriversError) {
  for (const Row& row : Rows()) {
    Fail(std::string(row.symbol) + "=999");
    const absl::Status status = Run(row);
    Recover();
    EXPECT_EQ(IdOf(status), DiagId::kDriverError) << row.symbol << ": " << status;
    // The message gives the name that CUDA's documentation has, without the version.
    const std::string name = row.symbol;
    EXPECT_THAT(std::string(status.message()), HasSubstr(name.substr(0, name.find('_'))));
    EXPECT_THAT(std::string(status.message()), HasSubstr("CUDA_ERROR_UNKNOWN (999)"));
    EXPECT_EQ(Int("fake_depth"), 0) << row.symbol;
  }
}

TEST_F(TableTest, EveryMissingFunctionIsNamed) {
  CudaApi& api = const_cast<CudaApi&>(context_->api());
  for (const Row& row : Rows()) {
    absl::Status status;
#define TILUS_CUDA_SYMBOL(name, parameters) \
  if (std::string(row.symbol) == #name) {   \
    const auto kept = api.name;             \
    api.name = nullptr;                     \
    status = row.call();                    \
    api.name = kept;                        \
  }
#include "driver/cuda_symbols.def"
#undef TILUS_CUDA_SYMBOL
    EXPECT_EQ(IdOf(status), DiagId::kDriverSymbolMissing) << row.symbol << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.symbol));
  }
}

TEST_F(TableTest, AContextServesManyThreads) {
  std::vector<std::thread> threads;
  std::vector<int> failures(4, 0);
  for (int& failed : failures) {
    threads.emplace_back([this, &failed] {
      for (int i = 0; i < 200; ++i) {
        failed += !StreamSynchronize(*context_, nullptr).ok();
        failed += !Context::Retain(1).ok();
        failed += !GetDeviceInfo(0).ok();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, std::vector<int>(4, 0));
  EXPECT_EQ(Int("fake_retained", 1), 0);
}

}  // namespace
}  // namespace tilus::driver

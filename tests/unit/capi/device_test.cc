#include <dlfcn.h>
#include <stdlib.h>

#include <cstdint>
#include <cstring>

#include "handles.h"

namespace capi_test {
namespace {

Device Open(const Context& context, tilus_device_kind kind, uint32_t ordinal = 0) {
  tilus_device* device = nullptr;
  EXPECT_CALL_OK(tilus_device_open(context.get(), kind, ordinal, &device));
  return Device(device);
}

Memory Allocate(const Device& device, size_t size) {
  tilus_memory* memory = nullptr;
  EXPECT_CALL_OK(tilus_memory_create(device.get(), size, &memory));
  return Memory(memory);
}

tilus_device_info Describe(const Device& device) {
  tilus_device_info info{};
  info.struct_size = sizeof info;
  EXPECT_CALL_OK(tilus_device_describe(device.get(), &info));
  return info;
}

// The round trip that every kind of device must do.
void ExpectCopies(const Device& device, void* stream) {
  std::vector<uint8_t> sent(1000), got(1000);
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<uint8_t>(i * 7);
  const Memory a = Allocate(device, sent.size()), b = Allocate(device, sent.size());
  void* at_a = tilus_memory_address(a.get());
  void* at_b = tilus_memory_address(b.get());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(at_a) % 16, 0u);
  EXPECT_EQ(tilus_memory_size(a.get()), sent.size());
  EXPECT_CALL_OK(tilus_device_fill(device.get(), at_b, 0xee, sent.size(), stream));
  EXPECT_CALL_OK(tilus_device_upload(device.get(), at_a, sent.data(), sent.size(), stream));
  EXPECT_CALL_OK(tilus_device_copy(device.get(), at_b, at_a, 500, stream));
  EXPECT_CALL_OK(tilus_device_download(device.get(), got.data(), at_b, got.size(), stream));
  EXPECT_CALL_OK(tilus_device_synchronize(device.get()));
  EXPECT_EQ(std::memcmp(got.data(), sent.data(), 500), 0);
  for (size_t i = 500; i < got.size(); ++i) ASSERT_EQ(got[i], 0xee) << i;
}

TEST(HostDeviceTest, AllocatesCopiesAndFills) {
  const Context context = MakeContext();
  for (tilus_device_kind kind : {TILUS_DEVICE_HOST, TILUS_DEVICE_SIMULATE}) {
    EXPECT_EQ(tilus_device_count(kind), 1u);
    const Device device = Open(context, kind);
    ExpectCopies(device, nullptr);
    const tilus_device_info info = Describe(device);
    EXPECT_EQ(info.kind, kind);
    EXPECT_EQ(Text(info.name), kind == TILUS_DEVICE_HOST ? "host" : "simulate");
    EXPECT_EQ(Text(info.target), "");
    const Memory empty = Allocate(device, 0);
    EXPECT_NE(tilus_memory_address(empty.get()), nullptr);
    int stream = 0;
    EXPECT_EQ(Outcome(tilus_device_fill(device.get(), &stream, 0, 1, &stream)), kInvalid)
        << "only CUDA devices have streams";
  }
}

TEST(HostDeviceTest, StreamsAreAcceptedAndDoNothing) {
  const Context context = MakeContext();
  const Device device = Open(context, TILUS_DEVICE_HOST);
  tilus_stream* raw = nullptr;
  ASSERT_CALL_OK(tilus_stream_create(device.get(), &raw));
  const Stream stream(raw);
  EXPECT_EQ(tilus_stream_native(stream.get()), nullptr);
  EXPECT_CALL_OK(tilus_stream_synchronize(stream.get()));
}

TEST(DeviceTest, WrongArgumentsAreErrors) {
  const Context context = MakeContext();
  tilus_device* none = nullptr;
  EXPECT_EQ(Outcome(tilus_device_open(context.get(), TILUS_DEVICE_HOST, 1, &none)),
            "NOT_FOUND T0705");
  EXPECT_EQ(Outcome(tilus_device_open(context.get(), static_cast<tilus_device_kind>(9), 0, &none)),
            kInvalid);
  EXPECT_EQ(Outcome(tilus_device_open(nullptr, TILUS_DEVICE_HOST, 0, &none)), kNull);
  EXPECT_EQ(Outcome(tilus_device_open(context.get(), TILUS_DEVICE_HOST, 0, nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_device_wrap(context.get(), nullptr, &none)), kNull);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(tilus_device_count(static_cast<tilus_device_kind>(9)), 0u);
  const Device device = Open(context, TILUS_DEVICE_HOST);
  char byte = 1;
  EXPECT_EQ(Outcome(tilus_device_upload(device.get(), nullptr, &byte, 1, nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_device_upload(device.get(), &byte, nullptr, 1, nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_device_download(nullptr, &byte, &byte, 1, nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_device_fill(device.get(), nullptr, 0, 1, nullptr)), kNull);
  EXPECT_CALL_OK(tilus_device_upload(device.get(), nullptr, nullptr, 0, nullptr));
  EXPECT_EQ(Outcome(tilus_memory_create(nullptr, 1, nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_stream_create(device.get(), nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_stream_synchronize(nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_device_synchronize(nullptr)), kNull);
  tilus_device_info info{};
  EXPECT_EQ(Outcome(tilus_device_describe(device.get(), &info)), kInvalid) << "no struct_size";
  EXPECT_EQ(Outcome(tilus_device_describe(device.get(), nullptr)), kNull);
  tilus_device_destroy(nullptr);
  tilus_memory_destroy(nullptr);
  tilus_stream_destroy(nullptr);
  EXPECT_EQ(tilus_memory_address(nullptr), nullptr);
}

// A libcuda whose device memory is the host's; see tests/unit/driver.
class CudaDeviceTest : public testing::Test {
 protected:
  CudaDeviceTest() {
    setenv("TILUS_LIBCUDA", FAKE_LIBCUDA, 1);
    unsetenv("FAKE_CUDA_FAIL");
    library_ = dlopen(FAKE_LIBCUDA, RTLD_NOW);
    context_ = MakeContext();
  }
  ~CudaDeviceTest() override {
    unsetenv("FAKE_CUDA_FAIL");
    context_.reset();
    EXPECT_EQ(Ask("fake_live_allocations"), 0);
    EXPECT_EQ(Ask("fake_live_objects"), 0);
    EXPECT_EQ(Ask("fake_retained"), 0);
    EXPECT_EQ(Ask("fake_depth"), 0) << "the thread's context stack was not left as it was";
    dlclose(library_);
  }

  int Ask(const char* name) const {
    return reinterpret_cast<int (*)(int)>(dlsym(library_, name))(0);
  }

  void* library_ = nullptr;
  Context context_;
};

TEST_F(CudaDeviceTest, AllocatesCopiesAndFillsWithAndWithoutAStream) {
  EXPECT_EQ(tilus_device_count(TILUS_DEVICE_CUDA), 2u);
  const Device device = Open(context_, TILUS_DEVICE_CUDA, 1);
  ExpectCopies(device, nullptr);
  tilus_stream* raw = nullptr;
  ASSERT_CALL_OK(tilus_stream_create(device.get(), &raw));
  const Stream stream(raw);
  ASSERT_NE(tilus_stream_native(stream.get()), nullptr);
  ExpectCopies(device, tilus_stream_native(stream.get()));
  EXPECT_CALL_OK(tilus_stream_synchronize(stream.get()));
  EXPECT_EQ(Text(Describe(device).name), "Fake GPU 1");
  EXPECT_EQ(Describe(device).ordinal, 1u);
  EXPECT_EQ(Describe(device).driver_version, 12040u);
}

TEST_F(CudaDeviceTest, MemoryIsGivenBackWithoutWaitingInTheDestroy) {
  Device device = Open(context_, TILUS_DEVICE_CUDA);
  Memory first = Allocate(device, 64), second = Allocate(device, 64);
  first.reset();
  second.reset();
  EXPECT_EQ(Ask("fake_live_allocations"), 2) << "freeing waits for the device, so it is put off";
  Memory third = Allocate(device, 64);
  EXPECT_EQ(Ask("fake_live_allocations"), 1);
  third.reset();
  EXPECT_CALL_OK(tilus_device_synchronize(device.get()));
  EXPECT_EQ(Ask("fake_live_allocations"), 0);
  Memory last = Allocate(device, 64);
  device.reset();
  last.reset();
  EXPECT_EQ(Ask("fake_live_allocations"), 0) << "the last handle gives back what is left";
}

TEST_F(CudaDeviceTest, WrapsAContextOfTheCaller) {
  void* native = reinterpret_cast<void* (*)(int)>(dlsym(library_, "fake_context"))(1);
  tilus_device* raw = nullptr;
  ASSERT_CALL_OK(tilus_device_wrap(context_.get(), native, &raw));
  const Device device(raw);
  EXPECT_EQ(Ask("fake_retained"), 0);
  ExpectCopies(device, nullptr);
}

TEST_F(CudaDeviceTest, FailuresOfTheDriverAreErrors) {
  tilus_device* none = nullptr;
  EXPECT_EQ(Outcome(tilus_device_open(context_.get(), TILUS_DEVICE_CUDA, 2, &none)),
            "NOT_FOUND T0705");
  EXPECT_EQ(Outcome(tilus_device_open(context_.get(), TILUS_DEVICE_CUDA, ~0u, &none)),
            "NOT_FOUND T0705");
  const Device device = Open(context_, TILUS_DEVICE_CUDA);
  tilus_memory* memory = nullptr;
  setenv("FAKE_CUDA_FAIL", "cuMemAlloc_v2=2", 1);
  EXPECT_EQ(Outcome(tilus_memory_create(device.get(), 64, &memory)), "RESOURCE_EXHAUSTED T0707");
  setenv("FAKE_CUDA_FAIL", "cuCtxSynchronize=700", 1);
  EXPECT_EQ(Outcome(tilus_device_synchronize(device.get())), "ABORTED T0714");
  setenv("FAKE_CUDA_FAIL", "cuStreamCreate=999", 1);
  tilus_stream* stream = nullptr;
  EXPECT_EQ(Outcome(tilus_stream_create(device.get(), &stream)), "UNKNOWN T0717");
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(stream, nullptr);
}

TEST_F(CudaDeviceTest, HandlesMayBeDestroyedInAnyOrder) {
  tilus_stream* raw = nullptr;
  Device device = Open(context_, TILUS_DEVICE_CUDA);
  Memory memory = Allocate(device, 8);
  ASSERT_CALL_OK(tilus_stream_create(device.get(), &raw));
  Stream stream(raw);
  context_.reset();
  device.reset();
  EXPECT_NE(tilus_memory_address(memory.get()), nullptr);
  EXPECT_CALL_OK(tilus_stream_synchronize(stream.get()));
  memory.reset();
  stream.reset();
}

}  // namespace
}  // namespace capi_test

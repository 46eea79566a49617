#include <cstdlib>
#include <thread>

#include "programs.h"

namespace capi_test {
namespace {

// Memory aligned as parameters ask.
struct alignas(256) Floats {
  float at[256] = {};
};

class LaunchTest : public testing::TestWithParam<tilus_device_kind> {
 protected:
  LaunchTest() : context_(MakeContext()), device_(OpenDevice(context_, GetParam())) {}

  Context context_;
  Device device_;
};

std::string Launch(const Kernel& kernel, const std::vector<tilus_argument>& args) {
  return Outcome(tilus_kernel_launch(kernel.get(), args.data(), args.size(), nullptr));
}

TEST_P(LaunchTest, ComputesAndDropsWhatIsOutOfRange) {
  const Kernel kernel = Load(Compile(context_, kAddOne), device_);
  Floats x, y;
  for (int i = 0; i < 256; ++i) x.at[i] = static_cast<float>(i);
  EXPECT_EQ(Launch(kernel, {Integer(200), Pointer(x.at, 800, TILUS_TYPE_F32),
                            Pointer(y.at, sizeof y, TILUS_TYPE_F32)}),
            "ok");
  for (int i = 0; i < 256; ++i) EXPECT_EQ(y.at[i], i < 200 ? static_cast<float>(i + 1) : 0.0f) << i;
}

TEST_P(LaunchTest, KernelsAreFoundByName) {
  const Module module = Compile(context_, kTwo);
  Floats x;
  x.at[3] = 5;
  EXPECT_EQ(Launch(Load(module, device_, "first"), {Pointer(x.at)}), "ok");
  EXPECT_EQ(x.at[3], 10.0f);
  EXPECT_EQ(Launch(Load(module, device_, "second"), {Pointer(x.at)}), "ok");
  EXPECT_EQ(x.at[3], 100.0f);
  tilus_executable* raw = nullptr;
  ASSERT_CALL_OK(tilus_module_load(module.get(), device_.get(), &raw));
  const Executable executable(raw);
  tilus_kernel* none = nullptr;
  EXPECT_EQ(Outcome(tilus_executable_kernel(raw, tilus_string_of("third"), &none)),
            "NOT_FOUND T0622");
  EXPECT_EQ(Outcome(tilus_executable_kernel(raw, tilus_string_of(""), &none)), "NOT_FOUND T0622");
  EXPECT_EQ(none, nullptr);
}

TEST_P(LaunchTest, ParametersTellTheirPromises) {
  const Kernel kernel = Load(
      Compile(context_, R"(program f(n: i32 div(8), x: *f16 align(32), s: f32) warps 1 {
  grid n
  gx = global_view x : f16[n]
  a = load_global gx[0] : f16[32] spatial(32)
  store_global a -> gx[0]
}
)"),
      device_);
  ASSERT_EQ(tilus_kernel_parameter_count(kernel.get()), 3u);
  EXPECT_EQ(Text(tilus_kernel_name(kernel.get())), "f");
  tilus_parameter p{};
  p.struct_size = sizeof p;
  tilus_kernel_parameter(kernel.get(), 0, &p);
  EXPECT_EQ(Text(p.name), "n");
  EXPECT_EQ(p.kind, TILUS_PARAMETER_SCALAR);
  EXPECT_EQ(p.type, tilus_type{TILUS_TYPE_I32});
  EXPECT_EQ(p.divisor, 8u);
  tilus_kernel_parameter(kernel.get(), 1, &p);
  EXPECT_EQ(Text(p.name), "x");
  EXPECT_EQ(p.kind, TILUS_PARAMETER_POINTER);
  EXPECT_EQ(p.type, tilus_type{TILUS_TYPE_F16});
  EXPECT_EQ(p.alignment, 32u);
  Floats x;
  const auto with = [&](tilus_argument n, tilus_argument at, tilus_argument s) {
    return Launch(kernel, {n, at, s});
  };
  const tilus_argument eight = Integer(8), at = Pointer(x.at), half = Number(0.5);
  EXPECT_EQ(with(eight, at, half), "ok");
  EXPECT_EQ(with(Integer(9), at, half), "INVALID_ARGUMENT T0735");
  EXPECT_EQ(with(Integer(int64_t{1} << 31), at, half), "OUT_OF_RANGE T0733");
  EXPECT_EQ(with(Integer(-(int64_t{1} << 31) - 8), at, half), "OUT_OF_RANGE T0733");
  EXPECT_EQ(with(Number(8), at, half), "INVALID_ARGUMENT T0731");
  EXPECT_EQ(with(eight, Integer(0), half), "INVALID_ARGUMENT T0731");
  EXPECT_EQ(with(eight, at, Integer(1)), "INVALID_ARGUMENT T0731");
  EXPECT_EQ(with(eight, Pointer(x.at + 4), half), "INVALID_ARGUMENT T0734");
  EXPECT_EQ(with(eight, Pointer(nullptr), half), "INVALID_ARGUMENT T0736");
  EXPECT_EQ(with(Integer(0), Pointer(nullptr), half), "ok") << "an empty grid touches nothing";
  EXPECT_EQ(with(eight, Pointer(x.at, 15), half), "OUT_OF_RANGE T0737");
  EXPECT_EQ(with(eight, Pointer(x.at, 16), half), "ok");
  EXPECT_EQ(with(eight, Pointer(x.at, 0, TILUS_TYPE_F32), half), "INVALID_ARGUMENT T0732");
  EXPECT_EQ(with(Integer(-8), at, half), "INVALID_ARGUMENT T0802");
  EXPECT_EQ(Launch(kernel, {eight, at}), "INVALID_ARGUMENT T0730");
  EXPECT_EQ(Launch(kernel, {eight, at, half, half}), "INVALID_ARGUMENT T0730");
}

TEST_P(LaunchTest, ShapeSaysWhatALaunchTakes) {
  const Kernel kernel = Load(Compile(context_, kAddOne), device_);
  Floats x;
  const tilus_argument args[] = {Integer(129), Pointer(x.at), Pointer(x.at)};
  tilus_launch_shape shape{};
  shape.struct_size = sizeof shape;
  ASSERT_CALL_OK(tilus_kernel_shape(kernel.get(), args, 3, &shape));
  EXPECT_THAT(shape.grid, testing::ElementsAre(2, 1, 1));
  EXPECT_EQ(shape.threads, 128u);
  EXPECT_EQ(shape.workspace_bytes, 0u);
  EXPECT_EQ(Outcome(tilus_kernel_shape(kernel.get(), args, 2, &shape)), "INVALID_ARGUMENT T0730");
  EXPECT_EQ(Outcome(tilus_kernel_shape(nullptr, args, 3, &shape)), kNull);
  EXPECT_EQ(Outcome(tilus_kernel_shape(kernel.get(), args, 3, nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_kernel_shape(kernel.get(), nullptr, 3, &shape)), kNull);
}

TEST_P(LaunchTest, ManyThreadsLaunchAtOnce) {
  const Kernel kernel = Load(Compile(context_, kAddOne), device_);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&kernel] {
      Floats x, y;
      EXPECT_EQ(Launch(kernel, {Integer(256), Pointer(x.at), Pointer(y.at)}), "ok");
      EXPECT_EQ(y.at[255], 1.0f);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(LaunchTest, ACancellationEndsAnEndlessKernel) {
  const Kernel kernel = Load(Compile(context_, R"(program f(n: i32, x: *f32) warps 1 {
  grid 1
  gx = global_view x : f32[32]
  a = register 0.0 : f32[32] spatial(32)
  var i: i32 = 0
  while i < 10 {
    store_global a -> gx[0]
    set i = i * n
  }
}
)"), device_);
  Floats x;
  tilus_cancellation* raw = nullptr;
  ASSERT_CALL_OK(tilus_cancellation_create(&raw));
  const Cancellation cancellation(raw);
  tilus_launch_options options{};
  options.struct_size = sizeof options;
  options.cancellation = raw;
  std::thread canceller([raw] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    tilus_cancellation_cancel(raw);
  });
  const tilus_argument args[] = {Integer(1), Pointer(x.at)};
  EXPECT_EQ(Outcome(tilus_kernel_launch_with(kernel.get(), args, 2, &options)), "CANCELLED T0003");
  canceller.join();
}

INSTANTIATE_TEST_SUITE_P(Devices, LaunchTest,
                         testing::Values(TILUS_DEVICE_HOST, TILUS_DEVICE_SIMULATE),
                         [](const auto& info) {
                           return info.param == TILUS_DEVICE_HOST ? "Host" : "Simulate";
                         });

struct Printed {
  std::string text;
  tilus_code answer = TILUS_OK;
};

tilus_code Collect(void* user, tilus_string text) {
  auto* printed = static_cast<Printed*>(user);
  printed->text += Text(text);
  return printed->answer;
}

TEST(PrintTest, GoesToTheCallbackAndCanStopTheLaunch) {
  tilus_context_options* raw = nullptr;
  ASSERT_CALL_OK(tilus_context_options_create(&raw));
  const Options options(raw);
  Printed printed;
  ASSERT_CALL_OK(tilus_context_options_set_print(options.get(), Collect, &printed, nullptr));
  const Context context = MakeContext(options.get());
  const Kernel kernel = Load(Compile(context, R"(program f(n: i32) warps 1 {
  grid n
  b = block_indices
  print b
}
)"), OpenDevice(context, TILUS_DEVICE_HOST));
  EXPECT_EQ(Launch(kernel, {Integer(3)}), "ok");
  EXPECT_EQ(printed.text, "b: i32 = 0\nb: i32 = 1\nb: i32 = 2\n");
  printed = {"", TILUS_HOST_EXCEPTION};
  EXPECT_EQ(Launch(kernel, {Integer(3)}), "HOST_EXCEPTION T0007");
  EXPECT_EQ(printed.text, "b: i32 = 0\n");
}

TEST(LaunchOptionsTest, StructuresOfOtherSizesAreUnderstoodOrRefused) {
  const Context context = MakeContext();
  const Kernel kernel = Load(Compile(context, kAddOne), OpenDevice(context, TILUS_DEVICE_HOST));
  Floats x, y;
  // A caller of a later version, with arguments that have one more field.
  struct Later {
    tilus_argument known;
    uint64_t field = 0;
  } later[3] = {{Integer(4)}, {Pointer(x.at)}, {Pointer(y.at)}};
  for (Later& argument : later) argument.known.struct_size = sizeof(Later);
  EXPECT_EQ(Outcome(tilus_kernel_launch(kernel.get(), &later[0].known, 3, nullptr)), "ok");
  EXPECT_EQ(y.at[3], 1.0f);
  later[2].field = 1;
  EXPECT_EQ(Outcome(tilus_kernel_launch(kernel.get(), &later[0].known, 3, nullptr)), kInvalid);
  tilus_argument args[3] = {Integer(4), Pointer(x.at), Pointer(y.at)};
  args[0].struct_size = 8;
  EXPECT_EQ(Outcome(tilus_kernel_launch(kernel.get(), args, 3, nullptr)), kInvalid);
  args[0].struct_size = sizeof(tilus_argument);
  EXPECT_EQ(Outcome(tilus_kernel_launch(kernel.get(), nullptr, 3, nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_kernel_launch(nullptr, args, 3, nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_kernel_launch(kernel.get(), args, 3, &x)), kInvalid)
      << "the host device has no streams";
  tilus_launch_options options{};
  EXPECT_EQ(Outcome(tilus_kernel_launch_with(kernel.get(), args, 3, &options)), kInvalid);
  EXPECT_EQ(Outcome(tilus_kernel_launch_with(kernel.get(), args, 3, nullptr)), "ok");
}

TEST(LifetimeTest, HandlesMayBeDestroyedInAnyOrder) {
  Context context = MakeContext();
  Device device = OpenDevice(context, TILUS_DEVICE_HOST);
  Module module = Compile(context, kAddOne);
  Kernel kernel = Load(module, device);
  context.reset();
  module.reset();
  device.reset();
  Floats x, y;
  EXPECT_EQ(Launch(kernel, {Integer(1), Pointer(x.at), Pointer(y.at)}), "ok");
  EXPECT_EQ(y.at[0], 1.0f);
}

}  // namespace
}  // namespace capi_test

#include <thread>

#include "handles.h"

namespace capi_test {
namespace {

Options MakeOptions() {
  tilus_context_options* options = nullptr;
  EXPECT_CALL_OK(tilus_context_options_create(&options));
  return Options(options);
}

void CountRelease(void* user) { ++*static_cast<int*>(user); }
tilus_code Print(void*, tilus_string) { return TILUS_OK; }
void Log(void*, const tilus_diagnostic*) {}
tilus_code Progress(void*, tilus_string, uint64_t, uint64_t) { return TILUS_OK; }

TEST(ContextTest, LimitsHaveTheirPublishedDefaults) {
  const Context context = MakeContext();
  const std::pair<tilus_limit, uint64_t> defaults[] = {
      {TILUS_LIMIT_BYTES, 16 << 20},      {TILUS_LIMIT_DEPTH, 64},
      {TILUS_LIMIT_NODES, 1000000},       {TILUS_LIMIT_RANK, 8},
      {TILUS_LIMIT_ELEMENTS, 2147483647}, {TILUS_LIMIT_UNROLL, 4096},
      {TILUS_LIMIT_CODE_BYTES, 16 << 20}};
  for (const auto& [limit, value] : defaults) {
    EXPECT_EQ(tilus_context_limit(context.get(), limit), value) << limit;
    EXPECT_EQ(tilus_context_limit(nullptr, limit), value) << limit;
  }
  EXPECT_EQ(tilus_context_limit(context.get(), static_cast<tilus_limit>(99)), 0u);
}

TEST(ContextTest, LimitsCanBeSetAndAreBounded) {
  const Options options = MakeOptions();
  for (int limit = TILUS_LIMIT_BYTES; limit <= TILUS_LIMIT_CODE_BYTES; ++limit) {
    const auto which = static_cast<tilus_limit>(limit);
    EXPECT_CALL_OK(tilus_context_options_set_limit(options.get(), which, 5));
    EXPECT_EQ(Outcome(tilus_context_options_set_limit(options.get(), which, 0)), kRange);
    EXPECT_EQ(Outcome(tilus_context_options_set_limit(options.get(), which, ~uint64_t{0})), kRange);
    EXPECT_EQ(tilus_context_limit(MakeContext(options.get()).get(), which), 5u);
  }
  EXPECT_EQ(Outcome(tilus_context_options_set_limit(options.get(), TILUS_LIMIT_DEPTH, 1001)),
            kRange);
  EXPECT_EQ(Outcome(tilus_context_options_set_limit(options.get(), static_cast<tilus_limit>(7), 1)),
            kInvalid);
}

TEST(ContextTest, CallbackDataIsReleasedOnceWhenNothingHoldsItAnyMore) {
  int released = 0;
  Options options = MakeOptions();
  ASSERT_CALL_OK(tilus_context_options_set_print(options.get(), Print, &released, CountRelease));
  Context first = MakeContext(options.get());
  Context second = MakeContext(options.get());
  options.reset();
  first.reset();
  EXPECT_EQ(released, 0);
  tilus_device* raw = nullptr;
  ASSERT_CALL_OK(tilus_device_open(second.get(), TILUS_DEVICE_HOST, 0, &raw));
  Device device(raw);
  second.reset();
  EXPECT_EQ(released, 0) << "the device keeps its context";
  device.reset();
  EXPECT_EQ(released, 1);
}

TEST(ContextTest, CallbackDataIsReleasedWhenReplaced) {
  int log = 0, print = 0, progress = 0;
  const Options options = MakeOptions();
  for (int i = 0; i < 3; ++i) {
    ASSERT_CALL_OK(tilus_context_options_set_log(options.get(), Log, &log, CountRelease));
    ASSERT_CALL_OK(tilus_context_options_set_print(options.get(), Print, &print, CountRelease));
    ASSERT_CALL_OK(
        tilus_context_options_set_progress(options.get(), Progress, &progress, CountRelease));
  }
  EXPECT_EQ(log, 2);
  EXPECT_EQ(print, 2);
  EXPECT_EQ(progress, 2);
  ASSERT_CALL_OK(tilus_context_options_set_log(options.get(), nullptr, &log, CountRelease));
  EXPECT_EQ(log, 4) << "no function: both the old and the new data are of no use";
  ASSERT_CALL_OK(tilus_context_options_set_log(options.get(), nullptr, nullptr, nullptr));
}

TEST(ContextTest, FailedSettersLeaveTheDataWithTheCaller) {
  int released = 0;
  EXPECT_EQ(Outcome(tilus_context_options_set_print(nullptr, Print, &released, CountRelease)),
            kNull);
  EXPECT_EQ(released, 0);
}

TEST(ContextTest, NullArgumentsAreErrors) {
  EXPECT_EQ(Outcome(tilus_context_create(nullptr, nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_context_options_create(nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_context_options_set_limit(nullptr, TILUS_LIMIT_RANK, 1)), kNull);
  EXPECT_EQ(Outcome(tilus_context_options_set_memory_cache(nullptr, 1)), kNull);
  EXPECT_EQ(Outcome(tilus_context_options_set_disk_cache(nullptr, tilus_string_of(""))), kNull);
  EXPECT_EQ(Outcome(tilus_cancellation_create(nullptr)), kNull);
  const Options options = MakeOptions();
  EXPECT_EQ(Outcome(tilus_context_options_set_disk_cache(options.get(), {nullptr, 3})), kNull);
  EXPECT_EQ(Outcome(tilus_context_options_set_disk_cache(options.get(), {"a\0b", 3})), kInvalid);
  tilus_context_destroy(nullptr);
  tilus_context_options_destroy(nullptr);
  EXPECT_EQ(Text(tilus_context_assembler(nullptr)), "");
}

TEST(ContextTest, AssemblerIsTheSameToEveryThread) {
  const Context context = MakeContext();
  std::vector<const char*> seen(8);
  std::vector<std::thread> threads;
  for (auto& name : seen) {
    threads.emplace_back([&] { name = tilus_context_assembler(context.get()).data; });
  }
  for (std::thread& thread : threads) thread.join();
  for (const char* name : seen) EXPECT_EQ(name, seen[0]);
}

TEST(CancellationTest, StaysSet) {
  tilus_cancellation* cancellation = nullptr;
  ASSERT_CALL_OK(tilus_cancellation_create(&cancellation));
  EXPECT_EQ(tilus_cancellation_requested(cancellation), 0);
  std::thread([&] { tilus_cancellation_cancel(cancellation); }).join();
  EXPECT_EQ(tilus_cancellation_requested(cancellation), 1);
  tilus_cancellation_cancel(cancellation);
  EXPECT_EQ(tilus_cancellation_requested(cancellation), 1);
  tilus_cancellation_destroy(cancellation);
  tilus_cancellation_cancel(nullptr);
  tilus_cancellation_destroy(nullptr);
  EXPECT_EQ(tilus_cancellation_requested(nullptr), 0);
}

}  // namespace
}  // namespace capi_test

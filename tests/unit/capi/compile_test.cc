#include <set>
#include <thread>

#include "programs.h"

namespace capi_test {
namespace {

std::vector<std::string> Targets(const Module& module) {
  std::vector<std::string> names;
  for (size_t i = 0; i < tilus_module_target_count(module.get()); ++i) {
    names.push_back(Text(tilus_module_target_name(module.get(), i)));
  }
  return names;
}

TEST(CompileTest, WithoutOptionsGivesPtxOfTheLowestTarget) {
  const Context context = MakeContext();
  tilus_module* raw = nullptr;
  ASSERT_CALL_OK(tilus_compile(context.get(), Bytes(kAddOne), &raw));
  const Module module(raw);
  EXPECT_THAT(Targets(module), testing::ElementsAre("sm_80"));
  EXPECT_EQ(tilus_module_kernel_count(module.get()), 1u);
  EXPECT_EQ(Text(tilus_module_kernel_name(module.get(), 0)), "add_one");
  EXPECT_THAT(Image(module, TILUS_IMAGE_PTX), testing::HasSubstr(".target sm_80"));
  EXPECT_EQ(Image(module, TILUS_IMAGE_TEXT), kAddOne);
}

TEST(CompileTest, EveryTargetThatIsNamedGetsItsCode) {
  const Context context = MakeContext();
  const CompileOptions options = MakeCompileOptions();
  ASSERT_GE(tilus_target_count(), 6u);
  for (size_t i = 0; i < tilus_target_count(); ++i) {
    ASSERT_CALL_OK(tilus_compile_options_add_target(options.get(), tilus_target_name(i)));
    ASSERT_CALL_OK(tilus_compile_options_add_target(options.get(), tilus_target_name(i)));
  }
  const Module module = Compile(context, kAddOne, options.get());
  EXPECT_EQ(Targets(module).size(), tilus_target_count()) << "naming one twice adds nothing";
  for (const std::string& target : Targets(module)) {
    EXPECT_THAT(Image(module, TILUS_IMAGE_PTX, target), testing::HasSubstr(".target " + target));
    EXPECT_NE(Image(module, TILUS_IMAGE_THREAD_LEVEL, target), "");
  }
  tilus_blob* blob = nullptr;
  EXPECT_EQ(Outcome(tilus_module_image(module.get(), TILUS_IMAGE_PTX, tilus_string_of(""), &blob)),
            "NOT_FOUND T0623");
  EXPECT_EQ(
      Outcome(tilus_module_image(module.get(), TILUS_IMAGE_PTX, tilus_string_of("sm_1"), &blob)),
      "NOT_FOUND T0623");
  EXPECT_EQ(Outcome(tilus_compile_options_add_target(options.get(), tilus_string_of("sm_1"))),
            "NOT_FOUND T0501");
  EXPECT_EQ(Text(tilus_target_name(tilus_target_count())), "");
}

TEST(CompileTest, SameInputSamePtxInEveryFormAndThread) {
  const Context context = MakeContext();
  const std::string ptx = Image(Compile(context, kTwo), TILUS_IMAGE_PTX);
  const std::string bytes = Image(Compile(context, kTwo), TILUS_IMAGE_PROTOBUF);
  EXPECT_EQ(Image(Compile(context, bytes), TILUS_IMAGE_PTX), ptx);
  std::vector<std::string> images(8);
  std::vector<std::thread> threads;
  for (std::string& image : images) {
    threads.emplace_back([&] { image = Image(Compile(context, kTwo), TILUS_IMAGE_PTX); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& image : images) EXPECT_EQ(image, ptx);
}

struct Seen {
  std::vector<std::string> passes;
  tilus_code answer = TILUS_OK;
};

tilus_code Dump(void* user, tilus_string, tilus_string pass, tilus_string text) {
  auto* seen = static_cast<Seen*>(user);
  EXPECT_EQ(text.data[text.size], '\0');
  EXPECT_NE(text.size, 0u);
  seen->passes.push_back(Text(pass));
  return seen->answer;
}

TEST(CompileTest, DumpSeesEveryPassInOrder) {
  const Context context = MakeContext();
  const CompileOptions options = MakeCompileOptions();
  Seen seen;
  ASSERT_CALL_OK(tilus_compile_options_set_dump(options.get(), tilus_string_of("all"), Dump, &seen,
                                                nullptr));
  Compile(context, kAddOne, options.get());
  std::vector<std::string> names;
  for (size_t i = 0; i < tilus_pass_count(); ++i) names.push_back(Text(tilus_pass_name(i)));
  EXPECT_EQ(seen.passes, names);
  for (const std::string& name : names) {
    seen.passes.clear();
    ASSERT_CALL_OK(
        tilus_compile_options_set_dump(options.get(), View(name), Dump, &seen, nullptr));
    Compile(context, kAddOne, options.get());
    for (const std::string& pass : seen.passes) EXPECT_EQ(pass, name);
    EXPECT_GE(seen.passes.size(), 1u);
  }
  EXPECT_EQ(Outcome(tilus_compile_options_set_dump(options.get(), tilus_string_of("tea"), Dump,
                                                   &seen, nullptr)),
            "NOT_FOUND T0624");
  EXPECT_EQ(Text(tilus_pass_name(names.size())), "");
}

TEST(CompileTest, CallbacksStopItWithTheirCode) {
  const Context context = MakeContext();
  const CompileOptions options = MakeCompileOptions();
  for (tilus_code answer : {TILUS_CANCELLED, TILUS_HOST_EXCEPTION, TILUS_DATA_LOSS}) {
    Seen seen;
    seen.answer = answer;
    ASSERT_CALL_OK(tilus_compile_options_set_dump(options.get(), tilus_string_of("all"), Dump,
                                                  &seen, nullptr));
    tilus_module* module = nullptr;
    const Error error(
        tilus_compile_with(context.get(), Bytes(kAddOne), options.get(), &module));
    EXPECT_EQ(tilus_error_code(error.get()), answer);
    EXPECT_EQ(module, nullptr);
    EXPECT_EQ(seen.passes.size(), 1u) << "it is not called again";
  }
}

tilus_code Progress(void* user, tilus_string stage, uint64_t done, uint64_t total) {
  auto* seen = static_cast<Seen*>(user);
  EXPECT_LT(done, total);
  EXPECT_EQ(done, seen->passes.size());
  seen->passes.push_back(Text(stage));
  return seen->answer;
}

TEST(CompileTest, ProgressCountsTheSteps) {
  tilus_context_options* raw = nullptr;
  ASSERT_CALL_OK(tilus_context_options_create(&raw));
  const Options options(raw);
  Seen seen;
  ASSERT_CALL_OK(tilus_context_options_set_progress(options.get(), Progress, &seen, nullptr));
  const Context context = MakeContext(options.get());
  Compile(context, kTwo);
  EXPECT_EQ(seen.passes.size(), 4u) << "passes and lowering of two kernels";
  seen.passes.clear();
  seen.answer = TILUS_HOST_EXCEPTION;
  tilus_module* module = nullptr;
  EXPECT_EQ(Outcome(tilus_compile(context.get(), Bytes(kAddOne), &module)),
            "HOST_EXCEPTION T0007");
}

TEST(CompileTest, ACancelledCompileEndsWithThatCode) {
  const Context context = MakeContext();
  const CompileOptions options = MakeCompileOptions();
  tilus_cancellation* raw = nullptr;
  ASSERT_CALL_OK(tilus_cancellation_create(&raw));
  Cancellation cancellation(raw);
  ASSERT_CALL_OK(tilus_compile_options_set_cancellation(options.get(), raw));
  Compile(context, kAddOne, options.get());
  tilus_cancellation_cancel(raw);
  cancellation.reset();  // the options keep the flag
  tilus_module* module = nullptr;
  EXPECT_EQ(Outcome(tilus_compile_with(context.get(), Bytes(kAddOne), options.get(), &module)),
            "CANCELLED T0003");
  ASSERT_CALL_OK(tilus_compile_options_set_cancellation(options.get(), nullptr));
  Compile(context, kAddOne, options.get());
}

TEST(CompileTest, StagesAreTimed) {
  const Context context = MakeContext();
  const Module module = Compile(context, kAddOne);
  std::set<std::string> names;
  for (size_t i = 0; i < tilus_module_stage_count(module.get()); ++i) {
    tilus_stage stage{};
    stage.struct_size = sizeof stage;
    tilus_module_stage(module.get(), i, &stage);
    EXPECT_GT(stage.microseconds, 0) << Text(stage.name);
    names.insert(Text(stage.name));
  }
  for (const char* name : {"decode", "verify", "passes", "lower", "ptx"}) {
    EXPECT_TRUE(names.count(name)) << name;
  }
}

TEST(CompileTest, SavedModulesComeBack) {
  const Context context = MakeContext();
  const CompileOptions options = MakeCompileOptions();
  ASSERT_CALL_OK(tilus_compile_options_add_target(options.get(), tilus_string_of("sm_80")));
  ASSERT_CALL_OK(tilus_compile_options_add_target(options.get(), tilus_string_of("sm_90a")));
  const Module module = Compile(context, kTwo, options.get());
  tilus_blob* blob = nullptr;
  ASSERT_CALL_OK(tilus_module_save(module.get(), &blob));
  const std::string saved = Text(Blob(blob).get());
  tilus_module* raw = nullptr;
  ASSERT_CALL_OK(tilus_module_restore(context.get(), Bytes(saved), &raw));
  const Module restored(raw);
  EXPECT_EQ(Targets(restored), Targets(module));
  for (const std::string& target : Targets(module)) {
    EXPECT_EQ(Image(restored, TILUS_IMAGE_PTX, target), Image(module, TILUS_IMAGE_PTX, target));
  }
  EXPECT_EQ(Image(restored, TILUS_IMAGE_TEXT), Image(module, TILUS_IMAGE_TEXT));
  ASSERT_CALL_OK(tilus_module_save(restored.get(), &blob));
  EXPECT_EQ(Text(Blob(blob).get()), saved);
}

TEST(CompileTest, DamagedModulesAreDataLoss) {
  const Context context = MakeContext();
  tilus_blob* blob = nullptr;
  ASSERT_CALL_OK(tilus_module_save(Compile(context, kAddOne).get(), &blob));
  const std::string saved = Text(Blob(blob).get());
  tilus_module* module = nullptr;
  for (size_t size = 0; size < saved.size(); ++size) {
    const std::string cut = saved.substr(0, size);
    ASSERT_EQ(Outcome(tilus_module_restore(context.get(), Bytes(cut), &module)),
              "DATA_LOSS T0620") << size;
  }
  EXPECT_EQ(Outcome(tilus_module_restore(context.get(), Bytes(saved + "x"), &module)),
            "DATA_LOSS T0620");
  EXPECT_EQ(Outcome(tilus_module_restore(context.get(), Bytes(kAddOne), &module)),
            "DATA_LOSS T0620");
  for (size_t i = 0; i < saved.size(); ++i) {
    std::string flipped = saved;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    const std::string outcome =
        Outcome(tilus_module_restore(context.get(), Bytes(flipped), &module));
    const bool reserved = i >= 12 && i < 16;
    if (i >= 8 && i < 12) {
      ASSERT_EQ(outcome, "INCOMPATIBLE T0621") << i;
    } else if (!reserved) {
      ASSERT_EQ(outcome, "DATA_LOSS T0620") << i;
    }
    if (outcome == "ok") tilus_module_destroy(module);
  }
}

TEST(CompileTest, BadProgramsSayWhichSource) {
  const Context context = MakeContext();
  const CompileOptions options = MakeCompileOptions();
  ASSERT_CALL_OK(
      tilus_compile_options_set_source_name(options.get(), tilus_string_of("kernels/a.tilus")));
  tilus_module* module = nullptr;
  const Error error(
      tilus_compile_with(context.get(), Bytes("program oops"), options.get(), &module));
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(Text(DiagnosticOf(error.get()).source), "kernels/a.tilus");
  EXPECT_EQ(module, nullptr);
}

TEST(CompileTest, WrongArgumentsAreErrors) {
  const Context context = MakeContext();
  const CompileOptions options = MakeCompileOptions();
  const Module module = Compile(context, kAddOne);
  tilus_module* none = nullptr;
  tilus_blob* blob = nullptr;
  EXPECT_EQ(Outcome(tilus_compile(nullptr, Bytes(kAddOne), &none)), kNull);
  EXPECT_EQ(Outcome(tilus_compile(context.get(), {nullptr, 0}, &none)), kNull);
  EXPECT_EQ(Outcome(tilus_compile(context.get(), {nullptr, 9}, &none)), kNull);
  EXPECT_EQ(Outcome(tilus_compile(context.get(), Bytes(kAddOne), nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_program_compile(nullptr, nullptr, &none)), kNull);
  EXPECT_EQ(Outcome(tilus_compile_options_create(nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_compile_options_add_target(nullptr, tilus_string_of("sm_80"))), kNull);
  EXPECT_EQ(Outcome(tilus_compile_options_set_assembly(options.get(),
                                                       static_cast<tilus_assembly>(7))),
            kInvalid);
  EXPECT_EQ(Outcome(tilus_module_image(module.get(), static_cast<tilus_image>(77),
                                       tilus_string_of(""), &blob)),
            kInvalid);
  EXPECT_EQ(Outcome(tilus_module_image(nullptr, TILUS_IMAGE_PTX, tilus_string_of(""), &blob)),
            kNull);
  EXPECT_EQ(Outcome(tilus_module_save(module.get(), nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_module_restore(context.get(), {nullptr, 0}, &none)), kNull);
  EXPECT_EQ(tilus_module_kernel_count(nullptr), 0u);
  EXPECT_EQ(tilus_module_stage_count(nullptr), 0u);
  EXPECT_EQ(Text(tilus_module_target_name(module.get(), 1)), "");
  tilus_module_destroy(nullptr);
  tilus_compile_options_destroy(nullptr);
}

TEST(CompileTest, RandomBytesNeverDoWorseThanAnError) {
  const Context context = MakeContext();
  const std::string bytes = Image(Compile(context, kTwo), TILUS_IMAGE_PROTOBUF);
  uint32_t random = 7;
  for (int i = 0; i < 2000; ++i) {
    std::string mutated = i % 2 == 0 ? bytes : std::string(kTwo);
    for (int k = 0; k < 3; ++k) {
      random = random * 1664525 + 1013904223;
      mutated[(random >> 8) % mutated.size()] = static_cast<char>(random >> 24);
    }
    tilus_module* module = nullptr;
    const std::string outcome = Outcome(tilus_compile(context.get(), Bytes(mutated), &module));
    EXPECT_EQ(outcome == "ok", module != nullptr);
    EXPECT_THAT(outcome, testing::Not(testing::StartsWith("INTERNAL")));
    tilus_module_destroy(module);
  }
}

}  // namespace
}  // namespace capi_test

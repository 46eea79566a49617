#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "programs.h"

namespace capi_test {
namespace {

Options MakeOptions() {
  tilus_context_options* options = nullptr;
  EXPECT_CALL_OK(tilus_context_options_create(&options));
  return Options(options);
}

tilus_code CountSteps(void* user, tilus_string, uint64_t, uint64_t) {
  ++*static_cast<int*>(user);
  return TILUS_OK;
}

// A context that counts how much it compiles.
Context Counting(const Options& options, int* steps) {
  EXPECT_CALL_OK(tilus_context_options_set_progress(options.get(), CountSteps, steps, nullptr));
  return MakeContext(options.get());
}

TEST(MemoryCacheTest, EqualInputsAreCompiledOnce) {
  int steps = 0;
  const Context context = Counting(MakeOptions(), &steps);
  const Module first = Compile(context, kTwo);
  const int once = steps;
  EXPECT_GT(once, 0);
  const Module second = Compile(context, kTwo);
  EXPECT_EQ(steps, once);
  EXPECT_EQ(Image(second, TILUS_IMAGE_PTX), Image(first, TILUS_IMAGE_PTX));
  const CompileOptions options = MakeCompileOptions();
  ASSERT_CALL_OK(tilus_compile_options_add_target(options.get(), tilus_string_of("sm_90a")));
  EXPECT_THAT(Image(Compile(context, kTwo, options.get()), TILUS_IMAGE_PTX),
              testing::HasSubstr(".target sm_90a"));
  const CompileOptions contract = MakeCompileOptions();
  ASSERT_CALL_OK(tilus_compile_options_allow_contraction(contract.get()));
  steps = 0;
  Compile(context, kTwo, contract.get());
  EXPECT_EQ(steps, once) << "other options are another compile";
}

TEST(MemoryCacheTest, ProgramsAreFoundByContent) {
  int steps = 0;
  const Context context = Counting(MakeOptions(), &steps);
  Compile(context, kAddOne);
  const int once = steps;
  std::string spelled = "; the same\n\n";
  spelled += kAddOne;
  tilus_program* raw = nullptr;
  ASSERT_CALL_OK(
      tilus_program_parse(context.get(), View(spelled), tilus_string_of(""), &raw));
  const Program program(raw);
  tilus_module* module = nullptr;
  ASSERT_CALL_OK(tilus_program_compile(program.get(), nullptr, &module));
  tilus_module_destroy(module);
  EXPECT_EQ(steps, once);
}

TEST(MemoryCacheTest, IsBoundedAndCanBeOff) {
  for (uint64_t capacity : {uint64_t{0}, uint64_t{1}}) {
    int steps = 0;
    const Options options = MakeOptions();
    ASSERT_CALL_OK(tilus_context_options_set_memory_cache(options.get(), capacity));
    const Context context = Counting(options, &steps);
    Compile(context, kAddOne);
    const int once = steps;
    Compile(context, kAddOne);
    EXPECT_EQ(steps, 2 * once);
  }
}

void Remember(void* user, const tilus_diagnostic* entry) {
  static_cast<std::vector<std::string>*>(user)->push_back(Text(entry->id));
}

class DiskCacheTest : public testing::Test {
 protected:
  DiskCacheTest() {
    char name[] = "/tmp/tilus_cache_test.XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~DiskCacheTest() override {
    for (const std::string& path : Entries()) unlink(path.c_str());
    rmdir((folder_ + "/deep/er").c_str());
    rmdir((folder_ + "/deep").c_str());
    rmdir(folder_.c_str());
  }

  std::vector<std::string> Entries() const {
    std::vector<std::string> paths;
    const std::string folder = folder_ + "/deep/er";
    DIR* dir = opendir(folder.c_str());
    for (dirent* e; dir != nullptr && (e = readdir(dir)) != nullptr;) {
      if (e->d_name[0] != '.') paths.push_back(folder + "/" + e->d_name);
    }
    if (dir != nullptr) closedir(dir);
    return paths;
  }

  Context WithCache(std::vector<std::string>* log = nullptr) const {
    const Options options = MakeOptions();
    EXPECT_CALL_OK(
        tilus_context_options_set_disk_cache(options.get(), View(folder_ + "/deep/er")));
    if (log != nullptr) {
      EXPECT_CALL_OK(tilus_context_options_set_log(options.get(), Remember, log, nullptr));
    }
    return MakeContext(options.get());
  }

  std::string folder_;
};

TEST_F(DiskCacheTest, CubinsAreKeptAndDamageCountsAsAbsent) {
  if (tilus_context_assembler(MakeContext().get()).size == 0) {
    GTEST_SKIP() << "no assembler here, so there are no cubins to keep";
  }
  const std::string cubin = Image(Compile(WithCache(), kAddOne), TILUS_IMAGE_CUBIN);
  ASSERT_EQ(Entries().size(), 1u);
  const std::string path = Entries()[0];
  EXPECT_EQ(Image(Compile(WithCache(), kAddOne), TILUS_IMAGE_CUBIN), cubin);
  for (const char* damage : {"", "TILUSCUB", "TILUSCUB0123456789abcdefnot the content"}) {
    std::ofstream(path, std::ios::trunc) << damage;
    EXPECT_EQ(Image(Compile(WithCache(), kAddOne), TILUS_IMAGE_CUBIN), cubin);
    EXPECT_EQ(Entries(), std::vector<std::string>{path}) << "replaced, nothing left beside it";
  }
}

TEST_F(DiskCacheTest, AFolderThatCannotBeMadeIsLoggedOnce) {
  if (tilus_context_assembler(MakeContext().get()).size == 0) {
    GTEST_SKIP() << "no assembler here, so there are no cubins to keep";
  }
  std::ofstream(folder_ + "/deep") << "a file where a folder should be";
  std::vector<std::string> log;
  const Context context = WithCache(&log);
  EXPECT_NE(Image(Compile(context, kAddOne), TILUS_IMAGE_CUBIN), "");
  EXPECT_NE(Image(Compile(context, kTwo), TILUS_IMAGE_CUBIN), "");
  EXPECT_THAT(log, testing::ElementsAre("T0625"));
  unlink((folder_ + "/deep").c_str());
}

}  // namespace
}  // namespace capi_test

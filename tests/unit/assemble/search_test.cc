// Where the assembler is looked for, and which names of it are taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "assemble/nvjitlink.h"
#include "base/diagnostic.h"

namespace tilus::assemble {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

DiagId IdOf(const absl::Status& status) { return DiagnosticsOf(status)[0].id; }

class SearchTest : public ::testing::Test {
 protected:
  SearchTest() {
    char pattern[] = "/tmp/tilus_search_XXXXXX";
    root_ = mkdtemp(pattern);
  }
  ~SearchTest() override { fs::remove_all(root_); }

  std::string Touch(const std::string& path) {
    const fs::path file = fs::path(root_) / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "not a library";
    return file.string();
  }

  std::string root_;
};

TEST_F(SearchTest, AFileNamedExplicitlyIsTheOnlyCandidate) {
  NvJitLinkSearch search;
  search.library = "/some/file.so";
  search.folders = {root_};
  Touch("lib64/libnvJitLink.so.13");
  EXPECT_THAT(NvJitLinkCandidates(search), ElementsAre("/some/file.so"));
}

TEST_F(SearchTest, FoldersComeBeforeTheLoaderAndTheSystemAfter) {
  const std::string a12 = Touch("a/lib64/libnvJitLink.so.12");
  const std::string a13 = Touch("a/lib64/libnvJitLink.so.13");
  const std::string wheel = Touch("b/nvidia/cu13/lib/libnvJitLink.so.13");
  const std::string old_wheel = Touch("b/nvidia/nvjitlink/lib/libnvJitLink.so.12");
  const std::string own = Touch("b/lib/libnvJitLink.so.13");
  const std::string system9 = Touch("system/cuda-12.9/lib64/libnvJitLink.so.12");
  const std::string system10 = Touch("system/cuda-12.10/lib64/libnvJitLink.so.12");
  NvJitLinkSearch search;
  search.folders = {root_ + "/b", root_ + "/a", root_ + "/missing"};
  search.system_pattern = root_ + "/system/cuda*";
  EXPECT_THAT(NvJitLinkCandidates(search),
              ElementsAre(own, wheel, old_wheel, a13, a12, "libnvJitLink.so.13",
                          "libnvJitLink.so.12", "libnvJitLink.so", system10, system9));
}

TEST_F(SearchTest, TheEnvironmentNamesTheFolders) {
  setenv("TILUS_CUDA_PATH", "/one", 1);
  setenv("CUDA_HOME", "/two", 1);
  setenv("CUDA_PATH", "", 1);
  setenv("TILUS_NVJITLINK", "/file", 1);
  const NvJitLinkSearch search = SearchOfEnvironment();
  for (const char* name : {"TILUS_CUDA_PATH", "CUDA_HOME", "CUDA_PATH", "TILUS_NVJITLINK"}) {
    unsetenv(name);
  }
  EXPECT_EQ(search.library, "/file");
  EXPECT_THAT(search.folders, ElementsAre("/one", "/two"));
  EXPECT_EQ(search.system_pattern, "/usr/local/cuda*");
}

absl::StatusOr<std::unique_ptr<NvJitLink>> LoadFile(const std::string& path) {
  NvJitLinkSearch search;
  search.library = path;
  return LoadNvJitLink(search);
}

TEST_F(SearchTest, NamesOfTheNewestReleaseAreTaken) {
  auto one = LoadFile(FAKE_NVJITLINK_RELEASE);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ((*one)->version_major, 12);
  EXPECT_EQ((*one)->version_minor, 3);
  EXPECT_EQ((*one)->path, FAKE_NVJITLINK_RELEASE);
  auto two = LoadFile(FAKE_NVJITLINK_RELEASES);
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_EQ((*two)->version_major, 13);
  EXPECT_EQ((*two)->version_minor, 0);
}

TEST_F(SearchTest, NamesWithoutAReleaseServeAndTheVersionIsAsked) {
  auto plain = LoadFile(FAKE_NVJITLINK_PLAIN);
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ((*plain)->version_major, 14);
  EXPECT_EQ((*plain)->version_minor, 2);
}

TEST_F(SearchTest, ALibraryThatLacksAFunctionIsUnusable) {
  EXPECT_EQ(IdOf(LoadFile(FAKE_NVJITLINK_BROKEN).status()), DiagId::kAssemblerUnusable);
  const absl::Status status = LoadFile("libm.so.6").status();
  EXPECT_EQ(IdOf(status), DiagId::kAssemblerUnusable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("libm.so.6"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("nvJitLinkCreate"));
}

TEST_F(SearchTest, WhatWasTriedIsNamedWhenNothingLoads) {
  const absl::Status missing = LoadFile("/nonexistent/libnvJitLink.so").status();
  EXPECT_EQ(IdOf(missing), DiagId::kAssemblerMissing);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("/nonexistent/libnvJitLink.so"));
  const absl::Status garbage = LoadFile(Touch("libnvJitLink.so")).status();
  EXPECT_EQ(IdOf(garbage), DiagId::kAssemblerMissing);
  EXPECT_THAT(std::string(garbage.message()), HasSubstr("could not be loaded"));
}

TEST_F(SearchTest, AFileThatDoesNotLoadIsPassedOver) {
  Touch("x/lib64/libnvJitLink.so.13");
  fs::create_directories(root_ + "/y/lib64");
  fs::copy_file(FAKE_NVJITLINK_RELEASE, root_ + "/y/lib64/libnvJitLink.so.12");
  NvJitLinkSearch search;
  search.folders = {root_ + "/x", root_ + "/y"};
  const auto api = LoadNvJitLink(search);
  ASSERT_TRUE(api.ok()) << api.status();
  EXPECT_EQ((*api)->path, root_ + "/y/lib64/libnvJitLink.so.12");
}

}  // namespace
}  // namespace tilus::assemble

// filetests FOLDER-OR-FILE...: runs every .tilus file in the modes that it names.
//
// TILUS_BLESS=1 rewrites expected output instead of comparing it; look at the difference before it
// is committed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "modes.h"
#include "test_file.h"

namespace tilus::filetests {
namespace {

std::vector<std::string> FilesIn(const std::string& root) {
  std::vector<std::string> files;
  if (!std::filesystem::is_directory(root)) return {root};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".tilus") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

absl::Status RunMode(const TestFile& file, const std::string& name, Expectation expectation) {
  for (const Mode& mode : AllModes()) {
    if (name == mode.name) return mode.run(file, expectation);
  }
  return absl::NotFoundError("there is no mode '" + name + "'");
}

// The number of failures.
int RunFile(const std::string& path, Expectation expectation) {
  const absl::StatusOr<TestFile> file = ReadTestFile(path);
  int failures = 0;
  const auto fail = [&](const std::string& mode, const absl::Status& status) {
    ++failures;
    std::printf("FAIL %s (%s)\n%s\n", path.c_str(), mode.c_str(),
                std::string(status.message()).c_str());
  };
  if (!file.ok()) {
    fail("read", file.status());
    return failures;
  }
  if (file->modes.empty()) fail("read", absl::NotFoundError("no '; test:' line"));
  for (const std::string& mode : file->modes) {
    if (absl::Status status = RunMode(*file, mode, expectation); !status.ok()) fail(mode, status);
  }
  return failures;
}

}  // namespace
}  // namespace tilus::filetests

int main(int argc, char** argv) {
  using tilus::filetests::Expectation;
  const char* bless = std::getenv("TILUS_BLESS");
  const Expectation expectation =
      bless != nullptr && bless[0] == '1' ? Expectation::kBless : Expectation::kCompare;
  int files = 0;
  int failures = 0;
  for (int i = 1; i < argc; ++i) {
    for (const std::string& path : tilus::filetests::FilesIn(argv[i])) {
      ++files;
      failures += tilus::filetests::RunFile(path, expectation);
    }
  }
  std::printf("%d files, %d failures\n", files, failures);
  return failures == 0 && files > 0 ? 0 : 1;
}

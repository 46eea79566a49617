#include "ptxas.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tilus::ptx {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

std::string FindPtxas() {
  std::vector<std::string> candidates;
  if (const char* exact = std::getenv("TILUS_PTXAS")) candidates.push_back(exact);
  std::vector<std::string> roots;
  if (const char* root = std::getenv("TILUS_CUDA_PATH")) roots.push_back(root);
  if (const char* root = std::getenv("TILUS_CUDA_DIR")) roots.push_back(root);
  if (const char* home = std::getenv("HOME")) {
    roots.push_back(absl::StrCat(home, "/.cache/libtilus/cuda"));
  }
  for (const std::string& root : roots) {
    candidates.push_back(absl::StrCat(root, "/bin/ptxas"));
    candidates.push_back(absl::StrCat(root, "/nvidia/cu13/bin/ptxas"));
  }
  for (const std::string& path : candidates) {
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

std::string Assemble(const std::string& ptxas, absl::string_view text, absl::string_view target,
                     absl::string_view options) {
  std::string stem = absl::StrCat(::testing::TempDir(), "/tilus_ptx_", getpid());
  const std::string source = stem + ".ptx", said = stem + ".txt", binary = stem + ".cubin";
  std::ofstream(source) << std::string(text);
  const std::string command =
      absl::StrCat("'", ptxas, "' -v ", options, " -arch ", target, " '", source, "' -o '", binary,
                   "' > '", said, "' 2>&1");
  const int rc = std::system(command.c_str());
  std::string output = ReadFile(said);
  for (const std::string& path : {source, said, binary}) std::remove(path.c_str());
  if (rc != 0) return absl::StrCat("ptxas exits with ", rc, "\n", output);
  if (absl::StrContains(output, "spill") && !absl::StrContains(output, "0 bytes spill stores")) {
    return absl::StrCat("spills\n", output);
  }
  return "";
}

}  // namespace tilus::ptx

// The .tilus programs of the tree, as inputs of the tests.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tilus {

struct ProgramFile {
  std::string name;
  std::string text;
};

// Every program of examples/ and tests/filetests/programs, by name.
inline std::vector<ProgramFile> ProgramFiles() {
  std::vector<ProgramFile> files;
  for (const char* folder : {"/examples", "/tests/filetests/programs"}) {
    const std::filesystem::path path = std::string(TILUS_SOURCE_DIR) + folder;
    if (!std::filesystem::exists(path)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() != ".tilus") continue;
      std::ifstream in(entry.path());
      std::stringstream text;
      text << in.rdbuf();
      files.push_back({entry.path().filename().string(), text.str()});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const ProgramFile& a, const ProgramFile& b) { return a.name < b.name; });
  return files;
}

}  // namespace tilus

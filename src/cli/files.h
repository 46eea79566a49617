// Whole files in and out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilus::cli {

// The bytes of a file, or of stdin for "-". Reading stops after `limit` bytes and one more, so that
// who gets them sees that there are too many. Throws Exit::kEnvironment.
std::vector<uint8_t> ReadFile(const std::string& path, size_t limit = SIZE_MAX - 1);

// A file that appears under its name as a whole, at Commit, or not at all. Until then it lies
// beside it under a name of its own, which is removed when Commit is not reached. What is no
// regular file (/dev/null, a pipe) is written in place at Commit. Throws Exit::kEnvironment.
class StagedFile {
 public:
  StagedFile(std::string path, std::string_view bytes);
  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&&) = delete;
  ~StagedFile();
  void Commit();

 private:
  std::string path_;       // as the user gave it
  std::string target_;     // the same without symbolic links
  std::string temporary_;  // empty when there is none
  std::string in_place_;   // bytes for what is no regular file
};

// Stages and commits one file, or prints the bytes where `path` is "-".
void WriteFile(const std::string& path, std::string_view bytes);

// What findings call an input: its path, or "<stdin>".
std::string SourceName(const std::string& path);

}  // namespace tilus::cli

// A .tilus file with what its comments expect.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/diagnostic.h"

namespace tilus::filetests {

// "; error: T0230 words of the message", at the end of the line at fault.
struct ExpectedError {
  int line = 0;
  std::string id;
  std::string words;
};

struct TestFile {
  std::string path;
  std::string text;                // all of it
  std::vector<std::string> modes;  // of the "; test:" lines
  std::vector<ExpectedError> errors;
  std::string expected;                        // the lines under "; expected:", without "; "
  size_t expected_offset = std::string::npos;  // where that block begins in `text`
};

absl::StatusOr<TestFile> ReadTestFile(const std::string& path);

// Rewrites the block of expected output.
absl::Status WriteExpected(const TestFile& file, absl::string_view output);

// Matches errors against expectations, each way; the message lists every difference.
absl::Status CompareErrors(const TestFile& file, const std::vector<Diagnostic>& found);

}  // namespace tilus::filetests

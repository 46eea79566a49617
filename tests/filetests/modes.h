// What can be tested of a file: a mode is a function and a row in the table of modes.cc.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "test_file.h"

namespace tilus::filetests {

enum class Expectation { kCompare, kBless };

struct Mode {
  const char* name;  // as after "; test:"
  absl::Status (*run)(const TestFile& file, Expectation expectation);
};
absl::Span<const Mode> AllModes();

}  // namespace tilus::filetests

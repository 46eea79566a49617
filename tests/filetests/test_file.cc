#include "test_file.h"

#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tilus::filetests {
namespace {

constexpr char kExpected[] = "; expected:\n";

// What follows `key` in a comment of the line, up to the next comment.
absl::string_view AfterKey(absl::string_view line, absl::string_view key) {
  const size_t at = line.find(key);
  if (at == absl::string_view::npos) return {};
  return absl::StripAsciiWhitespace(line.substr(at + key.size()));
}

void ReadExpectations(TestFile* file) {
  int number = 0;
  for (absl::string_view line : absl::StrSplit(file->text, '\n')) {
    ++number;
    const absl::string_view modes = AfterKey(line, "; test:");
    for (absl::string_view mode : absl::StrSplit(modes, ' ', absl::SkipEmpty())) {
      file->modes.emplace_back(mode);
    }
    // Several errors of one line stand one after the other.
    absl::string_view rest = line;
    for (size_t at; (at = rest.find("; error:")) != absl::string_view::npos;) {
      rest.remove_prefix(at + 8);
      const absl::string_view one =
          absl::StripAsciiWhitespace(rest.substr(0, rest.find("; error:")));
      const size_t space = std::min(one.find(' '), one.size());
      file->errors.push_back({number, std::string(one.substr(0, space)),
                              std::string(absl::StripAsciiWhitespace(one.substr(space)))});
    }
  }
}

}  // namespace

absl::StatusOr<TestFile> ReadTestFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  std::ostringstream buffer;
  buffer << in.rdbuf();
  TestFile file;
  file.path = path;
  file.text = buffer.str();
  file.expected_offset = file.text.find(kExpected);
  if (file.expected_offset != std::string::npos) {
    const absl::string_view block =
        absl::string_view(file.text).substr(file.expected_offset + sizeof(kExpected) - 1);
    for (absl::string_view line : absl::StrSplit(block, '\n')) {
      if (!absl::ConsumePrefix(&line, ";")) continue;
      absl::ConsumePrefix(&line, " ");
      absl::StrAppend(&file.expected, line, "\n");
    }
  }
  ReadExpectations(&file);
  return file;
}

absl::Status WriteExpected(const TestFile& file, absl::string_view output) {
  std::string text = file.text.substr(0, file.expected_offset);
  while (absl::EndsWith(text, "\n\n")) text.pop_back();
  absl::StrAppend(&text, "\n", kExpected);
  for (absl::string_view line : absl::StrSplit(absl::StripSuffix(output, "\n"), '\n')) {
    absl::StrAppend(&text, line.empty() ? ";" : "; ", line, "\n");
  }
  std::ofstream out(file.path, std::ios::binary);
  out << text;
  return out ? absl::OkStatus() : absl::UnknownError(absl::StrCat("cannot write ", file.path));
}

absl::Status CompareErrors(const TestFile& file, const std::vector<Diagnostic>& found) {
  std::string problems;
  std::vector<bool> matched(found.size());
  for (const ExpectedError& expected : file.errors) {
    bool seen = false;
    for (size_t i = 0; i < found.size() && !seen; ++i) {
      seen = !matched[i] && found[i].span.line == expected.line &&
             DiagIdText(found[i].id) == expected.id &&
             absl::StrContains(found[i].message, expected.words);
      if (seen) matched[i] = true;
    }
    if (!seen) {
      absl::StrAppend(&problems, "line ", expected.line, ": no error ", expected.id, " \"",
                      expected.words, "\"\n");
    }
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (!matched[i])
      absl::StrAppend(&problems, "unexpected ", FormatDiagnostic(found[i], ""), "\n");
  }
  return problems.empty() ? absl::OkStatus() : absl::FailedPreconditionError(problems);
}

}  // namespace tilus::filetests

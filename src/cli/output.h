// What the tool writes: answers to stdout, findings to stderr.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "cli/failure.h"

namespace tilus::cli {

// JSON whose members keep the order in which they are written.
using Json = nlohmann::ordered_json;

// Writes to stdout. Failures of the stream are found by FlushAnswer.
void Print(std::string_view text);
void PrintLine(std::string_view text);
// One line. Bytes that are not UTF-8 (a file's name) become U+FFFD.
void PrintJson(const Json& value);
std::string JsonText(const Json& value);

// Throws when something that was printed did not get out.
void FlushAnswer();

// Whether to colour what goes to a stream: when it is a terminal, and $NO_COLOR is not set.
enum class Stream { kAnswer, kFindings };
bool IsTerminal(Stream stream);
bool WantsColor(Stream stream);

// Text: each finding as
//     file:14:8: error[T0230]: message
//        the line
//            ^~~~ at the.path
//        help: hint
// written at once. JSON: one array on stderr at the end, when there is a finding.
enum class FindingsAs { kText, kJson };

class Findings {
 public:
  void SetForm(FindingsAs form) { form_ = form; }
  FindingsAs form() const { return form_; }
  void Add(Finding finding);
  // Writes what is left to write.
  void Finish();

 private:
  FindingsAs form_ = FindingsAs::kText;
  std::vector<Finding> waiting_;
};

// The text of a finding as above, with a newline at its end.
enum class Color { kNever, kAlways };
std::string FindingText(const Finding& finding, Color color);

}  // namespace tilus::cli

#include "cli/tool.h"

#include <charconv>

#include "cli/cat.h"

namespace tilus::cli {

CLI::App* AddCommand(CLI::App* parent, const std::string& name, const std::string& description,
                     const std::string& examples) {
  CLI::App* app = parent->add_subcommand(name, description);
  if (!examples.empty()) app->footer("Examples:\n" + examples);
  return app;
}

int64_t ParseInteger(std::string_view text, const std::string& what) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    Fail(Exit::kUsage, Id::kUsage, Cat(what, ": \"", text, "\" is not an integer"));
  }
  return value;
}

std::vector<int64_t> ParseIntegers(std::string_view text, char separator, const std::string& what) {
  std::vector<int64_t> values;
  for (;;) {
    const size_t end = text.find(separator);
    values.push_back(ParseInteger(text.substr(0, end), what));
    if (end == std::string_view::npos) return values;
    text.remove_prefix(end + 1);
  }
}

}  // namespace tilus::cli

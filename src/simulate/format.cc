#include "simulate/format.h"

#include <algorithm>
#include <bit>
#include <cstdio>

#include "absl/strings/str_cat.h"

namespace tilus::simulate {
namespace {

constexpr absl::string_view kFlags = "-+ #0123456789.";
constexpr size_t kLongestSpec = 16;  // of flags, width and precision: bounds the text of one value

template <typename T>
std::string Print(const std::string& spec, T value) {
  char text[512];
  const int length = std::snprintf(text, sizeof text, spec.c_str(), value);
  return length < 0 ? "" : std::string(text, std::min<size_t>(length, sizeof text - 1));
}

std::string FormatValue(const std::string& flags, bool is_long, char conversion, uint64_t value,
                        absl::Span<const std::string> strings) {
  const std::string spec = absl::StrCat("%", flags);
  switch (conversion) {
    case 'd':
    case 'i':
      return is_long ? Print(spec + "lld", static_cast<long long>(value))
                     : Print(spec + "d", static_cast<int>(value));
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return is_long ? Print(absl::StrCat(spec, "ll", absl::string_view(&conversion, 1)),
                             static_cast<unsigned long long>(value))
                     : Print(spec + conversion, static_cast<unsigned>(value));
    case 'c':
      return Print(spec + "c", static_cast<int>(value));
    case 's':
      return value < strings.size() ? Print(spec + "s", strings[value].c_str()) : "";
    default:
      return Print(spec + conversion, std::bit_cast<double>(value));
  }
}

}  // namespace

std::string FormatPrintf(absl::string_view format, absl::Span<const uint64_t> values,
                         absl::Span<const std::string> strings) {
  constexpr absl::string_view kConversions = "diuxXocseEfFgGaA";
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    size_t at = i + 1;
    std::string flags;
    while (at < format.size() && kFlags.find(format[at]) != absl::string_view::npos) {
      flags += format[at++];
    }
    bool is_long = false;
    while (at < format.size() &&
           absl::string_view("lzjh").find(format[at]) != absl::string_view::npos) {
      is_long |= format[at++] != 'h';
    }
    if (at < format.size() && format[at] == '%') {
      out += '%';
    } else if (at < format.size() && flags.size() <= kLongestSpec && next < values.size() &&
               kConversions.find(format[at]) != absl::string_view::npos) {
      out += FormatValue(flags, is_long, format[at], values[next++], strings);
    } else {
      out += std::string(format.substr(i, at + 1 - i));
    }
    i = at;
  }
  return out;
}

}  // namespace tilus::simulate

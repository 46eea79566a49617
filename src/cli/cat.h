// Text out of texts and integers.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>

namespace tilus::cli {

// Cat("shape ", 16, "x", 8) is "shape 16x8".
template <typename... Parts>
std::string Cat(const Parts&... parts) {
  std::string text;
  const auto append = [&text](const auto& part) {
    if constexpr (std::is_integral_v<std::decay_t<decltype(part)>> &&
                  !std::is_same_v<std::decay_t<decltype(part)>, char>) {
      char digits[24];
      text.append(digits, std::to_chars(digits, digits + sizeof digits, part).ptr);
    } else if constexpr (std::is_same_v<std::decay_t<decltype(part)>, char>) {
      text += part;
    } else {
      text += std::string_view(part);
    }
  };
  (append(parts), ...);
  return text;
}

}  // namespace tilus::cli

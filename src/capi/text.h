// Text and bytes across the ABI.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "tilus.h"

// What tilus_blob_data points to.
struct tilus_blob {
  std::string bytes;
};

namespace tilus::capi {

inline tilus_string ToString(const std::string& text) { return {text.c_str(), text.size()}; }
inline absl::string_view ToView(tilus_string text) { return {text.data, text.size}; }

bool IsValidUtf8(absl::string_view text);
// The text with every byte that is not part of a valid UTF-8 sequence, and every NUL, replaced by
// U+FFFD.
std::string ValidUtf8(absl::string_view text);

}  // namespace tilus::capi

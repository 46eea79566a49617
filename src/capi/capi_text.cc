#include <cstdint>
#include <cstring>

#include "capi/text.h"

namespace tilus::capi {
namespace {

// The length of the valid UTF-8 sequence that `text` (not empty) starts with; 0 when it is none.
// Overlong forms, surrogates and code points above U+10FFFF are not valid.
size_t SequenceLength(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  size_t length = 0;
  uint8_t low = 0x80;  // bounds of the second byte
  uint8_t high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if ((lead & 0xf0) == 0xe0) {
    length = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  }
  if (length == 0 || text.size() < length || byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

bool IsValidUtf8(absl::string_view text) {
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string ValidUtf8(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = text[0] == '\0' ? 0 : SequenceLength(text);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      text.remove_prefix(1);
    } else {
      out.append(text.data(), length);
      text.remove_prefix(length);
    }
  }
  return out;
}

}  // namespace tilus::capi

static_assert(TILUS_VERSION == (TILUS_PROJECT_MAJOR << 16 | TILUS_PROJECT_MINOR << 8 |
                               TILUS_PROJECT_PATCH),
              "the header's version is not the project's");

uint32_t tilus_version(void) { return TILUS_VERSION; }

tilus_string tilus_build_info(void) {
  return tilus_string_of("tilus " TILUS_PROJECT_VERSION ", "
#if defined(__clang__)
                         "clang " __clang_version__
#else
                         "gcc " __VERSION__
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
                         ", sanitized"
#endif
#if defined(NDEBUG)
                         ", release");
#else
                         ", with assertions");
#endif
}

tilus_string tilus_string_of(const char* text) {
  if (text == nullptr) text = "";
  return {text, std::strlen(text)};
}

const void* tilus_blob_data(const tilus_blob* blob) {
  return blob == nullptr ? "" : blob->bytes.c_str();
}

size_t tilus_blob_size(const tilus_blob* blob) { return blob == nullptr ? 0 : blob->bytes.size(); }

void tilus_blob_destroy(tilus_blob* blob) { delete blob; }

#include "prompt.h"

#include <algorithm>

#include "excerpt.h"

namespace quickstart {
namespace {

bool IsPrintable(uint32_t byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 255 && byte != 173);
}

// The byte that a code point stands for, or -1.
int ByteOf(uint32_t code_point) {
  if (code_point < 256) return IsPrintable(code_point) ? static_cast<int>(code_point) : -1;
  uint32_t next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    if (!IsPrintable(byte) && next++ == code_point) return byte;
  }
  return -1;
}

Error NotInAlphabet(std::string_view token) {
  return Error{"Token " + Quote(token) + " is not in the byte alphabet of a GPT-2 vocabulary"};
}

// The array of strings under `key`, or null.
const GgufArray* TextArray(const GgufFile& file, std::string_view key) {
  const GgufValue* value = file.FindValue(key);
  const bool fits = value != nullptr && value->type == GgufType::kArray &&
                    value->array.element == GgufType::kString;
  return fits ? &value->array : nullptr;
}

// True when the excerpt in `file` was made for the ids of this program.
bool ExcerptHasTokenIds(const GgufValue& ids) {
  if (ids.type != GgufType::kArray || ids.array.element != GgufType::kU32) return false;
  if (ids.array.count != kTokenCount) return false;
  for (int i = 0; i < kTokenCount; ++i) {
    if (ids.array.Scalar(i).bits != kTokenIds[i]) return false;
  }
  return true;
}

}  // namespace

Result<std::string> DecodeTokens(std::span<const std::string_view> tokens) {
  std::string text;
  for (const std::string_view token : tokens) {
    for (size_t i = 0; i < token.size(); ++i) {
      uint32_t code_point = static_cast<uint8_t>(token[i]);
      // All code points in use are below U+0800: one byte, or two.
      if (code_point >= 0xc0 && code_point < 0xe0 && i + 1 < token.size()) {
        code_point = (code_point & 31) << 6 | (static_cast<uint8_t>(token[++i]) & 63);
      } else if (code_point >= 0x80) {
        return NotInAlphabet(token);
      }
      const int byte = ByteOf(code_point);
      if (byte < 0) return NotInAlphabet(token);
      text += static_cast<char>(byte);
    }
  }
  return text;
}

Result<std::vector<uint64_t>> PromptRows(const GgufFile& file) {
  const GgufValue* excerpt_ids = file.FindValue(kExcerptTokenIds);
  const bool is_excerpt = excerpt_ids != nullptr;
  const GgufArray* vocabulary =
      TextArray(file, is_excerpt ? kExcerptTokens : std::string_view("tokenizer.ggml.tokens"));
  if (vocabulary == nullptr) return Error{"The GGUF file has no vocabulary"};
  if (is_excerpt && !ExcerptHasTokenIds(*excerpt_ids)) {
    return Error{"The excerpt was made for other token ids than this program's"};
  }

  std::vector<uint64_t> rows;
  std::vector<std::string_view> tokens;
  for (int i = 0; i < kTokenCount; ++i) {
    rows.push_back(is_excerpt ? static_cast<uint64_t>(i) : kTokenIds[i]);
    if (rows.back() >= vocabulary->count) {
      return Error{"The vocabulary of the GGUF file has " + std::to_string(vocabulary->count) +
                   " tokens, and token " + std::to_string(rows.back()) + " is needed"};
    }
    tokens.push_back(vocabulary->strings[rows.back()]);
  }
  Result<std::string> text = DecodeTokens(tokens);
  if (!text.ok()) return text.error();
  if (*text != kSentence) {
    return Error{"The 16 token ids spell " + Quote(*text) + " in the vocabulary of the GGUF file"};
  }
  return rows;
}

}  // namespace quickstart

// The sentence whose 16 tokens are the rows of the activations.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf.h"
#include "result.h"

namespace quickstart {

inline constexpr char kSentence[] =
    "The sun rises in the east, and the river carries snow to the sea.";

// Its token ids in the vocabulary of SmolLM2, one a token:
// The| sun| rises| in| the| east|,| and| the| river| carries| snow| to| the| sea|.
inline constexpr uint32_t kTokenIds[] = {504, 2388, 13685, 281,  260, 6251, 28,   284,
                                         260, 4626, 11046, 5806, 288, 260,  3426, 30};
inline constexpr int kTokenCount = 16;
static_assert(sizeof(kTokenIds) / sizeof(kTokenIds[0]) == kTokenCount);

// The text that GPT-2-style vocabulary entries spell: such a vocabulary writes each byte as one
// code point, printable ones as themselves and the others from U+0100 on, so that a space is
// U+0120 (G with a dot). An error for a code point that stands for no byte.
Result<std::string> DecodeTokens(std::span<const std::string_view> tokens);

// The rows of token_embd.weight that hold the sentence's tokens: the token ids themselves in a
// whole file, 0 to 15 in the excerpt (excerpt.h). An error unless the file's own vocabulary spells
// kSentence with kTokenIds.
Result<std::vector<uint64_t>> PromptRows(const GgufFile& file);

}  // namespace quickstart

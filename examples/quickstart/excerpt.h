// The excerpt in examples/data: the tensors of the example alone, in a GGUF file of their own, for
// when the whole model cannot be had.
//
// Its tensors carry the names and the bytes of the whole file, but token_embd.weight has only the
// 16 rows of the prompt's tokens, in the prompt's order; their ids and their vocabulary entries are
// the values named below.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "gguf.h"
#include "result.h"

namespace quickstart {

inline constexpr std::string_view kExcerptTokenIds = "excerpt.token_ids";  // u32[16]
inline constexpr std::string_view kExcerptTokens = "excerpt.tokens";       // string[16]

// The bytes of the excerpt of `file`. An error when `file` lacks a tensor or its vocabulary does
// not spell the sentence.
Result<std::vector<uint8_t>> MakeExcerpt(const GgufFile& file);

}  // namespace quickstart

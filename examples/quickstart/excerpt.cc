#include "excerpt.h"

#include "gguf_writer.h"
#include "layer.h"
#include "prompt.h"

namespace quickstart {

Result<std::vector<uint8_t>> MakeExcerpt(const GgufFile& file) {
  if (file.FindValue(kExcerptTokenIds) != nullptr) {
    return Error{"An excerpt is made from the whole model, and this file is an excerpt"};
  }
  const Result<std::vector<uint64_t>> rows = PromptRows(file);
  if (!rows.ok()) return rows.error();

  GgufWriter writer;
  for (const std::string_view key : {"general.architecture", "general.name", "general.organization",
                                     "general.license"}) {
    writer.AddText(key, file.Text(key));
  }
  writer.AddText("general.description",
                 "Excerpt: one feed-forward projection, its norm, and the embeddings of 16 tokens; "
                 "not a model that can be run");
  writer.AddText("general.source.url",
                 "https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct");
  const std::vector<std::string_view>& vocabulary =
      file.FindValue("tokenizer.ggml.tokens")->array.strings;
  std::vector<std::string_view> tokens;
  for (const uint64_t row : *rows) tokens.push_back(vocabulary[row]);
  writer.AddU32Array(kExcerptTokenIds, kTokenIds);
  writer.AddTextArray(kExcerptTokens, tokens);

  for (const std::string_view name : {kEmbeddingName, kNormName, kWeightName}) {
    const GgufTensor* tensor = file.FindTensor(name);
    if (tensor == nullptr) return Error{"The GGUF file has no tensor " + Quote(name)};
    if (name != kEmbeddingName) {
      writer.AddTensor(name, tensor->type, tensor->extents, tensor->data);
      continue;
    }
    std::vector<uint8_t> data;
    for (const uint64_t row : *rows) {
      if (row >= tensor->row_count) {
        return Error{"Tensor " + Quote(name) + " has no row " + std::to_string(row)};
      }
      const Bytes bytes = tensor->Row(row);
      data.insert(data.end(), bytes.begin(), bytes.end());
    }
    const uint64_t extents[] = {tensor->row_length(), rows->size()};
    writer.AddTensor(name, tensor->type, extents, data);
  }
  return writer.Finish();
}

}  // namespace quickstart

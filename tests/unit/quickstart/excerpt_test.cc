// The excerpt that the repository carries, and how one is made.
#include "excerpt.h"

#include <cmath>
#include <fstream>
#include <iterator>

#include "gguf_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "layer.h"
#include "prompt.h"
#include "reference.h"
#include "tensor_data.h"

namespace quickstart {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kExcerptPath[] = TILUS_SOURCE_DIR "/examples/data/smollm2_ffn_up.gguf";

std::vector<uint8_t> ReadExcerpt() {
  std::ifstream stream(kExcerptPath, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

TEST(Excerpt, IsSmallAndNamesItsSourceAndLicence) {
  const std::vector<uint8_t> bytes = ReadExcerpt();
  EXPECT_LT(bytes.size(), 1000000u);
  const Result<GgufFile> file = GgufFile::Parse(bytes);
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_EQ(file->Text("general.license"), "apache-2.0");
  EXPECT_THAT(std::string(file->Text("general.source.url")), HasSubstr("SmolLM2-135M-Instruct"));
}

// The expected numbers were computed from the whole model with NumPy, apart from this code.
TEST(Excerpt, ProductsAgreeWithNumpy) {
  const std::vector<uint8_t> bytes = ReadExcerpt();
  const Result<GgufFile> file = GgufFile::Parse(bytes);
  ASSERT_TRUE(file.ok()) << file.message();
  const Result<Q41Layer> layer = ReadQ41Layer(*file, kWeightName);
  ASSERT_TRUE(layer.ok()) << layer.message();
  EXPECT_EQ(layer->k, 576);
  EXPECT_EQ(layer->n, 1536);
  std::vector<int> first_block;
  for (int k = 0; k < 32; ++k) first_block.push_back(layer->codes[k * 1536]);
  EXPECT_THAT(first_block, ElementsAre(13, 2, 12, 10, 7, 5, 0, 12, 12, 7, 9, 7, 8, 7, 5, 6, 7, 5, 9,
                                       6, 5, 5, 8, 8, 13, 6, 5, 9, 9, 5, 15, 10));
  EXPECT_NEAR(HalfToDouble(layer->scales[0]), 0.04934692, 1e-8);
  EXPECT_EQ(HalfToDouble(layer->minima[0]), -0.41796875);

  const Result<HalfMatrix> activations = ReadActivations(*file);
  ASSERT_TRUE(activations.ok()) << activations.message();
  EXPECT_EQ(activations->rows, 16);
  EXPECT_EQ(activations->columns, 576);
  EXPECT_NEAR(HalfToDouble(activations->values[0]), 0.08465576, 1e-8);
  EXPECT_NEAR(HalfToDouble(activations->values[2]), -0.12078857, 1e-8);

  const Matrix a = Values(*activations), w = Values(*layer), c = Multiply(a, w);
  double sum = 0, squares = 0;
  for (const double value : c.values) sum += value, squares += value * value;
  EXPECT_NEAR(sum, -518.0887252227922, 1e-9);
  EXPECT_NEAR(std::sqrt(squares), 174.39593477847774, 1e-10);
  EXPECT_NEAR(c.values.front(), -0.6957567252684385, 1e-13);
  EXPECT_NEAR(c.values.back(), 0.8842643880052492, 1e-13);
  EXPECT_NEAR(RelativeError(Multiply(a, Values(QuantizeI6(w))), c), 0.022525751533322747, 1e-14);
}

TEST(Excerpt, DamageIsAnErrorOrOtherNumbersNeverACrash) {
  const std::vector<uint8_t> whole = ReadExcerpt();
  const Result<GgufFile> file = GgufFile::Parse(whole);
  ASSERT_TRUE(file.ok()) << file.message();
  for (size_t size = 0; size < file->data_begin(); ++size) {
    const std::vector<uint8_t> part(whole.begin(), whole.begin() + size);
    EXPECT_FALSE(GgufFile::Parse(part).ok()) << size;
  }
  std::vector<uint8_t> bytes = whole;
  for (size_t at = 0; at < file->data_begin(); ++at) {
    bytes[at] ^= 1u << at % 8;
    if (const Result<GgufFile> damaged = GgufFile::Parse(bytes); damaged.ok()) {
      (void)ReadActivations(*damaged);
      if (at % 16 == 0) (void)ReadQ41Layer(*damaged, kWeightName);
    }
    bytes[at] = whole[at];
  }
}

TEST(Prompt, TokensSpellBytes) {
  const std::string_view tokens[] = {"The", "\xc4\xa0sun", "\xc4\x8a", "\xc3\x83\xc2\xa9"};
  EXPECT_EQ(*DecodeTokens(tokens), "The sun\n\xc3\xa9");
  for (const std::string_view bad : {"\x80", "\xe2\x82\xac", "\xc4", " ", "\xc6\x80"}) {
    const std::string_view token[] = {bad};
    EXPECT_THAT(DecodeTokens(token).message(), HasSubstr("byte alphabet")) << Quote(bad);
  }
}

// A whole model in small: a vocabulary just large enough, K = 32 and N = 8.
struct SmallModel {
  std::vector<std::string_view> vocabulary = std::vector<std::string_view>(14000, "x");
  uint64_t width = 32;

  SmallModel() {
    constexpr std::string_view kWords[] = {
        "The", "\xc4\xa0sun", "\xc4\xa0rises", "\xc4\xa0in", "\xc4\xa0the", "\xc4\xa0" "east", ",",
        "\xc4\xa0" "and", "\xc4\xa0the", "\xc4\xa0river", "\xc4\xa0" "carries", "\xc4\xa0snow",
        "\xc4\xa0to", "\xc4\xa0the", "\xc4\xa0sea", "."};
    for (int i = 0; i < kTokenCount; ++i) vocabulary[kTokenIds[i]] = kWords[i];
  }

  std::vector<uint8_t> Write() const {
    GgufWriter writer;
    writer.AddText("general.license", "apache-2.0");
    writer.AddTextArray("tokenizer.ggml.tokens", vocabulary);
    std::vector<uint8_t> embedding(vocabulary.size() * 34), norm(width * 4), weight(8 * 20);
    for (size_t row = 0; row < vocabulary.size(); ++row) {
      embedding[row * 34 + 1] = 0x3c;
      for (int i = 0; i < 32; ++i) embedding[row * 34 + 2 + i] = row * 31 + i * 5;
    }
    for (size_t i = 3; i < norm.size(); i += 4) norm[i] = 0x3f;
    for (size_t i = 0; i < weight.size(); ++i) weight[i] = i % 20 < 4 ? 0x30 : i * 37;
    const uint64_t embedding_extents[] = {32, vocabulary.size()}, weight_extents[] = {32, 8};
    writer.AddTensor(kEmbeddingName, TensorType::kQ8_0, embedding_extents, embedding);
    writer.AddTensor(kNormName, TensorType::kF32, {&width, 1}, norm);
    writer.AddTensor(kWeightName, TensorType::kQ4_1, weight_extents, weight);
    return writer.Finish();
  }
};

TEST(Excerpt, HoldsTheSameLayerAndActivationsAsTheWholeFile) {
  const std::vector<uint8_t> whole_bytes = SmallModel().Write();
  const Result<GgufFile> whole = GgufFile::Parse(whole_bytes);
  ASSERT_TRUE(whole.ok()) << whole.message();
  const Result<std::vector<uint8_t>> bytes = MakeExcerpt(*whole);
  ASSERT_TRUE(bytes.ok()) << bytes.message();
  const Result<GgufFile> excerpt = GgufFile::Parse(*bytes);
  ASSERT_TRUE(excerpt.ok()) << excerpt.message();
  EXPECT_EQ(excerpt->Text("general.license"), "apache-2.0");
  EXPECT_EQ(ReadActivations(*excerpt)->values, ReadActivations(*whole)->values);
  EXPECT_EQ(ReadQ41Layer(*excerpt, kWeightName)->codes, ReadQ41Layer(*whole, kWeightName)->codes);
  EXPECT_EQ(ReadQ41Layer(*excerpt, kWeightName)->scales, ReadQ41Layer(*whole, kWeightName)->scales);
  EXPECT_THAT(MakeExcerpt(*excerpt).message(), HasSubstr("is an excerpt"));
}

TEST(Excerpt, OtherVocabulariesAndShapesAreRefused) {
  SmallModel other_word;
  other_word.vocabulary[kTokenIds[1]] = "\xc4\xa0moon";
  const std::vector<uint8_t> moon = other_word.Write();
  EXPECT_THAT(ReadActivations(*GgufFile::Parse(moon)).message(), HasSubstr("\"The moon rises"));
  SmallModel short_vocabulary;
  short_vocabulary.vocabulary.resize(13685);
  const std::vector<uint8_t> cut = short_vocabulary.Write();
  EXPECT_THAT(ReadActivations(*GgufFile::Parse(cut)).message(), HasSubstr("has 13685 tokens"));
  SmallModel wide_norm;
  wide_norm.width = 64;
  const std::vector<uint8_t> wide = wide_norm.Write();
  EXPECT_THAT(ReadActivations(*GgufFile::Parse(wide)).message(), HasSubstr("different lengths"));
  EXPECT_THAT(ReadQ41Layer(*GgufFile::Parse(wide), kNormName).message(), HasSubstr("is F32"));
  EXPECT_THAT(ReadQ41Layer(*GgufFile::Parse(wide), "absent").message(), HasSubstr("no tensor"));
}

}  // namespace
}  // namespace quickstart

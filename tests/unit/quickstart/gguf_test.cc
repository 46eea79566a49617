#include "gguf.h"

#include <random>
#include <string>

#include "gguf_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace quickstart {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Builds files byte by byte, right or wrong, independently of GgufWriter.
class RawFile {
 public:
  RawFile& Text(std::string_view text) { return Int(text.size(), 8).Raw(text); }
  RawFile& Raw(std::string_view text) {
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return *this;
  }
  RawFile& Int(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
    return *this;
  }
  RawFile& Header(uint64_t tensors, uint64_t pairs, uint32_t version = 3) {
    return Raw("GGUF").Int(version, 4).Int(tensors, 8).Int(pairs, 8);
  }
  RawFile& Tensor(std::string_view name, std::vector<uint64_t> extents, uint32_t type,
                  uint64_t offset) {
    Text(name).Int(extents.size(), 4);
    for (const uint64_t extent : extents) Int(extent, 8);
    return Int(type, 4).Int(offset, 8);
  }
  RawFile& Pad(size_t alignment = 32) {
    while (bytes_.size() % alignment != 0) bytes_.push_back(0);
    return *this;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

std::string Fault(const RawFile& file) {
  const Result<GgufFile> parsed = GgufFile::Parse(file.bytes());
  return parsed.ok() ? "no error" : parsed.message();
}

// Reads every byte that a file hands out, so that a sanitizer sees a view beyond its end.
uint64_t Touch(const GgufArray& array) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < array.count; ++i) {
    if (array.element == GgufType::kString) {
      for (const char c : array.strings[i]) sum += static_cast<uint8_t>(c);
    } else if (array.element == GgufType::kArray) {
      sum += Touch(array.arrays[i]);
    } else {
      sum += array.Scalar(i).bits;
    }
  }
  return sum;
}

uint64_t Touch(const GgufFile& file) {
  uint64_t sum = 0;
  for (const auto& [key, value] : file.values()) {
    for (const char c : key) sum += static_cast<uint8_t>(c);
    for (const char c : value.text) sum += static_cast<uint8_t>(c);
    sum += value.scalar.bits + Touch(value.array);
  }
  for (const GgufTensor& tensor : file.tensors()) {
    for (const char c : tensor.name) sum += static_cast<uint8_t>(c);
    for (uint64_t row = 0; row < tensor.row_count; ++row) {
      for (const uint8_t byte : tensor.Row(row)) sum += byte;
    }
  }
  return sum;
}

// A file with every kind of value, two tensors, and padding.
RawFile RichFile() {
  RawFile file;
  file.Header(2, 15);
  file.Text("u8").Int(0, 4).Int(200, 1);
  file.Text("i8").Int(1, 4).Int(0xff, 1);
  file.Text("u16").Int(2, 4).Int(60000, 2);
  file.Text("i16").Int(3, 4).Int(0x8000, 2);
  file.Text("u32").Int(4, 4).Int(4000000000, 4);
  file.Text("i32").Int(5, 4).Int(0xfffffffe, 4);
  file.Text("f32").Int(6, 4).Int(0x3fc00000, 4);
  file.Text("bool").Int(7, 4).Int(1, 1);
  file.Text("string").Int(8, 4).Text("tile");
  file.Text("u64").Int(10, 4).Int(~uint64_t{0}, 8);
  file.Text("i64").Int(11, 4).Int(~uint64_t{0}, 8);
  file.Text("f64").Int(12, 4).Int(0xbfe0000000000000, 8);
  file.Text("numbers").Int(9, 4).Int(3, 4).Int(3, 8).Int(1, 2).Int(0xffff, 2).Int(7, 2);
  file.Text("words").Int(9, 4).Int(8, 4).Int(2, 8).Text("a").Text("");
  file.Text("nested").Int(9, 4).Int(9, 4).Int(2, 8);
  file.Int(0, 4).Int(2, 8).Int(5, 1).Int(6, 1);  // u8[2]
  file.Int(8, 4).Int(1, 8).Text("deep");         // string[1]
  file.Tensor("w", {32, 2}, 3, 0).Tensor("v", {3}, 0, 64).Pad();
  for (int i = 0; i < 64 + 12; ++i) file.Int(i, 1);
  return file;
}

TEST(Gguf, ReadsEveryScalarType) {
  const RawFile raw = RichFile();
  const Result<GgufFile> file = GgufFile::Parse(raw.bytes());
  ASSERT_TRUE(file.ok()) << file.message();
  const auto scalar = [&](const char* key) { return file->FindValue(key)->scalar; };
  EXPECT_EQ(scalar("u8").Unsigned(), 200u);
  EXPECT_EQ(scalar("i8").Signed(), -1);
  EXPECT_EQ(scalar("i8").Unsigned(), std::nullopt);
  EXPECT_EQ(scalar("u16").Unsigned(), 60000u);
  EXPECT_EQ(scalar("i16").Signed(), -32768);
  EXPECT_EQ(scalar("u32").Signed(), 4000000000);
  EXPECT_EQ(scalar("i32").Signed(), -2);
  EXPECT_EQ(scalar("f32").Float(), 1.5);
  EXPECT_EQ(scalar("f32").Signed(), std::nullopt);
  EXPECT_EQ(scalar("bool").Unsigned(), 1u);
  EXPECT_EQ(scalar("u64").Unsigned(), ~uint64_t{0});
  EXPECT_EQ(scalar("u64").Signed(), std::nullopt);
  EXPECT_EQ(scalar("i64").Signed(), -1);
  EXPECT_EQ(scalar("f64").Float(), -0.5);
  EXPECT_EQ(scalar("u64").Float(), std::nullopt);
  EXPECT_EQ(file->Text("string"), "tile");
  EXPECT_EQ(file->Text("u8"), "");
  EXPECT_EQ(file->Text("absent"), "");
  EXPECT_EQ(file->FindValue("absent"), nullptr);
}

TEST(Gguf, ReadsArraysAndOneLevelOfNesting) {
  const RawFile raw = RichFile();
  const Result<GgufFile> file = GgufFile::Parse(raw.bytes());
  ASSERT_TRUE(file.ok()) << file.message();
  const GgufArray& numbers = file->FindValue("numbers")->array;
  ASSERT_EQ(numbers.count, 3u);
  EXPECT_EQ(numbers.Scalar(1).Signed(), -1);
  EXPECT_EQ(numbers.Scalar(2).Signed(), 7);
  EXPECT_THAT(file->FindValue("words")->array.strings, ElementsAre("a", ""));
  const GgufArray& nested = file->FindValue("nested")->array;
  ASSERT_EQ(nested.arrays.size(), 2u);
  EXPECT_EQ(nested.arrays[0].Scalar(1).Unsigned(), 6u);
  EXPECT_THAT(nested.arrays[1].strings, ElementsAre("deep"));
}

TEST(Gguf, PlacesTensorDataByAlignmentAndOffset) {
  const RawFile raw = RichFile();
  const Result<GgufFile> file = GgufFile::Parse(raw.bytes());
  ASSERT_TRUE(file.ok()) << file.message();
  ASSERT_EQ(file->tensors().size(), 2u);
  const GgufTensor* w = file->FindTensor("w");
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->type, TensorType::kQ4_1);
  EXPECT_THAT(w->extents, ElementsAre(32, 2));
  EXPECT_EQ(w->row_count, 2u);
  EXPECT_EQ(w->row_bytes, 20u);
  EXPECT_EQ(w->data.size(), 40u);
  EXPECT_EQ(w->Row(1)[0], 20);
  const GgufTensor* v = file->FindTensor("v");
  ASSERT_NE(v, nullptr);
  EXPECT_EQ(v->row_count, 1u);
  EXPECT_THAT(v->data, ElementsAre(64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75));
  EXPECT_EQ(file->FindTensor("x"), nullptr);
}

TEST(Gguf, HonoursTheAlignmentOfTheFile) {
  RawFile raw;
  raw.Header(2, 1, 2).Text("general.alignment").Int(4, 4).Int(8, 4);
  raw.Tensor("a", {1}, 0, 0).Tensor("b", {1}, 0, 8).Pad(8).Int(1, 8).Int(2, 4);
  const Result<GgufFile> file = GgufFile::Parse(raw.bytes());
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_EQ(file->version(), 2u);
  EXPECT_EQ(file->alignment(), 8u);
  EXPECT_EQ(file->FindTensor("b")->data[0], 2);
}

TEST(Gguf, AFileWithoutTensorsMayEndBeforeThePadding) {
  RawFile raw;
  raw.Header(0, 1).Text("k").Int(7, 4).Int(0, 1);
  EXPECT_EQ(Fault(raw), "no error");
}

TEST(Gguf, TheWriterMakesWhatTheReaderReads) {
  GgufWriter writer;
  const uint32_t numbers[] = {3, 1, 4};
  const std::string_view words[] = {"x", "yz"};
  const uint8_t data[] = {1, 2, 3, 4, 5, 6};
  const uint64_t extents[] = {1, 3};
  writer.AddU32("n", 9);
  writer.AddText("t", "text");
  writer.AddU32Array("numbers", numbers);
  writer.AddTextArray("words", words);
  writer.AddTensor("first", TensorType::kF16, extents, data);
  writer.AddTensor("second", TensorType::kF16, extents, data);
  const std::vector<uint8_t> bytes = writer.Finish();
  const Result<GgufFile> file = GgufFile::Parse(bytes);
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_EQ(file->FindValue("n")->scalar.Unsigned(), 9u);
  EXPECT_EQ(file->Text("t"), "text");
  EXPECT_EQ(file->FindValue("numbers")->array.Scalar(2).Unsigned(), 4u);
  EXPECT_THAT(file->FindValue("words")->array.strings, ElementsAre("x", "yz"));
  EXPECT_THAT(file->FindTensor("second")->data, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Gguf, EveryTruncationIsAnErrorThatSaysSo) {
  const std::vector<uint8_t> whole = RichFile().bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    // A copy of exactly this size: a sanitizer catches a read past its end.
    const std::vector<uint8_t> part(whole.begin(), whole.begin() + size);
    const Result<GgufFile> file = GgufFile::Parse(part);
    ASSERT_FALSE(file.ok()) << size;
    EXPECT_THAT(file.message(), testing::AnyOf(HasSubstr("ends inside"), HasSubstr("cannot hold")))
        << size;
  }
}

TEST(Gguf, BitFlipsNeverReadOutsideTheFile) {
  const std::vector<uint8_t> whole = RichFile().bytes();
  std::mt19937 random(20);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bytes = whole;
    const int flips = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < flips; ++i) bytes[random() % bytes.size()] ^= 1u << random() % 8;
    const Result<GgufFile> file = GgufFile::Parse(bytes);
    if (file.ok()) {
      ++accepted;
      Touch(*file);
    } else {
      EXPECT_FALSE(file.message().empty());
    }
  }
  EXPECT_GT(accepted, 0);
}

TEST(Gguf, EveryByteOfTheHeaderMayBeAnything) {
  const std::vector<uint8_t> whole = RichFile().bytes();
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const uint8_t value : {0x00, 0x01, 0x09, 0x7f, 0x80, 0xff}) {
      std::vector<uint8_t> bytes = whole;
      bytes[at] = value;
      const Result<GgufFile> file = GgufFile::Parse(bytes);
      if (file.ok()) Touch(*file);
    }
  }
}

struct BadFile {
  const char* name;
  RawFile file;
  const char* fault;
};

std::vector<BadFile> BadFiles() {
  const uint64_t huge = ~uint64_t{0}, half = uint64_t{1} << 63;
  const auto tensor = [](std::vector<uint64_t> extents, uint32_t type, uint64_t offset) {
    return RawFile().Header(1, 0).Tensor("t", std::move(extents), type, offset).Pad().Int(0, 8);
  };
  const auto pair = [] { return RawFile().Header(0, 1).Text("k"); };
  return {
      {"magic", RawFile().Raw("GGML").Int(3, 4).Int(0, 8).Int(0, 8), "not a GGUF file"},
      {"version 1", RawFile().Header(0, 0, 1), "version 1"},
      {"version 4", RawFile().Header(0, 0, 4), "version 4"},
      {"big-endian", RawFile().Header(0, 0, 3u << 24), "big-endian"},
      {"huge tensor count", RawFile().Header(huge, 0), "announces 18446744073709551615 tensors"},
      {"huge pair count", RawFile().Header(0, huge),
       "announces 18446744073709551615 metadata pairs"},
      {"huge key", RawFile().Header(0, 1).Int(huge, 8).Int(0, 8), "ends inside a metadata key"},
      {"huge string", pair().Int(8, 4).Int(huge, 8), "ends inside the metadata value \"k\""},
      {"huge array", pair().Int(9, 4).Int(10, 4).Int(uint64_t{1} << 61, 8),
       "announces 2305843009213693952 elements of the metadata value \"k\""},
      {"huge array of strings", pair().Int(9, 4).Int(8, 4).Int(huge, 8), "strings of"},
      {"huge array of arrays", pair().Int(9, 4).Int(9, 4).Int(huge, 8), "arrays of"},
      {"unknown value type", pair().Int(13, 4).Int(0, 8), "unknown type 13"},
      {"unknown element type", pair().Int(9, 4).Int(13, 4).Int(0, 8),
       "elements of the unknown type 13"},
      {"deep nesting",
       pair().Int(9, 4).Int(9, 4).Int(1, 8).Int(9, 4).Int(1, 8).Int(0, 4).Int(0, 8),
       "deeper than one level"},
      {"key twice",
       RawFile().Header(0, 2).Text("k").Int(7, 4).Int(0, 1).Text("k").Int(7, 4).Int(0, 1),
       "\"k\" twice"},
      {"hostile key", RawFile().Header(0, 1).Text("a\n\x1b\"").Int(99, 4).Int(0, 8),
       "\"a\\x0a\\x1b\\x22\" has the unknown type 99"},
      {"alignment 0", RawFile().Header(0, 1).Text("general.alignment").Int(4, 4).Int(0, 4),
       "general.alignment"},
      {"alignment 24", RawFile().Header(0, 1).Text("general.alignment").Int(4, 4).Int(24, 4),
       "general.alignment"},
      {"alignment 2^31",
       RawFile().Header(0, 1).Text("general.alignment").Int(4, 4).Int(1u << 31, 4),
       "general.alignment"},
      {"alignment of text", RawFile().Header(0, 1).Text("general.alignment").Int(8, 4).Text("32"),
       "general.alignment"},
      {"rank 0", tensor({}, 0, 0), "0 dimensions"},
      {"rank 5", tensor({1, 1, 1, 1, 1}, 0, 0), "5 dimensions"},
      {"zero extent", tensor({4, 0}, 0, 0), "dimension of zero"},
      {"unknown data type", tensor({4}, 77, 0), "unknown data type 77"},
      {"ragged block", tensor({33}, 3, 0), "rows of 33 elements, not a multiple of the 32"},
      {"row overflow", tensor({half}, 28, 0), "overflows"},
      {"row count overflow", tensor({1, half, 2, 2}, 0, 0), "overflows"},
      {"size overflow", tensor({uint64_t{1} << 32, uint64_t{1} << 32}, 0, 0), "overflows"},
      {"size wraps to 0", tensor({uint64_t{1} << 31, uint64_t{1} << 31}, 0, 0), "overflows"},
      {"data past the end", tensor({3}, 0, 0), "ends inside the data of tensor \"t\""},
      {"offset past the end", tensor({1}, 0, 32), "ends inside the data"},
      {"offset wraps", tensor({1}, 0, huge - 31), "ends inside the data"},
      {"offset misaligned", tensor({1}, 0, 4), "not a multiple of the alignment 32"},
      {"tensor twice",
       RawFile().Header(2, 0).Tensor("t", {1}, 0, 0).Tensor("t", {1}, 0, 0).Pad().Int(0, 8),
       "\"t\" twice"},
  };
}

TEST(Gguf, BadFilesGetASentenceThatNamesTheFault) {
  for (const BadFile& bad : BadFiles()) {
    EXPECT_THAT(Fault(bad.file), HasSubstr(bad.fault)) << bad.name;
  }
}

TEST(Gguf, QuoteEscapesAndCuts) {
  EXPECT_EQ(Quote("a b"), "\"a b\"");
  EXPECT_EQ(Quote("\\\x7f\xc4"), "\"\\x5c\\x7f\\xc4\"");
  EXPECT_EQ(Quote(std::string(100, 'x')), "\"" + std::string(80, 'x') + "...\"");
}

}  // namespace
}  // namespace quickstart

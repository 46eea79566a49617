#include <gtest/gtest.h>

#include "ir/text.h"
#include "ir/verifier.h"
#include "programs.h"
#include "wire/wire.h"

namespace tilus::wire {
namespace {

const ir::Limits kLimits;

// Text -> IR -> protobuf -> IR -> text is the identity, and the bytes are the same each time.
TEST(WireRoundTripTest, EveryProgramOfTheTree) {
  const std::vector<ProgramFile> files = ProgramFiles();
  ASSERT_GE(files.size(), 2u);
  for (const ProgramFile& file : files) {
    SCOPED_TRACE(file.name);
    const auto parsed = ir::ParseText(file.text, kLimits);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    const std::string bytes = Encode(*parsed);
    EXPECT_TRUE(LooksSerialized(bytes));
    EXPECT_FALSE(LooksSerialized(file.text));
    const auto decoded = Decode(bytes, kLimits);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(ir::PrintText(*decoded), ir::PrintText(*parsed));
    EXPECT_EQ(Encode(*decoded), bytes);
  }
}

// A decoded program means the same: it verifies where its text does.
TEST(WireRoundTripTest, DecodedProgramsVerify) {
  for (const ProgramFile& file : ProgramFiles()) {
    SCOPED_TRACE(file.name);
    const auto parsed = ir::ParseText(file.text, kLimits);
    ASSERT_TRUE(parsed.ok());
    auto decoded = Decode(Encode(*parsed), kLimits);
    ASSERT_TRUE(decoded.ok());
    const absl::Status status = ir::ResolveAndVerify(&*decoded, ir::VerifyOptions{});
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(WireRoundTripTest, Layouts) {
  for (const char* text : {"local(2,1).column_spatial(4,8).local(2,1)", "spatial(32)",
                           "replicated(4).spatial(8).local(2)", "column_local(3,5)",
                           "{shape=[16, 8], modes=[2, 4, 2, 8], spatial=[3, 1], local=[0, 2]}"}) {
    const auto layout = ParseLayoutExpression(text);
    ASSERT_TRUE(layout.ok()) << text;
    const auto decoded = DecodeLayout(EncodeLayout(*layout), kLimits);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(decoded->ToString(), layout->ToString());
  }
}

}  // namespace
}  // namespace tilus::wire

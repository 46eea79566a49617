#include "base/diagnostic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace tilus {
namespace {

TEST(DiagnosticTest, IdsAreUniqueAndPrintAsFourDigits) {
  std::set<DiagId> seen;
  for (DiagId id : AllDiagIds()) {
    EXPECT_TRUE(seen.insert(id).second) << DiagIdText(id);
    EXPECT_EQ(DiagIdText(id).size(), 5u);
    EXPECT_FALSE(DiagIdSummary(id).empty());
    EXPECT_NE(DiagIdCode(id), absl::StatusCode::kOk);
  }
  EXPECT_EQ(DiagIdText(DiagId::kLimitBytes), "T0010");
}

TEST(DiagnosticTest, SurvivesTheStatus) {
  Diagnostic d;
  d.id = DiagId::kLimitDepth;
  d.path = "f.body[3]";
  d.message = "a 12:34 message\nwith: colons";
  d.hint = "less";
  d.excerpt = "x = y";
  d.span = {14, 8, 3};
  const std::vector<Diagnostic> back = DiagnosticsOf(MakeError(d));
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(back[0].path, d.path);
  EXPECT_EQ(back[0].message, d.message);
  EXPECT_EQ(back[0].hint, d.hint);
  EXPECT_EQ(back[0].excerpt, d.excerpt);
  EXPECT_EQ(back[0].span.line, 14);
  EXPECT_EQ(back[0].span.column, 8);
}

TEST(DiagnosticTest, ListReportsAllErrorsAndIsBounded) {
  DiagnosticList list;
  EXPECT_TRUE(list.ToStatus().ok());
  for (int i = 0; i < 1000; ++i) list.Add(DiagId::kInvalidArgument, "p", "m");
  EXPECT_EQ(list.diagnostics().size(), DiagnosticList::kMaxDiagnostics);
  EXPECT_EQ(DiagnosticsOf(list.ToStatus()).size(), DiagnosticList::kMaxDiagnostics);
}

TEST(DiagnosticTest, FormatPointsIntoTheLine) {
  Diagnostic d;
  d.id = DiagId::kInvalidArgument;
  d.message = "bad";
  d.hint = "good";
  d.path = "f.body[0]";
  d.excerpt = "w6 = view w8";
  d.span = {14, 6, 4};
  EXPECT_EQ(FormatDiagnostic(d, "a.tilus"),
            "a.tilus:14:6: error[T0004]: bad\n   w6 = view w8\n        ^~~~\n   at f.body[0]\n"
            "   help: good");
}

TEST(DiagnosticTest, PrefixPathNests) {
  const absl::Status s = PrefixPath(MakeError(DiagId::kInvalidArgument, "m", "h", "body[1]"), "f");
  EXPECT_EQ(DiagnosticsOf(s)[0].path, "f.body[1]");
}

}  // namespace
}  // namespace tilus

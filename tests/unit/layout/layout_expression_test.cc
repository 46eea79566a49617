// The text of layouts: what parses, what it denotes, that spelling is kept, where errors point.
#include "layout/layout_expression.h"

#include "layout/compose.h"
#include "layout/factorize.h"
#include "layout_testing.h"

namespace tilus {
namespace {

using testing::AllTuples;
using testing::HasError;
using testing::L;
using testing::RandomLayout;

TEST(LayoutExpression, SpellingIsKept) {
  for (const char* text : {
           "local(2,1).column_spatial(4,8).local(2,1)",
           "local(1,1).local(2,2).column_local(1,4).replicated(3).replicated(1)",
           "spatial(4)",
           "local()",
           "replicated(2)",
           "{shape=[16, 8], modes=[2, 4, 1, 2, 8], spatial=[4, -2, 1], local=[0, 2, 3]}",
           "{shape=[], modes=[], spatial=[], local=[]}",
       }) {
    const auto expression = ParseLayoutExpression(text);
    ASSERT_TRUE(expression.ok()) << expression.status();
    EXPECT_EQ(expression->ToString(), text);
    EXPECT_TRUE(expression->Evaluate().ok());
  }
}

TEST(LayoutExpression, SpacesAreFreeBetweenTokens) {
  EXPECT_EQ(L(" local ( 2 , 1 )\n . spatial( 4,8 ) "), L("local(2,1).spatial(4,8)"));
  EXPECT_EQ(L("{ local = [0] ,spatial=[1 ], shape=[ 8], modes=[2,4] }"), L("local(2).spatial(4)"));
}

TEST(LayoutExpression, ReplicationTakesTheRankOfTheOthers) {
  EXPECT_EQ(L("replicated(2)").rank(), 1);
  EXPECT_EQ(L("replicated(2).replicated(3)"), L("replicated(6)"));
  EXPECT_EQ(L("replicated(2).local(1,1)").rank(), 2);
  EXPECT_EQ(L("spatial(2,2).replicated(2)").rank(), 2);
  EXPECT_EQ(L("replicated(2).local()").rank(), 0);
}

// ToString prints a product exactly when there is one, and what it prints denotes the layout.
TEST(LayoutExpression, EveryLayoutPrintsAndParsesBack) {
  int products = 0, tuples = 0;
  for (int rank : {0, 1, 2, 3}) {
    for (const RegisterLayout& layout : AllTuples(rank, 16, 2)) {
      const std::string text = layout.ToString();
      ASSERT_EQ(L(text), layout) << text;
      ASSERT_EQ(text, layout.Canonical().ToString());
      ASSERT_EQ(L(layout.TupleString()).TupleString(), layout.TupleString());
      ++(text[0] == '{' ? tuples : products);
    }
  }
  EXPECT_GT(products, 1000);
  EXPECT_GT(tuples, 10);
}

TEST(LayoutExpression, EveryProductOfPrimitivesPrintsAsOne) {
  std::mt19937 random(3);
  for (int n = 0; n < 3000; ++n) {
    const RegisterLayout layout = RandomLayout(random, 1 + n % 4);
    const std::string text = layout.ToString();
    ASSERT_NE(text[0], '{') << text;
    ASSERT_EQ(L(text), layout) << text;
  }
}

TEST(LayoutExpression, PrintsTheShortProduct) {
  for (const char* text : {
           "local(2,1).column_spatial(4,8).local(2,1)",
           "column_local(2,2).spatial(8,4).local(1,2)",
           "local(2,1).spatial(8,4).local(1,2)",
           "local(3).spatial(32)",
           "replicated(4).spatial(8)",
           "replicated(4)",
           "replicated(4).local(1,1)",
           "local(1,1)",
           "local()",
       }) {
    EXPECT_EQ(L(text).ToString(), text);
  }
  EXPECT_EQ(L("spatial(2).spatial(4)").ToString(), "spatial(8)");
  EXPECT_EQ(L("spatial(1,8).spatial(4,1)").ToString(), "column_spatial(4,8)");
}

TEST(LayoutExpression, NoProductForCrossedLists) {
  // Thread order wants dimension 0's inner mode outside its outer one.
  const RegisterLayout crossed = *RegisterLayout::Create({4}, {2, 2}, {1, 0}, {});
  EXPECT_FALSE(Factorize(crossed).has_value());
  EXPECT_EQ(crossed.ToString(), "{shape=[4], modes=[2, 2], spatial=[1, 0], local=[]}");
  // A cycle through both lists and two dimensions.
  const RegisterLayout cycle = *RegisterLayout::Create({4, 4}, {2, 2, 2, 2}, {1, 2}, {3, 0});
  EXPECT_FALSE(Factorize(cycle).has_value());
}

TEST(LayoutExpression, PrefixStopsAfterTheLayout) {
  size_t consumed = 0;
  auto layout = ParseLayoutPrefix("local(2).spatial(4), next", &consumed);
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(layout->ToString(), "local(2).spatial(4)");
  EXPECT_EQ(consumed, 19u);
  layout = ParseLayoutPrefix("  spatial(4)  ; comment", &consumed);
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(consumed, 12u);
  layout = ParseLayoutPrefix("{shape=[2], modes=[2], spatial=[0], local=[]}]", &consumed);
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(consumed, 45u);
}

struct BadText {
  const char* text;
  DiagId id;
  int column;  // 0: no position, an error of the values
  const char* message;
};

TEST(LayoutExpression, ErrorsNameTheColumn) {
  const BadText cases[] = {
      {"", DiagId::kLayoutSyntax, 1, "expected a layout at column 1 of the layout, found the end"},
      {"loca(2)", DiagId::kLayoutSyntax, 1, "expected a layout"},
      {"local(2", DiagId::kLayoutSyntax, 8, "expected ')'"},
      {"local(2,)", DiagId::kLayoutSyntax, 9, "expected an integer"},
      {"local 2", DiagId::kLayoutSyntax, 7, "expected '('"},
      {"local(2).", DiagId::kLayoutSyntax, 10, "expected a layout"},
      {"local(2) spatial(4)", DiagId::kLayoutSyntax, 10, "expected the end"},
      {"local(2)\x01", DiagId::kLayoutSyntax, 9, "expected the end"},
      {"local(2,x)", DiagId::kLayoutSyntax, 9, "expected an integer"},
      {"local(99999999999999999999)", DiagId::kLayoutTooLarge, 7, "64 bits"},
      {"local(1,1,1,1,1,1,1,1,1)", DiagId::kLayoutRank, 23, "more than 8"},
      {"replicated(2,2)", DiagId::kLayoutSyntax, 1, "one integer"},
      {"replicated()", DiagId::kLayoutSyntax, 1, "one integer"},
      {"{shape=[2], modes=[2], spatial=[0]}", DiagId::kLayoutSyntax, 35, "expected ','"},
      {"{shape=[2], shape=[2]}", DiagId::kLayoutSyntax, 13, "once"},
      {"{shape:[2]}", DiagId::kLayoutSyntax, 7, "expected '='"},
      {"{shape=[2], modes=[2], spatial=[0], local=[]", DiagId::kLayoutSyntax, 45, "expected '}'"},
      {"{shape=[4], modes=[2], spatial=[0], local=[]}", DiagId::kLayoutModes, 0, "do not fill"},
      {"local(0)", DiagId::kLayoutExtent, 0, "extent 0"},
      {"spatial(2).local(-3)", DiagId::kLayoutExtent, 0, "extent -3"},
      {"replicated(-3).local(2)", DiagId::kLayoutExtent, 0, "extent -3"},
      {"local(1099511627776)", DiagId::kLayoutTooLarge, 0, "elements"},
      {"local(65536).local(65536)", DiagId::kLayoutTooLarge, 0, "elements"},
      {"replicated(4294967296)", DiagId::kLayoutTooLarge, 0, "threads"},
  };
  for (const BadText& c : cases) {
    const auto layout = ParseLayout(c.text);
    ASSERT_THAT(layout, HasError(c.id, c.message)) << c.text;
    const Diagnostic diagnostic = DiagnosticsOf(layout.status()).front();
    EXPECT_EQ(diagnostic.span.column, c.column) << c.text;
  }
}

TEST(LayoutExpression, SizesOfTextAreBounded) {
  std::string factors = "local(1)";
  for (size_t n = 1; n < kMaxLayoutFactors; ++n) factors += ".local(1)";
  EXPECT_TRUE(ParseLayout(factors).ok());
  EXPECT_THAT(ParseLayout(factors + ".local(1)"),
              HasError(DiagId::kLayoutTooLarge, "more than 128 factors"));
  EXPECT_THAT(ParseLayout(std::string(kMaxLayoutTextBytes + 1, ' ')),
              HasError(DiagId::kLayoutTooLarge, "longer than the limit"));
  std::string list = "{shape=[1], modes=[1";
  for (int n = 0; n < kMaxLayoutModes; ++n) list += ",1";
  EXPECT_THAT(ParseLayout(list + "]"), HasError(DiagId::kLayoutRank, "more than 128"));
}

// Damaged text never crashes, and whatever still parses prints back.
TEST(LayoutExpression, RandomDamageIsAnErrorOrALayout) {
  std::mt19937 random(4);
  const std::string base =
      "local(2,1).column_spatial(4,8){shape=[16, 8], modes=[2, 4], spatial=[3, -1], local=[0]}";
  const std::string alphabet = "(){}[],.=-0123456789 localshpe\0\xff";
  for (int n = 0; n < 20000; ++n) {
    std::string text = base.substr(random() % base.size(), random() % 60);
    for (int edits = random() % 4; edits > 0 && !text.empty(); --edits) {
      text[random() % text.size()] = alphabet[random() % alphabet.size()];
    }
    const auto expression = ParseLayoutExpression(text);
    if (!expression.ok()) continue;
    const auto again = ParseLayoutExpression(expression->ToString());
    ASSERT_TRUE(again.ok()) << text;
    ASSERT_EQ(again->ToString(), expression->ToString());
  }
}

}  // namespace
}  // namespace tilus

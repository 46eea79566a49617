// The contracts of draw.h: the exact text of small pictures, and what every picture holds.
#include "layout/draw.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "layout/draw_tile.h"
#include "layout_testing.h"

namespace tilus {
namespace {

using testing::HasError;
using testing::L;

int Count(const std::string& text, absl::string_view what) {
  int count = 0;
  for (size_t at = text.find(std::string(what)); at != std::string::npos;
       at = text.find(std::string(what), at + what.size())) {
    ++count;
  }
  return count;
}

TEST(DrawTerminal, ShowsThreadAndLocal) {
  EXPECT_EQ(*DrawTerminal(L("local(2,1).spatial(2,4)"), {}),
            "local(2,1).spatial(2,4): shape [4, 4], 8 threads of 2 elements\n"
            "cells: thread:local\n"
            "     0    1    2    3\n"
            "0  0:0  1:0  2:0  3:0\n"
            "1  4:0  5:0  6:0  7:0\n"
            "2  0:1  1:1  2:1  3:1\n"
            "3  4:1  5:1  6:1  7:1\n");
}

TEST(DrawTerminal, ShowsFirstBits) {
  EXPECT_EQ(*DrawTerminal(L("spatial(2).local(2)"), {.color = DrawColor::kPlain, .bits = 6}),
            "spatial(2).local(2): shape [4], 2 threads of 2 elements, 6 bits each\n"
            "cells: thread:local@first bit\n"
            "       0      1      2      3\n"
            "0  0:0@0  0:1@6  1:0@0  1:1@6\n");
}

TEST(DrawTerminal, PagesOfHigherRankAndReplication) {
  const std::string text = *DrawTerminal(L("replicated(3).local(2,1,2)"), {});
  EXPECT_THAT(text, ::testing::HasSubstr("each element is in 3 threads, the first is shown"));
  EXPECT_THAT(text, ::testing::HasSubstr("\n[0, :, :]\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("\n[1, :, :]\n     0    1\n0  0:2  0:3\n"));
}

TEST(DrawTerminal, RankZeroIsOneCell) {
  EXPECT_THAT(*DrawTerminal(RegisterLayout(), {}), ::testing::EndsWith("0  0:0\n"));
}

TEST(DrawTerminal, ColourWrapsEachCellAndNothingElse) {
  const RegisterLayout a = L("column_local(2,2).spatial(8,4).local(1,2)");
  const std::string plain = *DrawTerminal(a, {});
  std::string colored = *DrawTerminal(a, {.color = DrawColor::kAnsi, .bits = std::nullopt});
  EXPECT_EQ(Count(plain, "\x1b"), 0);
  EXPECT_EQ(Count(colored, "\x1b[30;48;5;"), 256);
  EXPECT_EQ(Count(colored, "\x1b[0m"), 256);
  for (size_t at; (at = colored.find('\x1b')) != std::string::npos;) {
    colored.erase(at, colored.find('m', at) + 1 - at);
  }
  EXPECT_EQ(colored, plain);
}

TEST(DrawTerminal, Mma16x16FitsAWideTerminal) {
  const std::string text = *DrawTerminal(L("column_local(2,2).spatial(8,4).local(1,2)"), {});
  for (absl::string_view line : absl::StrSplit(text, '\n')) EXPECT_LE(line.size(), 120u);
}

TEST(DrawSvg, HasACellForEachElement) {
  const RegisterLayout b = L("local(2,1).column_spatial(4,8).local(2,1)");
  const std::string svg = *DrawSvg(b);
  EXPECT_TRUE(absl::StartsWith(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_TRUE(absl::EndsWith(svg, "</svg>\n"));
  EXPECT_EQ(Count(svg, "<rect "), 1 + 128);
  for (int t = 0; t < 32; ++t) EXPECT_EQ(Count(svg, absl::StrCat(">t", t, "<")), 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Count(svg, absl::StrCat(">i", i, "<")), 32);
}

TEST(DrawSvg, ShowsTheBitsOfStraddlingElements) {
  // Six elements of 6 bits: the sixth has two bits in register 0 and four in register 1.
  const std::string svg = *DrawSvg(L("spatial(2).local(6)"), 6);
  EXPECT_THAT(svg, ::testing::HasSubstr("the 2 registers of a thread"));
  EXPECT_EQ(Count(svg, ">b30-35<"), 2);
  EXPECT_EQ(Count(svg, ">1:0<"), 1);
  EXPECT_EQ(Count(svg, ">5:2<"), 1);
  EXPECT_EQ(Count(svg, ">i5<"), 2 + 2);  // in two cells, and in two registers
  EXPECT_EQ(Count(svg, ">i4<"), 2 + 1);
  EXPECT_EQ(Count(*DrawSvg(L("local(4)"), 1), ">b3<"), 1);
}

TEST(DrawSvg, IsWellFormedAndDeterministic) {
  for (const char* text : {"local()", "local(3)", "replicated(2).spatial(2,2,2)",
                           "{shape=[4], modes=[2, 2], spatial=[1, 0], local=[]}"}) {
    const std::string svg = *DrawSvg(L(text), 5);
    EXPECT_EQ(Count(svg, "<text "), Count(svg, "</text>"));
    EXPECT_EQ(Count(svg, "<svg "), 1);
    EXPECT_EQ(Count(svg, "&"), 0);
    EXPECT_EQ(svg, *DrawSvg(L(text), 5));
  }
}

TEST(DrawSvg, ManyRegistersAreCut) {
  EXPECT_THAT(*DrawSvg(L("local(128)"), 32), ::testing::HasSubstr("(the first 64)"));
}

TEST(Draw, RefusesLargeTilesAndBadWidths) {
  EXPECT_TRUE(DrawSvg(L("local(128,128)")).ok());
  EXPECT_THAT(DrawSvg(L("local(128,129)")), HasError(DiagId::kDrawing, "too many to draw"));
  EXPECT_THAT(DrawTerminal(L("spatial(65536)"), {}), HasError(DiagId::kDrawing, "65536 elements"));
  EXPECT_THAT(DrawSvg(L("local(2)"), 65), HasError(DiagId::kElementBits, "65 bits"));
  EXPECT_THAT(DrawTerminal(L("local(2)"), {.color = DrawColor::kPlain, .bits = 0}),
              HasError(DiagId::kElementBits, "0 bits"));
}

TEST(ThreadColor, IsLightAndDiffersWithinAWarp) {
  std::vector<std::vector<int>> seen;
  for (int64_t t = 0; t < 128; ++t) {
    const layout_internal::Color color = layout_internal::ThreadColor(t);
    for (int channel : {color.red, color.green, color.blue}) {
      EXPECT_GE(channel, 100);
      EXPECT_LE(channel, 255);
    }
    EXPECT_EQ(std::max({color.red, color.green, color.blue}), 255);
    const std::vector<int> rgb = {color.red, color.green, color.blue};
    EXPECT_EQ(std::count(seen.begin(), seen.end(), rgb), 0) << t;
    seen.push_back(rgb);
  }
}

}  // namespace
}  // namespace tilus

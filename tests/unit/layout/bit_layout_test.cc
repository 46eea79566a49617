// The contracts of bit_layout.h, the view vectors, and the view theorem by brute force.
#include "layout/bit_layout.h"

#include <set>

#include "layout_testing.h"
#include "layout_vectors.h"

namespace tilus {
namespace {

using testing::AllLayouts;
using testing::HasError;
using testing::Index;
using testing::L;
using testing::Vectors;

TEST(BitLayout, LocatesBitsAndFindsThemAgain) {
  for (int bits : {1, 3, 6, 8, 32}) {
    for (const RegisterLayout& f : AllLayouts(2, 6, 2)) {
      const BitLayout layout = *BitLayout::Create(bits, f);
      ASSERT_EQ(layout.bits_per_thread(), bits * f.locals_per_thread());
      ASSERT_EQ(layout.registers_per_thread(), (bits * f.locals_per_thread() + 31) / 32);
      for (int64_t t = 0; t < f.num_threads(); ++t) {
        for (int64_t p = 0; p < layout.bits_per_thread(); ++p) {
          const BitLayout::Location location = layout.Locate(t, p);
          ASSERT_EQ(location.index, f.Map(t, p / bits));
          ASSERT_EQ(location.bit, p % bits);
          const auto places = layout.Places(location.index, location.bit);
          ASSERT_THAT(places, ::testing::Contains(BitLayout::Place{t, p}));
          ASSERT_EQ(static_cast<int64_t>(places.size()), f.replication());
        }
      }
    }
  }
}

TEST(BitLayout, RefusesWidthsOutside1To64) {
  for (int bits : {-1, 0, 65}) {
    EXPECT_THAT(BitLayout::Create(bits, L("local(2)")), HasError(DiagId::kElementBits, "1 to 64"));
  }
  EXPECT_TRUE(BitLayout::Create(64, L("local(2)")).ok());
}

TEST(BitLayout, LargestLayoutDoesNotOverflow) {
  const BitLayout layout = *BitLayout::Create(64, L("local(2147483647)"));
  EXPECT_EQ(layout.bits_per_thread(), int64_t{2147483647} * 64);
}

TEST(CheckView, Vectors) {
  int legal = 0, illegal = 0;
  for (const nlohmann::json& v : Vectors("view")) {
    const int bits1 = v["source"]["bits"], bits2 = v["target"]["bits"];
    const RegisterLayout layout1 = L(v["source"]["layout"].get<std::string>());
    const RegisterLayout layout2 = L(v["target"]["layout"].get<std::string>());
    const ViewCheck check = CheckView(bits1, layout1, bits2, layout2, std::nullopt);
    ASSERT_EQ(check.legal(), v["legal"].get<bool>()) << v;
    ++(check.legal() ? legal : illegal);
    if (!check.legal()) continue;
    EXPECT_EQ(check.verdict, ViewVerdict::kFree);
    for (const nlohmann::json& sample : v["sample"]) {
      const auto at = LocateView(bits1, layout1, bits2, layout2, std::nullopt,
                                 sample["thread"].get<int64_t>(), sample["bit"].get<int64_t>());
      ASSERT_TRUE(at.ok()) << at.status();
      EXPECT_EQ(at->source.index, sample["source"][0].get<Index>());
      EXPECT_EQ(at->source.bit, sample["source"][1].get<int>());
      EXPECT_EQ(at->target.index, sample["target"][0].get<Index>());
      EXPECT_EQ(at->target.bit, sample["target"][1].get<int>());
    }
  }
  EXPECT_GT(legal, 5);
  EXPECT_GT(illegal, 5);
}

// A free view is a bijection between the bits of the two tensors (for layouts that do not
// replicate), found without looking at either function.
TEST(CheckView, FreeViewsAreBijectionsOfBits) {
  const std::vector<RegisterLayout> layouts = AllLayouts(1, 12);
  for (int bits1 : {1, 2, 3, 6}) {
    for (int bits2 : {1, 2, 4}) {
      for (const RegisterLayout& f : layouts) {
        for (const RegisterLayout& g : layouts) {
          const ViewCheck check = CheckView(bits1, f, bits2, g, std::nullopt);
          const bool same = f.num_threads() == g.num_threads() &&
                            f.locals_per_thread() * bits1 == g.locals_per_thread() * bits2;
          ASSERT_EQ(check.verdict, same ? ViewVerdict::kFree : ViewVerdict::kIllegal);
          ASSERT_EQ(check.instructions.has_value(), same);
          if (!same || f.size() * bits1 > 16) continue;
          std::set<std::pair<Index, int>> sources, targets;
          for (int64_t t = 0; t < f.num_threads(); ++t) {
            for (int64_t p = 0; p < f.locals_per_thread() * bits1; ++p) {
              const auto at = LocateView(bits1, f, bits2, g, std::nullopt, t, p);
              ASSERT_TRUE(at.ok());
              sources.insert({at->source.index, at->source.bit});
              targets.insert({at->target.index, at->target.bit});
            }
          }
          ASSERT_EQ(static_cast<int64_t>(sources.size()), f.size() * bits1);
          ASSERT_EQ(static_cast<int64_t>(targets.size()), g.size() * bits2);
        }
      }
    }
  }
}

TEST(CheckView, RunningExampleIsFree) {
  const ViewCheck check = CheckView(8, L("local(3).spatial(32)"), 6,
                                    L("local(2,1).column_spatial(4,8).local(2,1)"), std::nullopt);
  EXPECT_EQ(check.verdict, ViewVerdict::kFree);
  EXPECT_EQ(check.instructions, 0);
  EXPECT_THAT(check.reason, ::testing::HasSubstr("the same 24 bits of each of 32 threads"));
}

TEST(CheckView, PartsCostAShiftForEachRegisterUnlessTheyStartAtOne) {
  const RegisterLayout source = L("spatial(32).local(16)"), target = L("spatial(32).local(10)");
  for (int64_t offset = 0; offset <= 48; ++offset) {
    const ViewCheck check = CheckView(8, source, 8, target, offset);
    ASSERT_EQ(check.verdict, offset % 32 == 0 ? ViewVerdict::kFree : ViewVerdict::kCosts);
    ASSERT_EQ(check.instructions, offset % 32 == 0 ? 0 : 3);  // 80 bits are 3 registers
    const auto at = LocateView(8, source, 8, target, offset, 5, 17);
    ASSERT_TRUE(at.ok()) << at.status();
    EXPECT_EQ(at->source.index, Index{5 * 16 + (offset + 17) / 8});
    EXPECT_EQ(at->target.index, Index{5 * 10 + 2});
  }
  for (int64_t offset : {int64_t{49}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    const ViewCheck check = CheckView(8, source, 8, target, offset);
    EXPECT_EQ(check.verdict, ViewVerdict::kIllegal);
    EXPECT_EQ(check.instructions, std::nullopt);
    EXPECT_THAT(check.reason, ::testing::HasSubstr("not within the 128 bits"));
  }
}

TEST(CheckView, NamesTheFirstConditionThatFailsAndPrintsBothLayouts) {
  const auto reason = [](int bits1, const char* f, int bits2, const char* g) {
    return CheckView(bits1, L(f), bits2, L(g), std::nullopt).reason;
  };
  EXPECT_EQ(reason(8, "spatial(4)", 8, "spatial(8)"),
            "the numbers of threads differ, 4 and 8: from 8-bit spatial(4) to 8-bit spatial(8)");
  EXPECT_EQ(reason(8, "spatial(4).local(2)", 6, "spatial(4).local(3)"),
            "the bits per thread differ, 2 x 8 = 16 and 3 x 6 = 18: from 8-bit "
            "spatial(4).local(2) to 6-bit spatial(4).local(3)");
  EXPECT_EQ(reason(0, "spatial(4)", 6, "spatial(8)"),
            "an element of 0 bits is not 1 to 64 bits wide: from 0-bit spatial(4) to 6-bit "
            "spatial(8)");
}

TEST(LocateView, RefusesIllegalViewsAndPlacesOutside) {
  EXPECT_THAT(LocateView(8, L("local(2)"), 8, L("local(3)"), std::nullopt, 0, 0),
              HasError(DiagId::kViewIllegal, "the bits per thread differ"));
  for (auto [thread, bit] : {std::pair(0, 16), {1, 0}, {-1, 0}, {0, -1}}) {
    EXPECT_THAT(LocateView(8, L("local(2)"), 4, L("local(4)"), std::nullopt, thread, bit),
                HasError(DiagId::kLayoutOperand, "outside the 1 threads of 16 bits"));
  }
}

}  // namespace
}  // namespace tilus

#include <numeric>
#include <random>

#include "handles.h"

namespace capi_test {
namespace {

using View_ = std::unique_ptr<tilus_view, Destroy<tilus_view_destroy>>;
using SharedLayout = std::unique_ptr<tilus_shared_layout, Destroy<tilus_shared_layout_destroy>>;

constexpr tilus_type kI6 = 0x02060000;
constexpr char kMmaB[] = "local(2,1).column_spatial(4,8).local(2,1)";

View_ Check(tilus_type from, const std::string& source, tilus_type to, const std::string& target,
            int64_t offset = -1) {
  tilus_view* view = nullptr;
  EXPECT_CALL_OK(tilus_view_check(from, Parse(source).get(), to, Parse(target).get(), offset,
                                  &view));
  return View_(view);
}

TEST(ViewTest, BytesAreFreelyViewedAsNarrowCodes) {
  const View_ view = Check(TILUS_TYPE_U8, "local(3).spatial(32)", kI6, kMmaB);
  EXPECT_EQ(tilus_view_verdict(view.get()), TILUS_VIEW_FREE);
  EXPECT_EQ(tilus_view_instructions(view.get()), 0);
}

TEST(ViewTest, UnequalBitsAreIllegalAndSayWhy) {
  const View_ view = Check(TILUS_TYPE_U8, "local(3).spatial(32)", TILUS_TYPE_I8, kMmaB);
  EXPECT_EQ(tilus_view_verdict(view.get()), TILUS_VIEW_ILLEGAL);
  EXPECT_EQ(tilus_view_instructions(view.get()), -1);
  EXPECT_THAT(Text(tilus_view_reason(view.get())), testing::HasSubstr("column_spatial(4,8)"));
}

TEST(ViewTest, PartsAreFreeFromARegisterOnAndCostElsewhere) {
  const char* source = "local(16).spatial(32)";
  EXPECT_EQ(tilus_view_verdict(
                Check(TILUS_TYPE_U8, source, TILUS_TYPE_U8, "local(4).spatial(32)", 32).get()),
            TILUS_VIEW_FREE);
  const View_ costs = Check(TILUS_TYPE_U8, source, TILUS_TYPE_U8, "local(4).spatial(32)", 8);
  EXPECT_EQ(tilus_view_verdict(costs.get()), TILUS_VIEW_COSTS);
  EXPECT_GT(tilus_view_instructions(costs.get()), 0);
  EXPECT_EQ(tilus_view_verdict(
                Check(TILUS_TYPE_U8, source, TILUS_TYPE_U8, "local(4).spatial(32)", 128).get()),
            TILUS_VIEW_ILLEGAL);
}

TEST(ViewTest, WrongArgumentsAreErrors) {
  const Layout f = Parse("local(2)");
  tilus_view* view = nullptr;
  EXPECT_EQ(Outcome(tilus_view_check(0, f.get(), kI6, f.get(), -1, &view)), kInvalid);
  EXPECT_EQ(Outcome(tilus_view_check(kI6, f.get(), kI6, f.get(), -2, &view)), kInvalid);
  EXPECT_EQ(Outcome(tilus_view_check(kI6, nullptr, kI6, f.get(), -1, &view)), kNull);
  EXPECT_EQ(Outcome(tilus_view_check(kI6, f.get(), kI6, nullptr, -1, &view)), kNull);
  EXPECT_EQ(Outcome(tilus_view_check(kI6, f.get(), kI6, f.get(), -1, nullptr)), kNull);
  EXPECT_EQ(view, nullptr);
  EXPECT_EQ(tilus_view_verdict(nullptr), TILUS_VIEW_ILLEGAL);
  EXPECT_EQ(tilus_view_instructions(nullptr), -1);
  EXPECT_EQ(Text(tilus_view_reason(nullptr)), "");
  tilus_view_destroy(nullptr);
}

TEST(DrawTest, EveryKindOfPicture) {
  const Layout f = Parse(kMmaB);
  const auto draw = [&](tilus_type type, tilus_drawing drawing) {
    tilus_blob* blob = nullptr;
    EXPECT_CALL_OK(tilus_layout_draw(f.get(), type, drawing, &blob));
    return Text(Blob(blob).get());
  };
  EXPECT_THAT(draw(TILUS_TYPE_NONE, TILUS_DRAWING_TEXT), testing::HasSubstr("31:3"));
  EXPECT_THAT(draw(TILUS_TYPE_NONE, TILUS_DRAWING_TEXT), testing::Not(testing::HasSubstr("\x1b")));
  EXPECT_THAT(draw(kI6, TILUS_DRAWING_ANSI), testing::HasSubstr("\x1b["));
  EXPECT_THAT(draw(kI6, TILUS_DRAWING_SVG), testing::HasSubstr("</svg>"));
  tilus_blob* blob = nullptr;
  EXPECT_EQ(Outcome(tilus_layout_draw(f.get(), 7, TILUS_DRAWING_SVG, &blob)), kInvalid);
  EXPECT_EQ(Outcome(tilus_layout_draw(f.get(), kI6, static_cast<tilus_drawing>(9), &blob)),
            kInvalid);
  EXPECT_EQ(Outcome(tilus_layout_draw(Parse("local(65536)").get(), kI6, TILUS_DRAWING_TEXT, &blob)),
            "INVALID_ARGUMENT T0245");
  EXPECT_EQ(Outcome(tilus_layout_draw(nullptr, kI6, TILUS_DRAWING_TEXT, &blob)), kNull);
}

TEST(LayoutWireTest, ProtobufKeepsTheTuple) {
  for (const char* text : {kMmaB, "replicated(2).local(3)", "local(2,1).spatial(8,4).local(1,2)"}) {
    tilus_blob* blob = nullptr;
    const Layout f = Parse(text);
    ASSERT_CALL_OK(tilus_layout_encode(f.get(), &blob));
    const std::string bytes = Text(Blob(blob).get());
    tilus_layout* raw = nullptr;
    ASSERT_CALL_OK(tilus_layout_decode({bytes.data(), bytes.size()}, &raw));
    const Layout back(raw);
    EXPECT_EQ(List(tilus_layout_modes(back.get())), List(tilus_layout_modes(f.get())));
    EXPECT_EQ(tilus_layout_equal(back.get(), f.get()), 1);
    for (size_t size = 0; size < bytes.size(); ++size) {
      tilus_layout* part = nullptr;
      EXPECT_NE(Outcome(tilus_layout_decode({bytes.data(), size}, &part)), "ok") << size;
    }
  }
}

SharedLayout MakeShared(std::vector<int64_t> shape, int64_t base, int64_t bits, int64_t shift) {
  tilus_shared_layout* layout = nullptr;
  EXPECT_CALL_OK(tilus_shared_layout_create(shape.data(), nullptr, shape.size(), base, bits, shift,
                                            &layout));
  return SharedLayout(layout);
}

TEST(SharedLayoutTest, SwizzleRemovesTheConflictsOfColumns) {
  const Layout registers = Parse("spatial(32,1).local(1,8)");  // each thread 16 bytes of a row
  const auto cost = [&](const SharedLayout& shared) {
    tilus_conflicts conflicts{};
    conflicts.struct_size = sizeof conflicts;
    EXPECT_CALL_OK(tilus_shared_layout_conflicts(shared.get(), registers.get(), TILUS_TYPE_F16,
                                                 &conflicts));
    return conflicts;
  };
  const int64_t shape[] = {32, 64};
  const Layout wide = Parse("spatial(32,1).local(1,64)");
  tilus_shared_layout* raw = nullptr;
  ASSERT_CALL_OK(tilus_shared_layout_auto(shape, 2, TILUS_TYPE_F16, &raw));
  const SharedLayout chosen(raw);
  const SharedLayout plain = MakeShared({32, 64}, 0, 0, 0);
  tilus_conflicts good{}, bad{};
  good.struct_size = bad.struct_size = sizeof good;
  ASSERT_CALL_OK(
      tilus_shared_layout_conflicts(chosen.get(), wide.get(), TILUS_TYPE_F16, &good));
  ASSERT_CALL_OK(tilus_shared_layout_conflicts(plain.get(), wide.get(), TILUS_TYPE_F16, &bad));
  EXPECT_EQ(good.vector_bytes, 16);
  EXPECT_EQ(good.wavefronts, good.ideal);
  EXPECT_EQ(bad.wavefronts, 8 * bad.ideal);
  EXPECT_EQ(cost(MakeShared({32, 8}, 0, 0, 0)).instructions, 1);
  EXPECT_EQ(Outcome(tilus_shared_layout_conflicts(plain.get(), registers.get(), TILUS_TYPE_F16,
                                                  &good)),
            "INVALID_ARGUMENT T0225");
}

TEST(SharedLayoutTest, OffsetsFollowStridesAndSwizzle) {
  const SharedLayout shared = MakeShared({8, 64}, 3, 3, 6 - 3);
  const auto offset = [&](const SharedLayout& layout, int64_t row, int64_t column) {
    const int64_t index[] = {row, column};
    int64_t result = -1;
    EXPECT_CALL_OK(tilus_shared_layout_offset(layout.get(), index, &result));
    return result;
  };
  for (int64_t row = 0; row < 8; ++row) {
    for (int64_t column = 0; column < 64; ++column) {
      const int64_t x = row * 64 + column;
      EXPECT_EQ(offset(shared, row, column), x ^ (x >> 3 & 7 << 3));
    }
  }
  const int64_t shape[] = {4, 4}, strides[] = {1, 5};
  tilus_shared_layout* raw = nullptr;
  ASSERT_CALL_OK(tilus_shared_layout_create(shape, strides, 2, 0, 0, 0, &raw));
  const SharedLayout strided(raw);
  EXPECT_EQ(offset(strided, 2, 3), 17);
  int64_t outside[] = {0, 4}, result = -1;
  EXPECT_EQ(Outcome(tilus_shared_layout_offset(strided.get(), outside, &result)), kRange);
  EXPECT_EQ(Outcome(tilus_shared_layout_create(shape, strides, 2, 3, 3, 1, &raw)),
            "INVALID_ARGUMENT T0236") << "the fields of a swizzle are apart";
  EXPECT_EQ(Outcome(tilus_shared_layout_create(nullptr, nullptr, 2, 0, 0, 0, &raw)), kNull);
  tilus_blob* blob = nullptr;
  ASSERT_CALL_OK(tilus_shared_layout_text(shared.get(), &blob));
  EXPECT_THAT(Text(Blob(blob).get()), testing::HasSubstr("swizzle(3, 3, 3)"));
  tilus_shared_layout_destroy(nullptr);
}

// The published formula for one byte of the packed form.
TEST(WeightTest, PackingFollowsTheFormulaAndUnpackInvertsIt) {
  std::mt19937 random(5);
  const Layout f = Parse(kMmaB);
  for (const char* name : {"u4", "i6", "u8", "u12", "u1", "i3"}) {
    tilus_type type = 0;
    ASSERT_CALL_OK(tilus_type_parse(tilus_string_of(name), &type));
    const uint32_t bits = tilus_type_bits(type);
    const int64_t rows = 37, columns = 19;
    std::vector<uint16_t> codes(rows * columns), back(codes.size());
    for (uint16_t& code : codes) code = static_cast<uint16_t>(random() & ((1u << bits) - 1));
    tilus_weight_plan plan{};
    plan.struct_size = sizeof plan;
    ASSERT_CALL_OK(tilus_weight_describe(type, f.get(), rows, columns, 0, &plan));
    EXPECT_EQ(plan.thread_bytes * 8, 4 * bits * plan.repeat) << name;
    EXPECT_EQ(plan.tile[0], 16 * plan.repeat);
    EXPECT_EQ(plan.tile[1], 8);
    EXPECT_EQ(plan.tiles[0], (rows + plan.tile[0] - 1) / plan.tile[0]);
    EXPECT_EQ(plan.tiles[1], 3);
    EXPECT_EQ(plan.tile_bytes, plan.thread_bytes * 32);
    EXPECT_EQ(plan.bytes, plan.tiles[0] * plan.tiles[1] * plan.tile_bytes);
    std::vector<uint8_t> packed(static_cast<size_t>(plan.bytes) + 1, 0xa5);
    ASSERT_CALL_OK(tilus_weight_pack(type, f.get(), rows, columns, 0, codes.data(), 2,
                                     packed.data(), packed.size() - 1));
    EXPECT_EQ(packed.back(), 0xa5);
    const int64_t n = plan.thread_bytes, n1 = std::gcd(n, int64_t{16});
    for (int64_t bit = 0; bit < n * 8; ++bit) {
      for (int64_t t = 0; t < 32; ++t) {
        const int64_t local = bit / bits, at = bit / 8;
        int64_t index[2];
        ASSERT_CALL_OK(tilus_layout_map(f.get(), t, local % 4, index));
        const int64_t row = index[0] + local / 4 * 16;
        const int expected =
            row < rows ? codes[static_cast<size_t>(row * columns + index[1])] >> (bit % bits) & 1
                       : 0;
        const int64_t place = at / n1 * 32 * n1 + t * n1 + at % n1;
        ASSERT_EQ(packed[static_cast<size_t>(place)] >> (bit % 8) & 1, expected) << name;
      }
    }
    ASSERT_CALL_OK(tilus_weight_unpack(type, f.get(), rows, columns, 0,
                                       {packed.data(), packed.size() - 1}, back.data(), 2));
    EXPECT_EQ(back, codes) << name;
    if (bits > 8) continue;
    std::vector<uint8_t> narrow(codes.begin(), codes.end()), narrow_back(codes.size());
    std::vector<uint8_t> again(packed.size() - 1);
    ASSERT_CALL_OK(tilus_weight_pack(type, f.get(), rows, columns, 0, narrow.data(), 1,
                                     again.data(), again.size()));
    EXPECT_TRUE(std::equal(again.begin(), again.end(), packed.begin()));
    ASSERT_CALL_OK(tilus_weight_unpack(type, f.get(), rows, columns, 0,
                                       {again.data(), again.size()}, narrow_back.data(), 1));
    EXPECT_EQ(narrow_back, narrow);
  }
}

TEST(WeightTest, WhatCannotBePackedIsRefused) {
  const Layout f = Parse(kMmaB);
  std::vector<uint8_t> codes(128, 3), out(1000, 9);
  tilus_weight_plan plan{};
  plan.struct_size = sizeof plan;
  const auto describe = [&](tilus_type type, const Layout& layout, int64_t rows, int64_t k_dim) {
    return Outcome(tilus_weight_describe(type, layout.get(), rows, 8, k_dim, &plan));
  };
  const auto pack = [&](uint32_t code_bytes, size_t size) {
    return Outcome(tilus_weight_pack(TILUS_TYPE_U4, f.get(), 16, 8, 0, codes.data(), code_bytes,
                                     out.data(), size));
  };
  EXPECT_EQ(describe(TILUS_TYPE_U4, f, 16, 2), kInvalid);
  EXPECT_EQ(describe(7, f, 16, 0), kInvalid);
  EXPECT_THAT(describe(TILUS_TYPE_U4, f, 0, 0), testing::Not("ok"));
  EXPECT_THAT(describe(TILUS_TYPE_U4, f, int64_t{1} << 62, 0), testing::Not("ok"));
  EXPECT_EQ(describe(TILUS_TYPE_F32, f, 16, 0), "INVALID_ARGUMENT T0231");
  EXPECT_EQ(describe(TILUS_TYPE_U4, Parse("local(4).spatial(32)"), 16, 0),
            "INVALID_ARGUMENT T0240");
  EXPECT_EQ(describe(TILUS_TYPE_U4, Parse("replicated(2).local(4,4)"), 16, 0),
            "INVALID_ARGUMENT T0240");
  EXPECT_EQ(pack(1, 63), kRange);
  EXPECT_EQ(pack(4, 64), kInvalid);
  codes[100] = 16;
  EXPECT_NE(pack(1, 64), "ok") << "a code of five bits";
  EXPECT_THAT(out, testing::Each(9));
  codes[100] = 15;
  EXPECT_EQ(pack(1, 64), "ok");
  EXPECT_EQ(Outcome(tilus_weight_unpack(TILUS_TYPE_U4, f.get(), 16, 8, 0, {out.data(), 63},
                                        codes.data(), 1)),
            kRange);
  EXPECT_EQ(Outcome(tilus_weight_pack(TILUS_TYPE_U4, nullptr, 16, 8, 0, codes.data(), 1, out.data(),
                                      64)),
            kNull);
}

}  // namespace
}  // namespace capi_test

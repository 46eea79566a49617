#include <map>
#include <random>

#include "handles.h"

namespace capi_test {
namespace {

using Binary = tilus_error* (*)(const tilus_layout*, const tilus_layout*, tilus_layout**);
using WithList = tilus_error* (*)(const tilus_layout*, const int64_t*, size_t, tilus_layout**);

Layout Apply(Binary operation, const Layout& a, const Layout& b) {
  tilus_layout* out = nullptr;
  EXPECT_CALL_OK(operation(a.get(), b.get(), &out));
  return Layout(out);
}

Layout Apply(WithList operation, const Layout& a, std::vector<int64_t> list) {
  tilus_layout* out = nullptr;
  EXPECT_CALL_OK(operation(a.get(), list.data(), list.size(), &out));
  return Layout(out);
}

std::vector<int64_t> Table(const Layout& f) {
  std::vector<int64_t> table(static_cast<size_t>(tilus_layout_threads(f.get()) *
                                                 tilus_layout_locals(f.get())) *
                             tilus_layout_shape(f.get()).size);
  EXPECT_CALL_OK(tilus_layout_table(f.get(), table.data(), table.size()));
  return table;
}

bool Equal(const Layout& a, const Layout& b) { return tilus_layout_equal(a.get(), b.get()) == 1; }

constexpr char kMmaB[] = "local(2,1).column_spatial(4,8).local(2,1)";

TEST(LayoutTest, PartsAreThoseOfTheTuple) {
  const Layout f = Parse("{shape=[16,8], modes=[2,4,2,8], spatial=[3,1], local=[0,2]}");
  EXPECT_THAT(List(tilus_layout_shape(f.get())), testing::ElementsAre(16, 8));
  EXPECT_THAT(List(tilus_layout_modes(f.get())), testing::ElementsAre(2, 4, 2, 8));
  EXPECT_THAT(List(tilus_layout_spatial_modes(f.get())), testing::ElementsAre(3, 1));
  EXPECT_THAT(List(tilus_layout_local_modes(f.get())), testing::ElementsAre(0, 2));
  EXPECT_EQ(tilus_layout_threads(f.get()), 32);
  EXPECT_EQ(tilus_layout_locals(f.get()), 4);
  EXPECT_TRUE(Equal(f, Parse(kMmaB)));
  EXPECT_EQ(Product(f.get()), kMmaB);
}

TEST(LayoutTest, CreateMakesTheSameAsParse) {
  const int64_t shape[] = {16, 8}, modes[] = {2, 4, 2, 8}, spatial[] = {3, 1}, local[] = {0, 2};
  tilus_layout* raw = nullptr;
  ASSERT_CALL_OK(tilus_layout_create(shape, 2, modes, 4, spatial, 2, local, 2, &raw));
  const Layout f(raw);
  EXPECT_TRUE(Equal(f, Parse(kMmaB)));
  tilus_blob* blob = nullptr;
  ASSERT_CALL_OK(tilus_layout_text(f.get(), TILUS_LAYOUT_TUPLE, &blob));
  EXPECT_TRUE(Equal(Parse(Text(Blob(blob).get())), f));
  tilus_layout* none = nullptr;
  EXPECT_EQ(Outcome(tilus_layout_create(shape, 2, modes, 3, spatial, 2, local, 2, &none)),
            "INVALID_ARGUMENT T0224");
  EXPECT_EQ(Outcome(tilus_layout_create(nullptr, 2, modes, 4, spatial, 2, local, 2, &none)), kNull);
  EXPECT_EQ(Outcome(tilus_layout_create(shape, ~size_t{0}, modes, 4, spatial, 2, local, 2, &none)),
            kInvalid);
  EXPECT_EQ(none, nullptr);
  ASSERT_CALL_OK(tilus_layout_create(nullptr, 0, nullptr, 0, nullptr, 0, nullptr, 0, &raw));
  EXPECT_EQ(tilus_layout_threads(Layout(raw).get()), 1);
}

TEST(LayoutTest, MapAndTableAgree) {
  const Layout f = Parse(kMmaB);
  const std::vector<int64_t> table = Table(f);
  for (int64_t t = 0; t < 32; ++t) {
    for (int64_t i = 0; i < 4; ++i) {
      int64_t index[2] = {-1, -1};
      ASSERT_CALL_OK(tilus_layout_map(f.get(), t, i, index));
      EXPECT_EQ(index[0], 8 * (i / 2) + 2 * (t % 4) + i % 2);
      EXPECT_EQ(index[1], t / 4);
      EXPECT_EQ(table[static_cast<size_t>(t * 4 + i) * 2], index[0]);
    }
  }
}

TEST(LayoutTest, OwnersAreAllWhoMapThere) {
  for (const char* text : {kMmaB, "replicated(3).spatial(2).replicated(2).local(2)", "local(5)",
                           "spatial(2,2).replicated(4).spatial(1,3).replicated(2).local(2,1)"}) {
    const Layout f = Parse(text);
    const size_t rank = tilus_layout_shape(f.get()).size;
    std::map<std::vector<int64_t>, std::vector<std::pair<int64_t, int64_t>>> expected;
    for (int64_t t = 0; t < tilus_layout_threads(f.get()); ++t) {
      for (int64_t i = 0; i < tilus_layout_locals(f.get()); ++i) {
        std::vector<int64_t> index(rank);
        ASSERT_CALL_OK(tilus_layout_map(f.get(), t, i, index.data()));
        expected[index].emplace_back(t, i);
      }
    }
    for (const auto& [index, owners] : expected) {
      size_t count = 0;
      ASSERT_CALL_OK(tilus_layout_owners(f.get(), index.data(), nullptr, nullptr, 0, &count));
      ASSERT_EQ(count, owners.size()) << text;
      std::vector<int64_t> threads(count + 1, -7), locals(count + 1, -7);
      ASSERT_CALL_OK(tilus_layout_owners(f.get(), index.data(), threads.data(), locals.data(),
                                         count + 1, &count));
      for (size_t k = 0; k < count; ++k) {
        EXPECT_EQ(std::make_pair(threads[k], locals[k]), owners[k]) << text;
      }
      EXPECT_EQ(threads[count], -7);
    }
  }
}

TEST(LayoutTest, OwnersOfHugeReplicationCostWhatIsAskedFor) {
  const Layout f = Parse("replicated(2000000000).local(1)");
  const int64_t index[1] = {0};
  int64_t threads[2] = {-1, -1}, locals[2] = {-1, -1};
  size_t count = 0;
  ASSERT_CALL_OK(tilus_layout_owners(f.get(), index, threads, locals, 2, &count));
  EXPECT_EQ(count, 2000000000u);
  EXPECT_THAT(threads, testing::ElementsAre(0, 1));
}

TEST(LayoutTest, LocateSplitsTheBitsOfAThread) {
  const Layout f = Parse(kMmaB);
  for (int64_t bit = 0; bit < 4 * 6; ++bit) {
    int64_t index[2], expected[2], element_bit = -1;
    ASSERT_CALL_OK(tilus_layout_locate(f.get(), 0x02060000, 13, bit, index, &element_bit));
    ASSERT_CALL_OK(tilus_layout_map(f.get(), 13, bit / 6, expected));
    EXPECT_EQ(index[0], expected[0]);
    EXPECT_EQ(index[1], expected[1]);
    EXPECT_EQ(element_bit, bit % 6);
  }
  int64_t index[2], element_bit;
  EXPECT_EQ(Outcome(tilus_layout_locate(f.get(), 0x02060000, 13, 24, index, &element_bit)), kRange);
  EXPECT_EQ(Outcome(tilus_layout_locate(f.get(), 0x02060000, 32, 0, index, &element_bit)), kRange);
  EXPECT_EQ(Outcome(tilus_layout_locate(f.get(), 0, 0, 0, index, &element_bit)), kInvalid);
}

TEST(LayoutTest, DivisionInvertsComposition) {
  const char* texts[] = {"local(2,1)", "spatial(8,4)", "column_spatial(4,8)", "local(1,2)",
                         "replicated(2)", "column_local(2,2)", "spatial(3,1).local(1,2)"};
  for (const char* a : texts) {
    for (const char* b : texts) {
      const Layout f = Parse(a), g = Parse(b);
      const Layout h = Apply(tilus_layout_compose, f, g);
      EXPECT_TRUE(Equal(Parse(std::string(a) + "." + b), h));
      // A lone replicated(k) has rank 1, and a quotient has the rank of h.
      const Layout left = Apply(tilus_layout_left_divide, h, f);
      const Layout right = Apply(tilus_layout_divide, h, g);
      EXPECT_TRUE(Equal(Apply(tilus_layout_compose, f, left), h)) << a << " . " << b;
      EXPECT_TRUE(Equal(Apply(tilus_layout_compose, right, g), h)) << a << " . " << b;
    }
  }
  tilus_layout* out = nullptr;
  const Layout h = Parse("local(4)"), g = Parse("spatial(2)");
  EXPECT_EQ(Outcome(tilus_layout_divide(h.get(), g.get(), &out)), "INVALID_ARGUMENT T0226");
  EXPECT_EQ(Outcome(tilus_layout_left_divide(h.get(), g.get(), &out)), "INVALID_ARGUMENT T0226");
  EXPECT_EQ(out, nullptr);
}

TEST(LayoutTest, EveryOperationIsReached) {
  const Layout f = Parse("spatial(2,4).local(2,1)");  // shape [4, 4]
  EXPECT_THAT(List(tilus_layout_shape(Apply(tilus_layout_reduce, f, {1}).get())),
              testing::ElementsAre(4, 1));
  EXPECT_TRUE(Equal(Apply(tilus_layout_permute, f, {1, 0}),
                    Parse("column_spatial(4,2).local(1,2)")));
  const Layout wide = Apply(tilus_layout_unsqueeze, f, {1});
  EXPECT_THAT(List(tilus_layout_shape(wide.get())), testing::ElementsAre(4, 1, 4));
  EXPECT_TRUE(Equal(Apply(tilus_layout_squeeze, wide, {1}), f));
  EXPECT_THAT(List(tilus_layout_shape(Apply(tilus_layout_reshape, f, {2, 2, 4}).get())),
              testing::ElementsAre(2, 2, 4));
  EXPECT_TRUE(
      Equal(Apply(tilus_layout_tile, f, {3, 1}), Parse("local(3,1).spatial(2,4).local(2,1)")));
  EXPECT_TRUE(Equal(Apply(tilus_layout_repeat, f, {1, 3}), Parse("spatial(2,4).local(2,3)")));
  EXPECT_THAT(List(tilus_layout_shape(Apply(tilus_layout_concat, f, f).get())),
              testing::ElementsAre(4, 4, 4, 4));
  tilus_layout* out = nullptr;
  ASSERT_CALL_OK(tilus_layout_flatten(f.get(), &out));
  EXPECT_THAT(List(tilus_layout_shape(Layout(out).get())), testing::ElementsAre(16));
  ASSERT_CALL_OK(tilus_layout_canonical(f.get(), &out));
  EXPECT_TRUE(Equal(Layout(out), f));
  const int64_t offset[] = {0, 0}, shape[] = {4, 2};
  EXPECT_THAT(Outcome(tilus_layout_slice(f.get(), offset, shape, 2, &out)),
              testing::StartsWith("INVALID_ARGUMENT T02"))
      << "half of the threads would keep nothing";
  const Layout locals = Parse("local(4,4)");
  ASSERT_CALL_OK(tilus_layout_slice(locals.get(), offset, shape, 2, &out));
  EXPECT_THAT(List(tilus_layout_shape(Layout(out).get())), testing::ElementsAre(4, 2));
  ASSERT_CALL_OK(tilus_layout_broadcast(wide.get(), 1, 6, &out));
  EXPECT_THAT(List(tilus_layout_shape(Layout(out).get())), testing::ElementsAre(4, 6, 4));
  for (int64_t dim : {int64_t{-1}, int64_t{3}, int64_t{1} << 32, (int64_t{1} << 32) + 1}) {
    EXPECT_EQ(Outcome(tilus_layout_broadcast(wide.get(), dim, 6, &out)), "INVALID_ARGUMENT T0225");
  }
  ASSERT_CALL_OK(tilus_layout_complement(f.get(), 32, &out));
  EXPECT_EQ(tilus_layout_threads(Layout(out).get()), 32);
  EXPECT_EQ(Outcome(tilus_layout_complement(f.get(), 12, &out)), "INVALID_ARGUMENT T0225");
  ASSERT_CALL_OK(tilus_layout_auto(shape, 2, 8, &out));
  EXPECT_EQ(tilus_layout_threads(Layout(out).get()), 8);
}

TEST(LayoutTest, NullArgumentsAreErrors) {
  const Layout f = Parse("local(2)");
  tilus_layout* out = nullptr;
  int64_t number = 0;
  size_t count = 0;
  for (Binary operation : {tilus_layout_compose, tilus_layout_divide, tilus_layout_left_divide,
                           tilus_layout_concat}) {
    EXPECT_EQ(Outcome(operation(nullptr, f.get(), &out)), kNull);
    EXPECT_EQ(Outcome(operation(f.get(), nullptr, &out)), kNull);
    EXPECT_EQ(Outcome(operation(f.get(), f.get(), nullptr)), kNull);
  }
  for (WithList operation : {tilus_layout_reduce, tilus_layout_permute, tilus_layout_squeeze,
                             tilus_layout_unsqueeze, tilus_layout_reshape, tilus_layout_tile,
                             tilus_layout_repeat}) {
    EXPECT_EQ(Outcome(operation(nullptr, &number, 1, &out)), kNull);
    EXPECT_EQ(Outcome(operation(f.get(), nullptr, 1, &out)), kNull);
    EXPECT_EQ(Outcome(operation(f.get(), &number, 1, nullptr)), kNull);
    EXPECT_EQ(Outcome(operation(f.get(), &number, size_t{1} << 60, &out)), kInvalid);
  }
  EXPECT_EQ(Outcome(tilus_layout_parse({nullptr, 0}, &out)), kNull);
  EXPECT_EQ(Outcome(tilus_layout_parse(tilus_string_of("local(2)"), nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_layout_map(nullptr, 0, 0, &number)), kNull);
  EXPECT_EQ(Outcome(tilus_layout_map(f.get(), 0, 0, nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_layout_map(f.get(), -1, 0, &number)), kRange);
  EXPECT_EQ(Outcome(tilus_layout_map(f.get(), 0, 2, &number)), kRange);
  EXPECT_EQ(Outcome(tilus_layout_table(f.get(), &number, 1)), kRange);
  EXPECT_EQ(Outcome(tilus_layout_owners(f.get(), nullptr, nullptr, nullptr, 0, &count)), kNull);
  EXPECT_EQ(Outcome(tilus_layout_owners(f.get(), &number, nullptr, nullptr, 1, &count)), kNull);
  number = 2;
  EXPECT_EQ(Outcome(tilus_layout_owners(f.get(), &number, nullptr, nullptr, 0, &count)), kRange);
  tilus_blob* blob = nullptr;
  EXPECT_EQ(Outcome(tilus_layout_text(f.get(), static_cast<tilus_layout_form>(5), &blob)),
            kInvalid);
  EXPECT_EQ(tilus_layout_shape(nullptr).size, 0u);
  EXPECT_EQ(tilus_layout_threads(nullptr), 0);
  EXPECT_EQ(tilus_layout_equal(nullptr, nullptr), 1);
  EXPECT_EQ(tilus_layout_equal(f.get(), nullptr), 0);
  tilus_layout_destroy(nullptr);
  EXPECT_EQ(out, nullptr);
}

TEST(LayoutTest, RandomTextNeverDoesWorseThanAnError) {
  std::mt19937 random(3);
  const std::string alphabet = "local(2,1).spatial(4)replicated{shape=[]modes,-} 99999999999999";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (size_t n = random() % 40; n-- > 0;) text += alphabet[random() % alphabet.size()];
    tilus_layout* raw = nullptr;
    const std::string outcome = Outcome(tilus_layout_parse(View(text), &raw));
    EXPECT_EQ(outcome == "ok", raw != nullptr);
    tilus_layout_destroy(raw);
  }
}

}  // namespace
}  // namespace capi_test

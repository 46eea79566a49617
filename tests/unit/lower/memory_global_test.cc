// Loads and stores of global memory: which accesses are chosen, and that any layout, offset, stride
// and element width means what the interpreter says.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lower_testing.h"
#include "types/data_type.h"

namespace tilus::lower {
namespace {

// Copies a tile of `shape` with `layout`.
std::string CopyProgram(absl::string_view type, absl::string_view shape, absl::string_view layout,
                        absl::string_view view_shape, absl::string_view offsets) {
  return absl::StrCat("program copy(x: *", type, ", y: *", type,
                      ") warps 1 target any {\n  grid 1\n", "  gx = global_view x : ", type, "[",
                      view_shape, "]\n", "  gy = global_view y : ", type, "[", view_shape, "]\n",
                      "  t = load_global gx[", offsets, "] : ", type, "[", shape, "] ", layout,
                      "\n", "  store_global t -> gy[", offsets, "]\n}\n");
}

struct WidthCase {
  const char* type;
  const char* shape;
  const char* layout;
  const char* view;
  const char* offsets;
  int loads;
  const char* access;  // of the printed instruction
};

TEST(GlobalMemory, TakesTheWidestAccess) {
  const WidthCase cases[] = {
      {"f32", "128", "spatial(32).local(4)", "128", "0", 1, "global.v4.b32"},
      {"f32", "64", "spatial(32).local(2)", "64", "0", 1, "global.v2.b32"},
      {"f32", "96", "spatial(32).local(3)", "96", "0", 3, "global.b32"},
      {"f16", "16, 16", "column_local(2,2).spatial(8,4).local(1,2)", "16, 64", "0, 0", 4,
       "global.b32"},
      {"u8", "96", "local(3).spatial(32)", "96", "0", 3, "global.u8"},
      {"u8", "128", "local(1).spatial(32).local(4)", "128", "0", 1, "global.b32"},
      {"u8", "512", "spatial(32).local(16)", "1024", "16", 1, "global.v4.b32"},
      {"u8", "512", "spatial(32).local(16)", "1024", "8", 2, "global.v2.b32"},
      {"u8", "512", "spatial(32).local(16)", "1024", "4", 4, "global.b32"},
      {"u8", "512", "spatial(32).local(16)", "1024", "2", 8, "global.u16"},
      {"u8", "512", "spatial(32).local(16)", "1024", "1", 16, "global.u8"},
      // Runs of whole bytes of a 4- and a 6-bit type.
      {"u4", "256", "spatial(32).local(8)", "256", "0", 1, "global.b32"},
      {"i6", "128", "spatial(32).local(4)", "128", "0", 3, "global.u8"},
      {"i6", "512", "spatial(32).local(16)", "512", "0", 3, "global.b32"},
      {"f64", "64", "spatial(32).local(2)", "64", "0", 1, "global.v4.b32"},
      // Rows that are not a multiple of 4 elements break the alignment.
      {"f32", "32, 4", "spatial(32,1).local(1,4)", "32, 6", "0, 0", 2, "global.v2.b32"},
  };
  std::mt19937 random(1);
  for (const WidthCase& c : cases) {
    const std::string text = CopyProgram(c.type, c.shape, c.layout, c.view, c.offsets);
    SCOPED_TRACE(text);
    const Compiled compiled = ExpectExecutionsAgree(
        text, {Argument::Buffer(RandomBytes(&random, 8192)), Argument::Buffer(Zeros(8192))});
    EXPECT_EQ(compiled.Count("LdGlobal", c.access), c.loads) << compiled.code;
    EXPECT_EQ(compiled.Count("LdGlobal"), c.loads) << compiled.code;
    EXPECT_EQ(compiled.Count("Setp"), 0) << "no bounds test is needed\n" << compiled.code;
  }
}

TEST(GlobalMemory, OneTestForAVectorWhereTheExtentIsDivisible) {
  const char* text = R"(program f(m: i32, x: *f16, y: *f16) warps 1 target any {
  grid 1
  gx = global_view x : f16[m, 8]
  gy = global_view y : f16[m, 8]
  t = load_global gx[4, 0] : f16[32, 8] spatial(32,1).local(1,8)
  store_global t -> gy[4, 0]
}
)";
  std::mt19937 random(2);
  for (int m : {0, 1, 4, 5, 20, 36, 50}) {
    const Compiled compiled = ExpectExecutionsAgree(
        text, {Argument::Scalar(static_cast<uint32_t>(m)),
               Argument::Buffer(RandomBytes(&random, 800)), Argument::Buffer(Zeros(800))});
    EXPECT_EQ(compiled.Count("LdGlobal", "v4.b32"), 1);
    EXPECT_EQ(compiled.Count("SetpU32"), 1);
  }
}

TEST(GlobalMemory, RaggedColumnsAreTestedElementForElement) {
  const char* text = R"(program f(n: i32, x: *f16, y: *f16) warps 1 target any {
  grid 1
  gx = global_view x : f16[32, n]
  gy = global_view y : f16[32, n]
  t = load_global gx[0, 3] : f16[32, 8] spatial(32,1).local(1,8)
  store_global t -> gy[0, 3]
}
)";
  std::mt19937 random(3);
  for (int n : {1, 3, 4, 7, 8, 11, 12}) {
    ExpectExecutionsAgree(
        text, {Argument::Scalar(static_cast<uint32_t>(n)),
               Argument::Buffer(RandomBytes(&random, 1024)), Argument::Buffer(Zeros(1024))});
  }
}

TEST(GlobalMemory, APromisedDivisorKeepsVectors) {
  const char* text = R"(program f(n: i32 div(8), x: *f16, y: *f16) warps 1 target any {
  grid 1
  gx = global_view x : f16[32, n]
  gy = global_view y : f16[32, n]
  t = load_global gx[0, 0] : f16[32, 8] spatial(32,1).local(1,8)
  store_global t -> gy[0, 0]
}
)";
  std::mt19937 random(4);
  for (int n : {0, 8, 16}) {
    const Compiled compiled = ExpectExecutionsAgree(
        text, {Argument::Scalar(static_cast<uint32_t>(n)),
               Argument::Buffer(RandomBytes(&random, 1024)), Argument::Buffer(Zeros(1024))});
    EXPECT_EQ(compiled.Count("LdGlobal", "v4.b32"), 1);
    EXPECT_EQ(compiled.Count("StGlobal", "v4.b32"), 1);
  }
}

TEST(GlobalMemory, NegativeOffsetsAndExtents) {
  const char* text = R"(program f(at: i32, m: i32, x: *i32, y: *i32) warps 1 target any {
  grid 1
  gx = global_view x : i32[m]
  gy = global_view y : i32[64]
  t = load_global gx[at] : i32[32] spatial(32)
  store_global t -> gy[at + 16]
}
)";
  std::mt19937 random(5);
  for (int at : {-2147483647 - 1, -40, -17, -5, 0, 3, 50, 64, 2147483647}) {
    for (int m : {-3, 0, 10, 64}) {
      ExpectExecutionsAgree(text, {Argument::Scalar(static_cast<uint32_t>(at)),
                                   Argument::Scalar(static_cast<uint32_t>(m)),
                                   Argument::Buffer(RandomBytes(&random, 256)),
                                   Argument::Buffer(RandomBytes(&random, 256))});
    }
  }
}

TEST(GlobalMemory, WideOffsetsAndExtents) {
  const char* text = R"(program f(at: i64, u: u32, m: i64, x: *i32, y: *i32) warps 1 target any {
  grid 1
  gx = global_view x : i32[m]
  gy = global_view y : i32[64]
  t = load_global gx[at] : i32[32] spatial(32)
  store_global t -> gy[u]
}
)";
  std::mt19937 random(6);
  for (int64_t at : {int64_t{-5}, int64_t{0}, int64_t{40}, int64_t{1} << 40, -(int64_t{1} << 32)}) {
    for (uint32_t u : {0u, 40u, 0xfffffff0u}) {
      ExpectExecutionsAgree(text,
                            {Argument::Scalar(static_cast<uint64_t>(at)), Argument::Scalar(u),
                             Argument::Scalar(64), Argument::Buffer(RandomBytes(&random, 256)),
                             Argument::Buffer(RandomBytes(&random, 256))});
    }
  }
}

TEST(GlobalMemory, StridesMayBeAnything) {
  const char* text = R"(program f(s: i32, r: i32, x: *u16, y: *u16) warps 1 target any {
  grid 1
  gx = global_view x strides=[s, r] : u16[8, 8]
  gy = global_view y : u16[8, 8]
  t = load_global gx[0, 0] : u16[8, 8] local(2,1).spatial(4,8)
  store_global t -> gy[0, 0]
}
)";
  std::mt19937 random(7);
  for (const auto& [s, r] : {std::pair{8, 1}, {1, 8}, {0, 1}, {0, 0}, {3, 5}}) {
    ExpectExecutionsAgree(
        text,
        {Argument::Scalar(static_cast<uint32_t>(s)), Argument::Scalar(static_cast<uint32_t>(r)),
         Argument::Buffer(RandomBytes(&random, 256)), Argument::Buffer(Zeros(256))});
  }
}

TEST(GlobalMemory, HugeConstantsAreOutOfRange) {
  const std::vector<std::string> offsets = {"4611686018427387904", "-4611686018427387904",
                                            "2147483647", "i64(i) + 9223372036854775807"};
  std::mt19937 random(14);
  for (const std::string& offset : offsets) {
    const std::string text = absl::StrCat(
        "program f(i: i32, x: *f64, y: *f64) warps 1 target any {\n  grid 1\n",
        "  gx = global_view x strides=[4611686018427387904, 1] : f64[1, 32]\n",
        "  gy = global_view y : f64[2, 32]\n  t = load_global gx[0, ", offset,
        "] : f64[1, 32] spatial(1,32)\n  store_global t -> gy[0, 0]\n",
        "  u = load_global gx[0, 0] : f64[1, 32] spatial(1,32)\n  store_global u -> gy[1, ", offset,
        "]\n  store_global u -> gy[1, 0]\n}\n");
    ExpectExecutionsAgree(text, {Argument::Scalar(3), Argument::Buffer(RandomBytes(&random, 256)),
                                 Argument::Buffer(RandomBytes(&random, 512))});
  }
}

TEST(GlobalMemory, DimsChooseTheDimensionsOfATile) {
  const char* text = R"(program f(i: i32, x: *u8, y: *u8) warps 1 target any {
  grid 1
  gx = global_view x : u8[8, 4, 16]
  gy = global_view y : u8[16, 8]
  t = load_global gx[0, i, 0] dims=[2, 0] : u8[16, 8] spatial(16,2).local(1,4)
  store_global t -> gy[0, 0]
}
)";
  std::mt19937 random(8);
  for (int i : {-1, 0, 3, 4}) {
    ExpectExecutionsAgree(
        text, {Argument::Scalar(static_cast<uint32_t>(i)),
               Argument::Buffer(RandomBytes(&random, 512)), Argument::Buffer(Zeros(128))});
  }
}

TEST(GlobalMemory, OneOfSeveralHoldersStores) {
  const char* text = R"(program f(x: *u8, y: *u8) warps 2 target any {
  grid 1
  gx = global_view x : u8[32]
  gy = global_view y : u8[32]
  t = load_global gx[0] : u8[32] replicated(2).spatial(8).replicated(4).local(4)
  store_global t -> gy[0]
}
)";
  std::mt19937 random(9);
  const Compiled compiled = ExpectExecutionsAgree(
      text, {Argument::Buffer(RandomBytes(&random, 32)), Argument::Buffer(Zeros(32))});
  EXPECT_EQ(compiled.Count("StGlobal", "b32"), 1);
}

TEST(GlobalMemory, CacheHints) {
  const char* text = R"(program f(x: *u32, y: *u32) warps 1 target any {
  grid 1
  gx = global_view x : u32[32]
  gy = global_view y : u32[32]
  t = load_global gx[0] cache=no_l1 : u32[32] spatial(32)
  store_global t cache=streaming -> gy[0]
}
)";
  std::mt19937 random(10);
  const Compiled compiled = ExpectExecutionsAgree(
      text, {Argument::Buffer(RandomBytes(&random, 128)), Argument::Buffer(Zeros(128))});
  EXPECT_EQ(compiled.Count("LdGlobal", "L1::no_allocate"), 1) << compiled.code;
  EXPECT_EQ(compiled.Count("StGlobal", ".cs"), 1) << compiled.code;
}

TEST(GlobalMemory, ConstantPartsOfOffsetsAreImmediates) {
  const char* text = R"(program f(i: i32, n: i32, x: *f32, y: *f32) warps 1 target any {
  grid 1
  gx = global_view x : f32[n, 4096]
  gy = global_view y : f32[1, 32]
  sum = register 0.0 : f32[1, 32] spatial(1,32)
  for k in 0 .. 4 unroll {
    t = load_global gx[i + 1, (i * 4 + k + 2) * 32] : f32[1, 32] spatial(1,32)
    sum = add sum, t
  }
  store_global sum -> gy
}
)";
  std::mt19937 random(13);
  for (int i : {0, 1, 2, 3, -1, -2, 2147483647, 2147483646, 536870911}) {
    const Compiled compiled = ExpectExecutionsAgree(
        text, {Argument::Scalar(static_cast<uint32_t>(i)), Argument::Scalar(4),
               Argument::Buffer(SmallFloats(&random, 4 * 4096)), Argument::Buffer(Zeros(128))});
    // Row i + 1 and column 64 are (4096 + 64) * 4 bytes.
    EXPECT_EQ(compiled.Count("LdGlobal", "+16640]"), 1) << compiled.code;
    EXPECT_EQ(compiled.Count("LdGlobal", "+17024]"), 1) << compiled.code;
  }
}

// ---- Sub-byte elements at any bit.

TEST(SubByte, ElementsOfOtherThreadsSurvive) {
  // Every thread writes 3 bits of a word that others write too; the rest keeps what it was.
  for (int bits = 1; bits <= 15; ++bits) {
    if (bits == 8) continue;
    const std::string type = absl::StrCat("u", bits);
    const std::string text = absl::StrCat(
        "program f(x: *", type, ", y: *", type, ") warps 1 target any {\n  grid 1\n",
        "  gx = global_view x : ", type, "[70]\n  gy = global_view y : ", type, "[70]\n",
        "  t = load_global gx[5] : ", type, "[32] spatial(32)\n", "  store_global t -> gy[7]\n}\n");
    std::mt19937 random(static_cast<unsigned>(bits));
    const size_t bytes = static_cast<size_t>((70 * bits + 31) / 32 * 4);
    ExpectExecutionsAgree(text, {Argument::Buffer(RandomBytes(&random, bytes)),
                                 Argument::Buffer(RandomBytes(&random, bytes))});
  }
}

TEST(SubByte, LoadsTouchNoByteBeyondTheirElements) {
  // 3 elements of 3 bits are 9 bits: two bytes, and the buffer has no more.
  const char* text = R"(program f(x: *u3, y: *u8) warps 1 target any {
  grid 1
  gx = global_view x : u3[5]
  gy = global_view y : u8[32]
  t = load_global gx[0] : u3[32] spatial(32)
  w = cast t : u8
  store_global w -> gy[0]
}
)";
  std::mt19937 random(11);
  ExpectExecutionsAgree(text,
                        {Argument::Buffer(RandomBytes(&random, 2)), Argument::Buffer(Zeros(32))});
}

TEST(SubByte, AWholeWordIsStoredPlainly) {
  const std::string text = CopyProgram("u4", "8, 32", "local(8,1).spatial(1,32)", "8, 32", "0, 0");
  std::mt19937 random(12);
  const Compiled by_nibble = ExpectExecutionsAgree(
      text, {Argument::Buffer(RandomBytes(&random, 128)), Argument::Buffer(Zeros(128))});
  EXPECT_GT(by_nibble.Count("RedGlobalOr"), 0);
  // One thread's nibbles in any order make a word.
  const std::string column =
      CopyProgram("u4", "32, 8", "spatial(32,1).column_local(1,2).local(1,4)", "32, 8", "0, 0");
  const Compiled by_word = ExpectExecutionsAgree(
      column, {Argument::Buffer(RandomBytes(&random, 128)), Argument::Buffer(Zeros(128))});
  EXPECT_EQ(by_word.Count("RedGlobalOr"), 0) << by_word.code;
}

// ---- Any layout.

class RandomAccess : public ::testing::TestWithParam<int> {};

// A random layout of 32 or 64 threads over a small 2-d tile, as a product of primitives.
std::string RandomLayout(std::mt19937* random, int warps, int64_t* rows, int64_t* columns) {
  int64_t threads = 32 * warps;
  std::vector<std::string> factors;
  *rows = *columns = 1;
  int64_t locals = 1;
  while (threads > 1 || (*random)() % 3 != 0) {
    const int64_t a = int64_t{1} << ((*random)() % 3), b = int64_t{1} << ((*random)() % 3);
    const unsigned kind = (*random)() % 5;
    if (kind < 2) {
      const int64_t x = (*random)() % 4 == 0 ? 3 : a, y = b;
      if (locals * x * y > 24) {
        if (threads == 1) break;
        continue;
      }
      locals *= x * y;
      factors.push_back(absl::StrCat(kind == 0 ? "local(" : "column_local(", x, ",", y, ")"));
      *rows *= x;
      *columns *= y;
    } else if (kind < 4) {
      if (threads % (a * b) != 0) continue;
      threads /= a * b;
      factors.push_back(absl::StrCat(kind == 2 ? "spatial(" : "column_spatial(", a, ",", b, ")"));
      *rows *= a;
      *columns *= b;
    } else {
      if (threads % 2 != 0 || (*random)() % 4 != 0) continue;
      threads /= 2;
      factors.push_back("replicated(2)");
    }
  }
  if (factors.size() == 1 && factors[0][0] == 'r') factors.push_back("local(1,1)");
  return absl::StrJoin(factors, ".");
}

TEST_P(RandomAccess, AgreesWithTheInterpreter) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const std::vector<DataType> types = AllDataTypes();
  for (int round = 0; round < 12; ++round) {
    const std::string type = types[random() % types.size()].name();
    const int bits = ParseDataType(type)->bits();
    const int warps = 1 + static_cast<int>(random() % 2);
    int64_t rows, columns;
    const std::string layout = RandomLayout(&random, warps, &rows, &columns);
    if (rows * columns > 4096) continue;
    const int64_t view_rows = rows + static_cast<int64_t>(random() % 5) - 2;
    const int64_t view_columns = columns + static_cast<int64_t>(random() % 9) - 2;
    if (view_rows < 1 || view_columns < 1) continue;
    const bool fixed = random() % 2 == 0;
    const int64_t align = int64_t{1} << (random() % 5);
    const std::string shape = fixed ? absl::StrCat(view_rows, ", ", view_columns) : "m, n";
    const std::string offsets =
        random() % 2 == 0 ? absl::StrCat(random() % 3, ", ", random() % 5) : "i, j * 4";
    const std::string text = absl::StrCat(
        "program f(m: i32, n: i32, i: i32, j: i32, x: *", type, " align(", align, "), y: *", type,
        ") warps ", warps, " target any {\n  grid 1\n  gx = global_view x : ", type, "[", shape,
        "]\n  gy = global_view y : ", type, "[", shape, "]\n  t = load_global gx[", offsets,
        "] : ", type, "[", rows, ", ", columns, "] ", layout,
        "\n  store_global t -> gy[i, j]\n}\n");
    const size_t bytes = static_cast<size_t>((view_rows * view_columns * bits + 31) / 32 * 4);
    ExpectExecutionsAgree(
        text, {Argument::Scalar(static_cast<uint64_t>(view_rows)),
               Argument::Scalar(static_cast<uint64_t>(view_columns)),
               Argument::Scalar(static_cast<uint32_t>(static_cast<int>(random() % 4) - 1)),
               Argument::Scalar(static_cast<uint32_t>(static_cast<int>(random() % 4) - 1)),
               Argument::Buffer(RandomBytes(&random, bytes)),
               Argument::Buffer(RandomBytes(&random, bytes))});
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomAccess, ::testing::Range(0, 24));

}  // namespace
}  // namespace tilus::lower

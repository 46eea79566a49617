// Loads and stores of shared memory, swizzles, and the selection of ldmatrix.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lower_testing.h"

namespace tilus::lower {
namespace {

// A tile goes through shared memory: written coalesced, read with `layout` from `offsets`.
std::string ThroughShared(absl::string_view type, int rows, int columns, absl::string_view swizzle,
                          absl::string_view tile, absl::string_view layout,
                          absl::string_view offsets, absl::string_view attributes = "",
                          int warps = 1) {
  const std::string shape = absl::StrCat(rows, ", ", columns);
  return absl::StrCat(
      "program f(x: *", type, ", y: *", type, ") warps ", warps, " target any {\n  grid 1\n",
      "  gx = global_view x : ", type, "[", shape, "]\n  gy = global_view y : ", type, "[", tile,
      "]\n  s = alloc_shared : ", type, "[", shape, "] ", swizzle,
      "\n  all = load_global gx : ", type, "[", shape,
      "]\n  store_shared all -> s\n  synchronize\n", "  t = load_shared s[", offsets, "] ",
      attributes, " : ", type, "[", tile, "] ", layout, "\n  store_global t -> gy\n}\n");
}

struct MatrixCase {
  const char* type;
  int rows, columns;
  const char* swizzle;
  const char* tile;
  const char* layout;
  const char* offsets;
  const char* attributes;
  const char* op;  // the ldmatrix that is chosen, or nullptr
  int count;
};

TEST(SharedMemory, LdmatrixIsChosenWhereItFits) {
  const char* a16 = "column_local(2,2).spatial(8,4).local(1,2)";
  const char* b16 = "local(2,1).column_spatial(4,8).local(2,1)";
  const MatrixCase cases[] = {
      // mma.m16n8k16 operands, from row-major tiles.
      {"f16", 16, 64, "", "16, 16", a16, "0, 0", "", "LdmatrixX4", 1},
      {"f16", 16, 64, "", "16, 16", a16, "0, 48", "", "LdmatrixX4", 1},
      {"f16", 16, 64, "swizzle(3,3,3)", "16, 16", a16, "0, 16", "", "LdmatrixX4", 1},
      {"f16", 16, 16, "", "16, 8", b16, "0, 8", "", "LdmatrixX2Trans", 1},
      {"f16", 32, 16, "", "32, 16", "local(2,2).local(2,1).column_spatial(4,8).local(2,1)", "0, 0",
       "", "LdmatrixX4Trans", 2},
      // The columns of b adjacent in memory: no transposition. Those of a: with it.
      {"f16", 8, 16, "", "16, 8", b16, "0, 0", "dims=[1, 0]", "LdmatrixX2", 1},
      {"f16", 16, 16, "", "16, 16", a16, "0, 0", "dims=[1, 0]", "LdmatrixX4Trans", 1},
      {"bf16", 64, 64, "", "64, 32",
       "local(2,2).column_local(2,1).local(2,1).local(1,2).spatial(8,4).local(1,2)", "0, 32", "",
       "LdmatrixX4", 8},
      // Other widths.
      {"i8", 16, 64, "", "16, 32", "column_local(2,2).spatial(8,4).local(1,4)", "0, 16", "",
       "LdmatrixX4", 1},
      {"f32", 16, 16, "", "16, 8", "column_local(2,2).spatial(8,4)", "0, 4", "", "LdmatrixX4", 1},
      // One fragment is one load as well as one ldmatrix.
      {"f16", 8, 16, "", "8, 8", "spatial(8,4).local(1,2)", "0, 0", "", nullptr, 0},
      // Three fragments.
      {"f16", 24, 8, "", "24, 8", "local(3,1).spatial(8,4).local(1,2)", "0, 0", "", nullptr, 0},
      // Rows at odd places, rows that are not 16 bytes apart, rows beyond the tile.
      {"f16", 16, 64, "", "16, 16", a16, "0, 4", "", nullptr, 0},
      {"f16", 16, 20, "swizzle(0,0,0)", "16, 16", a16, "0, 0", "", nullptr, 0},
      {"f16", 16, 64, "", "16, 16", a16, "8, 0", "", nullptr, 0},
  };
  std::mt19937 random(1);
  for (const MatrixCase& c : cases) {
    const std::string text = ThroughShared(c.type, c.rows, c.columns, c.swizzle, c.tile, c.layout,
                                           c.offsets, c.attributes);
    SCOPED_TRACE(text);
    const Compiled compiled = ExpectExecutionsAgree(
        text, {Argument::Buffer(RandomBytes(&random, 16384)), Argument::Buffer(Zeros(16384))});
    if (c.op != nullptr) {
      EXPECT_EQ(compiled.Count(c.op), c.count) << compiled.code;
      EXPECT_EQ(compiled.Count("LdShared"), 0) << compiled.code;
    } else {
      EXPECT_EQ(compiled.Count("Ldmatrix"), 0) << compiled.code;
    }
  }
}

TEST(SharedMemory, WarpsReadTheirFragments) {
  std::mt19937 random(2);
  const std::string text = ThroughShared(
      "f16", 64, 64, "", "64, 64",
      "spatial(2,1).replicated(2).local(2,4).column_local(2,2).spatial(8,4).local(1,2)", "0, 0", "",
      4);
  const Compiled compiled = ExpectExecutionsAgree(
      text, {Argument::Buffer(RandomBytes(&random, 8192)), Argument::Buffer(Zeros(8192))});
  EXPECT_EQ(compiled.Count("LdmatrixX4"), 8) << compiled.code;
}

TEST(SharedMemory, DefaultSwizzleHasNoBankConflicts) {
  std::mt19937 random(3);
  const std::string text = ThroughShared(
      "f16", 64, 64, "", "64, 64", "local(4,4).column_local(2,2).spatial(8,4).local(1,2)", "0, 0");
  const absl::StatusOr<Compiled> compiled = Compile(text);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const absl::StatusOr<Outcome> outcome = Simulate(
      *compiled, {Argument::Buffer(RandomBytes(&random, 8192)), Argument::Buffer(Zeros(8192))});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->report.bank_conflicts, 0);
  EXPECT_EQ(compiled->Count("LdmatrixX4"), 16);
}

TEST(SharedMemory, RunTimeOffsetsAndBounds) {
  const char* text = R"(program f(i: i32, j: i32, x: *f16, y: *f16) warps 1 target any {
  grid 1
  gx = global_view x : f16[32, 64]
  gy = global_view y : f16[32, 64]
  s = alloc_shared : f16[32, 64]
  all = load_global gx : f16[32, 64]
  store_shared all -> s
  synchronize
  t = load_shared s[i, j * 8] : f16[16, 16] column_local(2,2).spatial(8,4).local(1,2)
  synchronize
  store_shared t -> s[j, i]
  synchronize
  back = load_shared s : f16[32, 64]
  store_global back -> gy
}
)";
  std::mt19937 random(4);
  for (const auto& [i, j] : {std::pair{0, 0}, {16, 6}, {20, 1}, {-3, -1}, {31, 7}, {40, 3}}) {
    ExpectExecutionsAgree(
        text,
        {Argument::Scalar(static_cast<uint32_t>(i)), Argument::Scalar(static_cast<uint32_t>(j)),
         Argument::Buffer(RandomBytes(&random, 4096)), Argument::Buffer(Zeros(4096))});
  }
}

TEST(SharedMemory, StagesOfAPipelineKeepLdmatrix) {
  const char* text = R"(program f(n: i32, x: *f16, y: *f16) warps 1 target any {
  grid 1
  let mma_a = column_local(2,2).spatial(8,4).local(1,2)
  gx = global_view x : f16[3, 16, 64]
  gy = global_view y : f16[16, 64]
  s = alloc_shared : f16[3, 16, 64]
  all = load_global gx : f16[3, 16, 64]
  store_shared all -> s
  synchronize
  acc = register 0.0 : f16[16, 16] mma_a
  for k in 0 .. n {
    t = load_shared s[k % 3, 0, k % 4 * 16] : f16[16, 16] mma_a
    acc = add acc, t
  }
  store_global acc -> gy[0, 0]
}
)";
  std::mt19937 random(5);
  const Compiled compiled = ExpectExecutionsAgree(
      text, {Argument::Scalar(7), Argument::Buffer(SmallHalves(&random, 3 * 16 * 64)),
             Argument::Buffer(Zeros(2048))});
  EXPECT_EQ(compiled.Count("LdShared"), 0) << compiled.code;
}

TEST(SharedMemory, StepsThroughASwizzledRowAreOneExclusiveOr) {
  // Where thread, stage and step have no bit of the offset in common, the swizzle is computed once.
  const char* text = R"(program f(n: i32, x: *f16, y: *f16) warps 1 target any {
  grid 1
  gx = global_view x : f16[2, 16, 64]
  gy = global_view y : f16[16, 64]
  s = alloc_shared : f16[2, 16, 64] swizzle(3, 3, 3)
  all = load_global gx : f16[2, 16, 64]
  store_shared all -> s
  synchronize
  for k in 0 .. n {
    for h in 0 .. 4 unroll {
      t = load_shared s[k % 2, 0, h * 16] : f16[16, 16] column_local(2,2).spatial(8,4).local(1,2)
      store_global t -> gy[0, h * 16]
    }
  }
}
)";
  std::mt19937 random(7);
  const Compiled compiled = ExpectExecutionsAgree(
      text, {Argument::Scalar(3), Argument::Buffer(RandomBytes(&random, 4096)),
             Argument::Buffer(Zeros(2048))});
  EXPECT_EQ(compiled.Count("LdmatrixX4"), 4);
  // One for the swizzle of the loads and three for the steps beside those of the first store.
  const absl::StatusOr<Compiled> plain = Compile(absl::StrReplaceAll(text, {{"0 .. 4", "0 .. 1"}}));
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(compiled.Count("XorB32") - plain->Count("XorB32"), 3) << compiled.code;
  EXPECT_EQ(compiled.Count("ShrU32"), plain->Count("ShrU32")) << compiled.code;
}

TEST(SharedMemory, AnyTypeSwizzleAndStride) {
  std::mt19937 random(6);
  const char* layouts[] = {"local(4,1).spatial(4,8).local(1,2)", "spatial(16,2).local(1,8)",
                           "column_spatial(16,2).local(1,8)",
                           "local(2,8).column_spatial(8,2).replicated(2)"};
  const char* spellings[] = {"",
                             "strides(16, 1)",
                             "strides(1, 16)",
                             "strides(19, 1)",
                             "strides(16, 1) swizzle(1, 3, 1)",
                             "strides(16, 1) swizzle(2, 2, 2)",
                             "strides(16, 1) swizzle(2, 0, 4)",
                             "strides(48, 3)"};
  for (const char* type : {"u1", "u3", "i4", "u6", "f8e4m3", "u11", "f16", "i13", "f32", "f64"}) {
    for (const char* spelling : spellings) {
      const char* layout = layouts[random() % 4];
      const std::string text = ThroughShared(type, 16, 16, spelling, "16, 16", layout,
                                             random() % 2 == 0 ? "0, 0" : "3, -2");
      ExpectExecutionsAgree(
          text, {Argument::Buffer(RandomBytes(&random, 2048)), Argument::Buffer(Zeros(2048))});
      if (HasFailure()) return;
    }
  }
}

TEST(SharedMemory, SeveralStridesInOneDimension) {
  // 8 x 8 blocks, and the halves of the rows interleaved: text cannot spell it.
  const std::string text =
      ThroughShared("f16", 8, 16, "", "8, 16", "spatial(8,4).local(1,4)", "0, 0");
  absl::StatusOr<Compiled> compiled = Compile(text);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  for (ir::Tensor& tensor : compiled->program.tensors) {
    if (tensor.scope != ir::Scope::kShared) continue;
    const absl::StatusOr<SharedLayout> layout =
        SharedLayout::Create({8, 16}, {2, 4, 2, 8}, {8, 32, 16, 1}, std::nullopt);
    ASSERT_TRUE(layout.ok()) << layout.status();
    tensor.shared_layout = *layout;
  }
  absl::StatusOr<machine::Kernel> kernel = Lower(compiled->program, {});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  compiled->kernel = *std::move(kernel);
  std::mt19937 random(8);
  const std::vector<Argument> arguments = {Argument::Buffer(RandomBytes(&random, 256)),
                                           Argument::Buffer(Zeros(256))};
  const absl::StatusOr<Outcome> outcome = Simulate(*compiled, arguments);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->report.clean());
  EXPECT_EQ(outcome->buffers[1], arguments[0].bytes);
}

}  // namespace
}  // namespace tilus::lower

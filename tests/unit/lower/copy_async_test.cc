// Asynchronous copies: widths, spreading over threads, and what lies out of range.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lower_testing.h"
#include "types/data_type.h"

namespace tilus::lower {
namespace {

struct CopyCase {
  const char* type;
  const char* view;  // of the source
  const char* tile;  // of the shared tensor
  const char* offsets;
  const char* op;  // nullptr: through registers
  int count;
};

std::string CopyProgram(const CopyCase& c, int warps) {
  return absl::StrCat(
      "program f(m: i32, n: i32, i: i32, x: *", c.type, ", y: *", c.type, ") warps ", warps,
      " target any {\n  grid 1\n  gx = global_view x : ", c.type, "[", c.view,
      "]\n  gy = global_view y : ", c.type, "[", c.tile, "]\n  s = alloc_shared : ", c.type, "[",
      c.tile, "]\n  copy_async gx[", c.offsets,
      "] -> s\n  commit_group\n  wait_group 0\n  synchronize\n  t = load_shared s : ", c.type, "[",
      c.tile, "]\n  store_global t -> gy\n}\n");
}

TEST(CopyAsync, TakesTheWidestVectors) {
  const CopyCase cases[] = {
      {"f16", "64, 64", "16, 64", "0, 0", "CpAsyncCg16", 4},
      {"f16", "64, 64", "16, 64", "3, 0", "CpAsyncCg16", 4},
      {"u8", "4, 8, 96", "1, 1, 96", "2, 3, 0", "CpAsyncCg16", 1},
      {"f16", "64, 68", "16, 64", "0, 0", "CpAsyncCa8", 8},
      {"f16", "64, 66", "16, 64", "0, 0", "CpAsyncCa4", 16},
      {"f16", "64, 64", "16, 32", "0, 2", "CpAsyncCa4", 8},
      {"f32", "64, 6", "32, 6", "0, 0", "CpAsyncCa8", 3},
      {"u4", "16, 64", "16, 64", "0, 0", "CpAsyncCg16", 1},
      {"u6", "16, 64", "16, 64", "0, 0", "CpAsyncCg16", 3},  // a row is three vectors
      // Rows past m are filled with 0; rows of n * 8 halves are whole vectors.
      {"f16", "m, 64", "16, 64", "i, 0", "CpAsyncCg16", 4},
      {"f16", "m, n * 8", "16, 64", "i, 0", "CpAsyncCg16", 4},
      // A row may end inside a vector of a fixed width.
      {"f16", "m, 40", "16, 64", "i, 0", "CpAsyncCg16", 4},
      {"f16", "m, 44", "16, 64", "i, 0", "CpAsyncCa8", 8},
      {"u8", "m", "512", "0", "CpAsyncCg16", 1},
      // Fewer than four bytes.
      {"f16", "64, 65", "16, 64", "0, 0", nullptr, 0},
      {"u8", "64, 64", "16, 2", "0, 0", nullptr, 0},
      {"u3", "64, 24", "16, 16", "i, 1", nullptr, 0},
      {"f16", "m, n", "16, 16", "i, i", nullptr, 0},
  };
  std::mt19937 random(1);
  for (const CopyCase& c : cases) {
    for (const int warps : {1, 2}) {
      const std::string text = CopyProgram(c, warps);
      SCOPED_TRACE(text);
      for (const auto& [m, i] : {std::pair{9, 0}, {5, 7}, {12, -3}}) {
        if (warps == 2 && i != 0) continue;
        const Compiled compiled = ExpectExecutionsAgree(
            text, {Argument::Scalar(static_cast<uint32_t>(m)), Argument::Scalar(5),
                   Argument::Scalar(static_cast<uint32_t>(i)),
                   Argument::Buffer(RandomBytes(&random, 16384)), Argument::Buffer(Zeros(4096))});
        if (c.op != nullptr && warps == 1) {
          EXPECT_EQ(compiled.Count(c.op), c.count) << compiled.code;
        } else if (c.op == nullptr) {
          EXPECT_EQ(compiled.Count("CpAsyncC"), compiled.Count("CpAsyncCommitGroup"));
        }
        if (HasFailure()) return;
      }
    }
  }
}

TEST(CopyAsync, VectorsThatDoNotDivideAmongTheThreadsAreSpreadRowMajor) {
  // 6 vectors for 32 threads: one instruction, not three in two threads.
  const Compiled one =
      ExpectExecutionsAgree(CopyProgram({"u8", "96", "96", "0", "", 0}, 1),
                            {Argument::Scalar(0), Argument::Scalar(0), Argument::Scalar(0),
                             Argument::Buffer(Zeros(96)), Argument::Buffer(Zeros(96))});
  EXPECT_EQ(one.Count("CpAsyncCg16"), 1) << one.code;
  std::mt19937 random(2);
  // 7 x 6 vectors for 32 threads: two rounds.
  const Compiled two = ExpectExecutionsAgree(
      CopyProgram({"u8", "m, 96", "7, 96", "i, 0", "", 0}, 1),
      {Argument::Scalar(6), Argument::Scalar(0), Argument::Scalar(1),
       Argument::Buffer(RandomBytes(&random, 672)), Argument::Buffer(Zeros(672))});
  EXPECT_EQ(two.Count("CpAsyncCg16"), 2) << two.code;
}

TEST(CopyAsync, AnyTypeShapeAndOffset) {
  std::mt19937 random(6);
  const char* types[] = {"u8", "i16", "f16", "f32", "f64", "u4", "i6", "u1", "u12"};
  for (int round = 0; round < 60; ++round) {
    const char* type = types[random() % 9];
    const int bits = ParseDataType(type)->bits();
    const int rows = 1 + static_cast<int>(random() % 9);
    const int columns = 8 * (1 + static_cast<int>(random() % 9));
    const int wide = columns + 8 * static_cast<int>(random() % 3) +
                     (random() % 2 == 0 ? static_cast<int>(random() % 5) : 0);
    const std::string tile = absl::StrCat(rows, ", ", columns);
    const std::string view = random() % 2 == 0 ? absl::StrCat("m, ", wide) : std::string("m, n");
    const std::string offsets = random() % 2 == 0   ? "i, j * 8"
                                : random() % 2 == 0 ? "i, j"
                                                    : "1, 8";
    const std::string text = absl::StrCat(
        "program f(m: i32, n: i32, i: i32, j: i32, x: *", type, ", y: *", type, ") warps ",
        1 + random() % 3, " target any {\n  grid 1\n  gx = global_view x : ", type, "[", view,
        "]\n  gy = global_view y : ", type, "[", tile, "]\n  s = alloc_shared : ", type, "[", tile,
        "]\n  copy_async gx[", offsets, "] -> s\n  commit_group\n  wait_all\n  synchronize\n",
        "  t = load_shared s : ", type, "[", tile, "]\n  store_global t -> gy\n}\n");
    const auto bytes = [bits](int elements) {
      return static_cast<size_t>((elements * bits + 31) / 32 * 4);
    };
    const int m = static_cast<int>(random() % 12);
    const auto offset = [&random] {
      return Argument::Scalar(static_cast<uint32_t>(static_cast<int>(random() % 5) - 2));
    };
    const Argument i = offset(), j = offset();
    ExpectExecutionsAgree(text, {Argument::Scalar(static_cast<uint32_t>(m)),
                                 Argument::Scalar(static_cast<uint32_t>(wide)), i, j,
                                 Argument::Buffer(RandomBytes(&random, bytes(m * wide + 8))),
                                 Argument::Buffer(Zeros(bytes(rows * columns)))});
    if (HasFailure()) return;
  }
}

TEST(CopyAsync, TileShapeAndDims) {
  const char* text = R"(program f(j: i32, x: *u8, y: *u8) warps 1 target any {
  grid 1
  gx = global_view x : u8[16, 4, 64]
  gy = global_view y : u8[2, 16, 64]
  s = alloc_shared : u8[2, 16, 64]
  zero = register 0 : u8[2, 16, 64]
  store_shared zero -> s
  synchronize
  copy_async gx[0, j, 0] dims=[0, 2] -> s[1, 0, 0] : u8[16, 64]
  commit_group
  wait_all
  synchronize
  t = load_shared s : u8[2, 16, 64]
  store_global t -> gy
}
)";
  std::mt19937 random(3);
  for (int j : {0, 3, 4}) {
    const Compiled compiled = ExpectExecutionsAgree(
        text, {Argument::Scalar(static_cast<uint32_t>(j)),
               Argument::Buffer(RandomBytes(&random, 4096)), Argument::Buffer(Zeros(2048))});
    EXPECT_EQ(compiled.Count("CpAsyncCg16"), 2) << compiled.code;
  }
}

TEST(CopyAsync, APipelineWaitsForTheRightGroup) {
  const char* text = R"(program f(n: i32, x: *f32, y: *f32) warps 2 target any {
  grid 1
  gx = global_view x : f32[n, 256]
  gy = global_view y : f32[1, 256]
  s = alloc_shared : f32[3, 256]
  for p in 0 .. 2 {
    copy_async gx[p, 0] -> s[p, 0] : f32[1, 256]
    commit_group
  }
  acc = register 0.0 : f32[1, 256]
  for k in 0 .. n {
    wait_group 1
    synchronize
    t = load_shared s[k % 3, 0] : f32[1, 256]
    acc = add acc, t
    copy_async gx[k + 2, 0] -> s[(k + 2) % 3, 0] : f32[1, 256]
    commit_group
  }
  wait_all
  store_global acc -> gy
}
)";
  std::mt19937 random(4);
  for (int n : {0, 1, 2, 7}) {
    ExpectExecutionsAgree(
        text, {Argument::Scalar(static_cast<uint32_t>(n)),
               Argument::Buffer(SmallFloats(&random, 256 * 7)), Argument::Buffer(Zeros(1024))});
  }
}

}  // namespace
}  // namespace tilus::lower

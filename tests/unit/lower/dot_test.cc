// dot: which instructions are chosen for which layouts, and what they compute.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "lower_testing.h"
#include "types/codec.h"

namespace tilus::lower {
namespace {

struct DotCase {
  const char *a, *b, *c;  // types
  int m, n, k;
  int warps;
  const char *la, *lb, *lc;
  const char* op;
  int count;
};

std::string DotProgram(const DotCase& c, bool in_place) {
  const std::string sa = absl::StrCat(c.m, ", ", c.k), sb = absl::StrCat(c.k, ", ", c.n),
                    sc = absl::StrCat(c.m, ", ", c.n);
  return absl::StrCat(
      "program f(a: *", c.a, ", b: *", c.b, ", c: *", c.c, ", d: *", c.c, ") warps ", c.warps,
      " target any {\n  grid 1\n  ga = global_view a : ", c.a, "[", sa,
      "]\n  gb = global_view b : ", c.b, "[", sb, "]\n  gc = global_view c : ", c.c, "[", sc,
      "]\n  gd = global_view d : ", c.c, "[", sc, "]\n  ta = load_global ga : ", c.a, "[", sa, "] ",
      c.la, "\n  tb = load_global gb : ", c.b, "[", sb, "] ", c.lb,
      "\n  tc = load_global gc : ", c.c, "[", sc, "] ", c.lc,
      in_place ? "\n  tc = dot ta, tb, tc\n  tc = dot ta, tb, tc\n  store_global tc -> gd\n}\n"
               : "\n  td = dot ta, tb, tc\n  te = dot ta, tb, td\n  store_global te -> gd\n}\n");
}

// Numbers whose products sum exactly in the type.
std::vector<uint8_t> Exact(std::mt19937* random, absl::string_view type, int count) {
  const DataType dtype = *ParseDataType(type);
  std::vector<uint8_t> bytes(static_cast<size_t>(count * dtype.bits() / 8));
  for (int i = 0; i < count; ++i) {
    const int value = static_cast<int>((*random)() % 5) - (dtype.is_signed() ? 2 : 0);
    const uint64_t code =
        dtype.is_float() ? EncodeFromDouble(dtype, value) : EncodeFromInt64(dtype, value);
    for (int k = 0; k < dtype.bits() / 8; ++k) {
      bytes[static_cast<size_t>(i * dtype.bits() / 8 + k)] = static_cast<uint8_t>(code >> (8 * k));
    }
  }
  return bytes;
}

const char* const kA16 = "column_local(2,2).spatial(8,4).local(1,2)";
const char* const kB16 = "local(2,1).column_spatial(4,8).local(2,1)";
const char* const kA8 = "local(2,1).spatial(8,4).local(1,2)";
const char* const kB8 = "column_spatial(4,8).local(2,1)";
const char* const kC = "local(2,1).spatial(8,4).local(1,2)";

std::vector<DotCase> Cases() {
  return {
      {"f16", "f16", "f32", 16, 8, 16, 1, kA16, kB16, kC, "MmaM16N8K16F32F16", 1},
      {"f16", "f16", "f16", 16, 8, 16, 1, kA16, kB16, kC, "MmaM16N8K16F16F16", 1},
      {"bf16", "bf16", "f32", 16, 8, 16, 1, kA16, kB16, kC, "MmaM16N8K16F32BF16", 1},
      {"f16", "f16", "f32", 16, 8, 8, 1, kA8, kB8, kC, "MmaM16N8K8F32F16", 1},
      {"f16", "f16", "f16", 16, 8, 8, 1, kA8, kB8, kC, "MmaM16N8K8F16F16", 1},
      {"bf16", "bf16", "f32", 16, 8, 8, 1, kA8, kB8, kC, "MmaM16N8K8F32BF16", 1},
      {"tf32", "tf32", "f32", 16, 8, 8, 1, "column_local(2,2).spatial(8,4)",
       "local(2,1).column_spatial(4,8)", kC, "MmaM16N8K8F32TF32", 1},
      {"tf32", "tf32", "f32", 16, 8, 4, 1, "local(2,1).spatial(8,4)", "column_spatial(4,8)", kC,
       "MmaM16N8K4F32TF32", 1},
      {"i8", "i8", "i32", 16, 8, 32, 1, "column_local(2,2).spatial(8,4).local(1,4)",
       "local(2,1).column_spatial(4,8).local(4,1)", kC, "MmaM16N8K32S32S8S8", 1},
      {"i8", "u8", "i32", 16, 8, 32, 1, "column_local(2,2).spatial(8,4).local(1,4)",
       "local(2,1).column_spatial(4,8).local(4,1)", kC, "MmaM16N8K32S32S8U8", 1},
      {"u8", "i8", "i32", 16, 8, 32, 1, "column_local(2,2).spatial(8,4).local(1,4)",
       "local(2,1).column_spatial(4,8).local(4,1)", kC, "MmaM16N8K32S32U8S8", 1},
      {"i8", "i8", "i32", 16, 8, 16, 1, "local(2,1).spatial(8,4).local(1,4)",
       "column_spatial(4,8).local(4,1)", kC, "MmaM16N8K16S32S8S8", 1},
      // Two k8 fragments are a k16 fragment.
      {"f16", "f16", "f32", 16, 8, 16, 1, "local(1,2).local(2,1).spatial(8,4).local(1,2)",
       "local(2,1).column_spatial(4,8).local(2,1)", kC, "MmaM16N8K16F32F16", 1},
      // Longer runs along k: the same instructions with k in another order.
      {"f16", "f16", "f32", 16, 8, 32, 1, "column_local(2,2).spatial(8,4).local(1,4)",
       "local(2,1).column_spatial(4,8).local(4,1)", kC, "MmaM16N8K16F32F16", 2},
      {"f16", "f16", "f32", 16, 8, 64, 1, "column_local(2,2).spatial(8,4).local(1,8)",
       "local(2,1).column_spatial(4,8).local(8,1)", kC, "MmaM16N8K16F32F16", 4},
      {"f16", "f16", "f32", 16, 8, 16, 1, "local(2,1).spatial(8,4).local(1,4)",
       "column_spatial(4,8).local(4,1)", kC, "MmaM16N8K8F32F16", 2},
      // Several fragments, in one warp and in four.
      {"f16", "f16", "f32", 32, 16, 32, 1, "local(2,2).column_local(2,2).spatial(8,4).local(1,2)",
       "local(2,2).local(2,1).column_spatial(4,8).local(2,1)",
       "local(2,2).local(2,1).spatial(8,4).local(1,2)", "MmaM16N8K16F32F16", 8},
      {"f16", "f16", "f32", 64, 32, 32, 4,
       "spatial(2,1).replicated(2).local(2,2).column_local(2,2).spatial(8,4).local(1,2)",
       "replicated(2).spatial(1,2).local(2,2).local(2,1).column_spatial(4,8).local(2,1)",
       "spatial(2,2).local(2,2).local(2,1).spatial(8,4).local(1,2)", "MmaM16N8K16F32F16", 8},
      // Fragments in other orders.
      {"f16", "f16", "f32", 32, 16, 32, 1,
       "column_local(2,2).column_local(2,2).spatial(8,4).local(1,2)",
       "column_local(2,2).local(2,1).column_spatial(4,8).local(2,1)",
       "column_local(2,2).local(2,1).spatial(8,4).local(1,2)", "MmaM16N8K16F32F16", 8},
      // Multiply-adds.
      {"f32", "f32", "f32", 8, 8, 4, 1, "spatial(8,1).replicated(4).local(1,4)",
       "replicated(8).spatial(1,4).local(4,2)", "spatial(8,4).local(1,2)", "FmaF32", 8},
      {"f16", "f16", "f16", 8, 4, 4, 1, "spatial(8,1).replicated(4).local(1,4)",
       "replicated(8).spatial(1,4).local(4,1)", "spatial(8,4)", "FmaF32", 4},
      {"f64", "f64", "f64", 8, 4, 4, 1, "spatial(8,1).replicated(4).local(1,4)",
       "replicated(8).spatial(1,4).local(4,1)", "spatial(8,4)", "FmaF64", 4},
      {"i16", "i16", "i32", 8, 4, 4, 1, "spatial(8,1).replicated(4).local(1,4)",
       "replicated(8).spatial(1,4).local(4,1)", "spatial(8,4)", "MadLoS32", 4},
      {"u8", "u8", "u32", 8, 4, 4, 1, "spatial(8,1).replicated(4).local(1,4)",
       "replicated(8).spatial(1,4).local(4,1)", "spatial(8,4)", "MadLoS32", 4},
  };
}

TEST(Dot, InstructionsFollowTheLayouts) {
  std::mt19937 random(1);
  for (const DotCase& c : Cases()) {
    for (const bool in_place : {false, true}) {
      const std::string text = DotProgram(c, in_place);
      SCOPED_TRACE(text);
      const Compiled compiled = ExpectExecutionsAgree(
          text, {Argument::Buffer(Exact(&random, c.a, c.m * c.k)),
                 Argument::Buffer(Exact(&random, c.b, c.k * c.n)),
                 Argument::Buffer(Exact(&random, c.c, c.m * c.n)),
                 Argument::Buffer(Zeros(static_cast<size_t>(c.m * c.n * 8)))});
      EXPECT_EQ(compiled.Count(c.op), 2 * c.count) << compiled.code;
      if (HasFailure()) return;
    }
  }
}

TEST(Dot, AnAccumulatorStaysInItsRegisters) {
  const char* text = R"(program f(n: i32, a: *f16, b: *f16, d: *f32) warps 1 target any {
  grid 1
  ga = global_view a : f16[16, 16]
  gb = global_view b : f16[16, 8]
  gd = global_view d : f32[16, 8]
  acc = register 0.0 : f32[16, 8] local(2,1).spatial(8,4).local(1,2)
  ta = load_global ga : f16[16, 16] column_local(2,2).spatial(8,4).local(1,2)
  tb = load_global gb : f16[16, 8] local(2,1).column_spatial(4,8).local(2,1)
  for k in 0 .. n {
    acc = dot ta, tb, acc
  }
  store_global acc -> gd
}
)";
  std::mt19937 random(2);
  const Compiled compiled = ExpectExecutionsAgree(
      text, {Argument::Scalar(3), Argument::Buffer(SmallHalves(&random, 256)),
             Argument::Buffer(SmallHalves(&random, 128)), Argument::Buffer(Zeros(512))});
  const size_t mma = compiled.code.find("mma.sync");
  ASSERT_NE(mma, std::string::npos) << compiled.code;
  const size_t loop_end = compiled.code.find("}", mma);
  EXPECT_EQ(compiled.code.substr(mma, loop_end - mma).find("mov.b32"), std::string::npos)
      << compiled.code;
}

TEST(Dot, AnOperandMayBeTheResult) {
  const char* text = R"(program f(a: *f32, d: *f32) warps 1 target any {
  grid 1
  ga = global_view a : f32[4, 4]
  gd = global_view d : f32[4, 4]
  x = load_global ga : f32[4, 4] replicated(32).local(4,4)
  y = load_global ga : f32[4, 4] replicated(32).local(4,4)
  x = dot x, y, y
  y = dot x, y, x
  x = dot x, y, x
  y = dot x, y, y
  y = dot x, y, y
  store_global y -> gd
}
)";
  std::vector<uint8_t> ones(64, 0);
  for (size_t i = 0; i < 16; i += 3) ones[4 * i + 3] = 0x40;  // 2.0
  ExpectExecutionsAgree(text, {Argument::Buffer(ones), Argument::Buffer(Zeros(64))});
  // The fragments of a and of c of m16n8k8 with f16 sums are alike.
  const char* fragments = R"(program f(a: *f16, b: *f16, d: *f16) warps 1 target any {
  grid 1
  ga = global_view a : f16[16, 8]
  gb = global_view b : f16[8, 8]
  gd = global_view d : f16[16, 8]
  x = load_global ga : f16[16, 8] local(2,1).spatial(8,4).local(1,2)
  y = load_global gb : f16[8, 8] column_spatial(4,8).local(2,1)
  x = dot x, y, x
  store_global x -> gd
}
)";
  std::mt19937 random(3);
  ExpectExecutionsAgree(fragments,
                        {Argument::Buffer(SmallHalves(&random, 128)),
                         Argument::Buffer(SmallHalves(&random, 64)), Argument::Buffer(Zeros(256))});
}

TEST(Dot, LayoutsAreChosenWhereLeftOut) {
  struct Chosen {
    const char *type, *c;
    int size;
    const char* op;
  };
  const Chosen cases[] = {{"f16", "f32", 32, "MmaM16N8K16F32F16"},
                          {"bf16", "f32", 32, "MmaM16N8K16F32BF16"},
                          {"f32", "f32", 8, "FmaF32"}};
  std::mt19937 random(4);
  for (const int warps : {1, 2, 4}) {
    for (const Chosen& c : cases) {
      const std::string shape = absl::StrCat("[", c.size, ", ", c.size, "]\n");
      const std::string text = absl::StrCat(
          "program f(a: *", c.type, ", b: *", c.type, ", d: *", c.c, ") warps ", warps,
          " target any {\n  grid 1\n  ga = global_view a : ", c.type, shape,
          "  gb = global_view b : ", c.type, shape, "  gd = global_view d : ", c.c, shape,
          "  acc = register 0.0 : ", c.c, shape, "  ta = load_global ga : ", c.type, shape,
          "  tb = load_global gb : ", c.type, shape,
          "  acc = dot ta, tb, acc\n  store_global acc -> gd\n}\n");
      const Compiled compiled =
          ExpectExecutionsAgree(text, {Argument::Buffer(Exact(&random, c.type, c.size * c.size)),
                                       Argument::Buffer(Exact(&random, c.type, c.size * c.size)),
                                       Argument::Buffer(Zeros(4096))});
      EXPECT_GT(compiled.Count(c.op), 0) << compiled.code;
    }
  }
}

// Warps and fragments in any nesting and order: the operands' layouts follow from that of c.
TEST(Dot, AnyArrangementOfFragments) {
  std::mt19937 random(5);
  for (int round = 0; round < 30; ++round) {
    std::string a, b, c;
    int warps = 1, m = 16, n = 8, k = 16;
    const auto add = [](std::string* layout, const std::string& factor) {
      absl::StrAppend(layout, factor, ".");
    };
    while (random() % 4 != 0) {
      const int p = 1 << (random() % 2), q = 1 << (random() % 2), r = 1 << (random() % 2);
      const bool column = random() % 2 == 0;
      const char* prefix = column ? "column_" : "";
      if (random() % 2 == 0) {
        if (warps * p * q > 4) continue;
        warps *= p * q;
        const std::string rows = absl::StrCat("spatial(", p, ",1)"),
                          columns = absl::StrCat("spatial(1,", q, ")");
        const auto copies = [](int count) {
          return count > 1 ? absl::StrCat("replicated(", count, ")") : std::string("local(1,1)");
        };
        add(&c, absl::StrCat(prefix, "spatial(", p, ",", q, ")"));
        add(&a, column ? absl::StrCat(copies(q), ".", rows) : absl::StrCat(rows, ".", copies(q)));
        add(&b,
            column ? absl::StrCat(columns, ".", copies(p)) : absl::StrCat(copies(p), ".", columns));
      } else {
        if (m * p > 64 || n * q > 32 || k * r > 64) continue;
        add(&c, absl::StrCat(prefix, "local(", p, ",", q, ")"));
        add(&a, absl::StrCat(random() % 2 == 0 ? "column_" : "", "local(", p, ",", r, ")"));
        add(&b, absl::StrCat(random() % 2 == 0 ? "column_" : "", "local(", r, ",", q, ")"));
        k *= r;
      }
      m *= p;
      n *= q;
    }
    add(&a, kA16);
    add(&b, kB16);
    add(&c, kC);
    a.pop_back();
    b.pop_back();
    c.pop_back();
    const DotCase test{"f16",
                       "f16",
                       "f32",
                       m,
                       n,
                       k,
                       warps,
                       a.c_str(),
                       b.c_str(),
                       c.c_str(),
                       "MmaM16N8K16F32F16",
                       (m / 16) * (n / 8) * (k / 16) / warps};
    const std::string text = DotProgram(test, random() % 2 == 0);
    SCOPED_TRACE(text);
    const Compiled compiled = ExpectExecutionsAgree(
        text, {Argument::Buffer(SmallHalves(&random, static_cast<size_t>(m * k))),
               Argument::Buffer(SmallHalves(&random, static_cast<size_t>(k * n))),
               Argument::Buffer(SmallFloats(&random, static_cast<size_t>(m * n))),
               Argument::Buffer(Zeros(static_cast<size_t>(m * n * 4)))});
    EXPECT_EQ(compiled.Count(test.op), 2 * test.count);
    if (HasFailure()) return;
  }
}

struct BadCase {
  const char *type, *la, *lb, *lc;
  int warps;
  const char* message;
};

TEST(Dot, SaysWhatIsMissing) {
  const BadCase cases[] = {
      // c is spread over two warps along m, a is not.
      {"f16", "replicated(2).local(2,1).column_local(2,2).spatial(8,4).local(1,2)",
       "replicated(2).local(2,1).column_spatial(4,8).local(2,1)",
       "spatial(2,1).local(2,1).spatial(8,4).local(1,2)", 2,
       "thread group 1 does not hold a[1, 0]"},
      // k is spread over warps.
      {"f32", "spatial(32,2).local(1,8)", "replicated(64).local(16,8)",
       "spatial(32,1).replicated(2).local(1,8)", 2, "does not hold a[0, 0]"},
  };
  for (const BadCase& c : cases) {
    const std::string text = absl::StrCat(
        "program f(a: *", c.type, ", b: *", c.type, ", d: *f32) warps ", c.warps,
        " target any {\n  grid 1\n  ga = global_view a : ", c.type,
        "[32, 16]\n  gb = global_view b : ", c.type,
        "[16, 8]\n  gd = global_view d : f32[32, 8]\n  acc = register 0.0 : f32[32, 8] ", c.lc,
        "\n  ta = load_global ga : ", c.type, "[32, 16] ", c.la,
        "\n  tb = load_global gb : ", c.type, "[16, 8] ", c.lb,
        "\n  acc = dot ta, tb, acc\n  store_global acc -> gd\n}\n");
    const absl::StatusOr<Compiled> compiled = Compile(text);
    ASSERT_FALSE(compiled.ok());
    const std::vector<Diagnostic> diagnostics = DiagnosticsOf(compiled.status());
    ASSERT_EQ(diagnostics.size(), 1u);
    EXPECT_EQ(diagnostics[0].id, DiagId::kDotLayout) << compiled.status();
    EXPECT_NE(diagnostics[0].message.find(c.message), std::string::npos) << diagnostics[0].message;
    EXPECT_NE(diagnostics[0].message.find("ta: "), std::string::npos);
    EXPECT_FALSE(diagnostics[0].hint.empty());
    EXPECT_EQ(diagnostics[0].path, "f.body[6]");
  }
}

}  // namespace
}  // namespace tilus::lower

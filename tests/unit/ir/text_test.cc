// Reading and printing: the round trip, and texts that are not programs.
#include "ir/text.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/diagnostic.h"
#include "ir/builder.h"
#include "random_program.h"
#include "types/codec.h"

namespace tilus::ir {
namespace {

constexpr char kProgram[] = R"(
program p(n: i32 div(4), x: *f16 align(32)) warps 2 target sm_90a contract {
  const K = 64
  grid ceil_div(n, K), 2
  let tile = spatial(8,8).local(1,2)
  bi, bj = block_indices
  g = global_view x strides=[K, 1] : f16[n, K]
  ws = alloc_global clean : f32[128]
  s = alloc_shared : f16[2, 8, 16] strides(160, 16, 1) swizzle(1, 3, 3)
  copy_async g[bi * 8, 0] dims=[0, 1] -> s[0, 0, 0] : f16[8, 16]
  commit_group
  wait_group 0
  synchronize
  v = load_shared s[0, 0, 0] : f16[8, 16] tile
  w = view v : u16[8, 16] tile
  for k in 0 .. K / 16 step 2 unroll 2 {
    if k > 2 and not (n == 4) {
      v = mul v, 2.0
    } else if k < 0 {
      continue
    } else {
      print v label="v"
    }
  }
  store_global v -> g[bi * 8, 0] cache=streaming
}
)";

std::string ParseAndPrint(absl::string_view text) {
  const absl::StatusOr<Module> module = ParseText(text, Limits());
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << std::string(text);
  return module.ok() ? PrintText(*module) : "";
}

// Wraps one statement.
std::string With(absl::string_view statement) {
  return absl::StrCat("program p(n: i32, m: i64, a: f32, d: f64) warps 1 {\n  grid 1\n  ",
                      statement, "\n}\n");
}

TEST(Text, KeepsTheCanonicalSpelling) {
  const std::string text = ParseAndPrint(kProgram);
  EXPECT_EQ(text, std::string(kProgram).substr(1));
}

TEST(Text, PrintingRandomProgramsIsReadBackTheSame) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Program program = RandomProgram(seed).Make();
    const std::string text = PrintText(program);
    ASSERT_EQ(ParseAndPrint(text), text) << "seed " << seed;
    // What is read is the same program: it resolves and verifies, and prints the same then.
    const absl::StatusOr<Module> loaded = LoadText(text, Limits());
    ASSERT_TRUE(loaded.ok()) << loaded.status() << "\n" << text;
    ASSERT_EQ(PrintText(*loaded), text);
  }
}

TEST(Text, EveryLiteralKeepsItsCode) {
  const auto check = [](DataType type, uint64_t code) {
    Program program;
    program.name = "p";
    program.grid = {IntLiteral(1)};
    Var& var = program.vars.emplace_back();
    var.name = "x";
    var.type = type;
    program.body.stmts.push_back(Stmt{DefineStmt{0, Literal(type, code)}, {}});
    const std::string text = PrintText(program);
    const absl::StatusOr<Module> module = ParseText(text, Limits());
    ASSERT_TRUE(module.ok()) << module.status();
    const Stmt& stmt = module->programs[0].body.stmts[0];
    const Expr& value = *std::get<DefineStmt>(stmt.node).value;
    EXPECT_EQ(value.type, type) << text;
    EXPECT_EQ(value.code, CanonicalCode(type, code)) << text;
    EXPECT_EQ(PrintText(*module), text);
  };
  std::mt19937_64 random(7);
  for (const DataType type : AllDataTypes()) {
    if (type.bits() <= 10) {
      for (uint64_t code = 0; code <= CodeMask(type); ++code) check(type, code);
    } else {
      for (int i = 0; i < 300; ++i) check(type, random() & CodeMask(type));
      for (uint64_t edge : {uint64_t{0}, uint64_t{1}, CodeMask(type), CodeMask(type) >> 1,
                            (CodeMask(type) >> 1) + 1}) {
        check(type, edge);
      }
    }
  }
}

TEST(Text, LiteralsTakeTheTypeBesideThem) {
  EXPECT_EQ(ParseAndPrint(With("let x = m + 1")), With("let x = m + 1"));
  EXPECT_EQ(ParseAndPrint(With("let x = d * 0.1")), With("let x = d * 0.1"));
  EXPECT_EQ(ParseAndPrint(With("let x = 0.1")), With("let x = 0.1"));
  EXPECT_EQ(ParseAndPrint(With("let x = f64(0.1)")), With("let x = f64(0.1)"));
  EXPECT_EQ(ParseAndPrint(With("let x: i64 = 3")), With("let x = i64(3)"));
  EXPECT_EQ(ParseAndPrint(With("let x = 3000000000")), With("let x = 3000000000"));
  EXPECT_EQ(ParseAndPrint(With("let x = -9223372036854775808")),
            With("let x = -9223372036854775808"));
  EXPECT_EQ(ParseAndPrint(With("let x = 18446744073709551615")),
            With("let x = 18446744073709551615"));
  const absl::StatusOr<Module> module = ParseText(With("let x = d * 0.1"), Limits());
  ASSERT_TRUE(module.ok());
  const Expr& product = *std::get<DefineStmt>(module->programs[0].body.stmts[0].node).value;
  EXPECT_EQ(DecodeToDouble(kF64, product.args[1]->code), 0.1);  // not rounded through f32
}

TEST(Text, ParenthesesStayWhereTheyMatter) {
  for (const char* expr :
       {"n - (n - 1)", "n - n - 1", "n * (n + 1)", "n / (n * 2)", "-(n + 1)", "-(-n)", "-(3)",
        "n - -3", "(n + 1) * 2", "n << (n << 1)", "(n | 1) ^ n & 2", "min(n, max(n, 3)) % 5",
        "select(n < 3 or n > 5 and n != 4, n, -n)", "i32(f32(n) * 0.5)", "ceil_div(n, 2) + 1"}) {
    EXPECT_EQ(ParseAndPrint(With(absl::StrCat("let x = ", expr))),
              With(absl::StrCat("let x = ", expr)));
  }
  EXPECT_EQ(ParseAndPrint(With("let x = ((n)) + (n * 2)")), With("let x = n + n * 2"));
}

TEST(Text, LinesThatEndInACommaContinue) {
  const std::string text = absl::StrReplaceAll(kProgram, {{"div(4), x", "div(4), ; first\n   x"}});
  EXPECT_EQ(ParseAndPrint(text), std::string(kProgram).substr(1));
}

TEST(Text, LongHeadsAreBroken) {
  std::string params;
  for (int i = 0; i < 40; ++i) absl::StrAppend(&params, i > 0 ? ", " : "", "parameter", i, ": i32");
  const std::string text =
      ParseAndPrint(absl::StrCat("program p(", params, ") warps 1 {\n  grid 1\n}\n"));
  size_t longest = 0;
  for (absl::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    longest = std::max(longest, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  EXPECT_LE(longest, 100u);
  EXPECT_EQ(ParseAndPrint(text), text);
}

TEST(Text, ErrorsPointAtTheFault) {
  const absl::StatusOr<Module> module = ParseText(With("let x = n + y * 2   ; why"), Limits());
  const std::vector<Diagnostic> errors = DiagnosticsOf(module.status());
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].id, DiagId::kTextUnknownName);
  EXPECT_EQ(errors[0].span.line, 3);
  EXPECT_EQ(errors[0].span.column, 15);
  EXPECT_EQ(errors[0].span.length, 1);
  EXPECT_EQ(errors[0].excerpt, "  let x = n + y * 2   ; why");
}

TEST(Text, VerifierErrorsPointAtTheInstruction) {
  const absl::StatusOr<Module> module =
      LoadText(With("if n > 2 {\n  let q = n   \n    v = register 0.0 : f32[0]\n  }"), Limits());
  const std::vector<Diagnostic> errors = DiagnosticsOf(module.status());
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].path, "p.body[0].if.then[1]");
  EXPECT_EQ(errors[0].span.line, 5);
  EXPECT_EQ(errors[0].excerpt.substr(static_cast<size_t>(errors[0].span.column) - 1, 8),
            "register");
}

TEST(Text, MisspeltNamesGetASuggestion) {
  const auto hint = [](absl::string_view statement) {
    const absl::StatusOr<Module> module = ParseText(With(statement), Limits());
    const std::vector<Diagnostic> errors = DiagnosticsOf(module.status());
    return errors.size() == 1 ? errors[0].hint : "";
  };
  EXPECT_EQ(hint("v = loadglobal n"), "did you mean 'load_global'?");
  EXPECT_EQ(hint("synchronise"), "did you mean 'synchronize'?");
  EXPECT_EQ(hint("v = something n"), "");
  EXPECT_EQ(hint("let alpha_1 = n\n  let x = alpha1"), "did you mean 'alpha_1'?");
  EXPECT_EQ(hint("let x = zz"), "");
}

// No prefix and no damaged text does harm: an error, or a program that prints and reads again.
TEST(Text, DamagedTextIsAnErrorOrAProgram) {
  std::vector<std::string> texts;
  const std::string whole = kProgram;
  for (size_t size = 0; size < whole.size(); ++size) texts.push_back(whole.substr(0, size));
  std::mt19937 random(11);
  const std::string alphabet = "(){}[],:;=+-*/%<>&|^#.\"\n ab019\x80\xff\\";
  for (int i = 0; i < 3000; ++i) {
    std::string text = whole;
    for (int k = 0; k < 1 + i % 4; ++k) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = alphabet[random() % alphabet.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 8);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 20));
          break;
      }
    }
    texts.push_back(std::move(text));
  }
  for (const std::string& text : texts) {
    const absl::StatusOr<Module> module = LoadText(text, Limits());
    if (module.ok()) {
      EXPECT_EQ(ParseAndPrint(PrintText(*module)), PrintText(*module));
    } else {
      EXPECT_FALSE(DiagnosticsOf(module.status()).empty());
      for (const Diagnostic& d : DiagnosticsOf(module.status())) {
        EXPECT_NE(d.id, DiagId::kInternal) << d.message;
        EXPECT_FALSE(d.message.empty());
      }
    }
  }
}

TEST(Text, RandomBytesAreErrors) {
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    std::string text(random() % 300, '\0');
    for (char& c : text) c = static_cast<char>(random());
    EXPECT_FALSE(ParseText(text, Limits()).ok());
  }
}

DiagId FirstError(absl::string_view text, const Limits& limits) {
  const absl::StatusOr<Module> module = LoadText(text, limits);
  const std::vector<Diagnostic> errors = DiagnosticsOf(module.status());
  return errors.empty() ? DiagId{} : errors[0].id;
}

TEST(Text, LimitsHold) {
  Limits limits;
  limits.max_bytes = 100;
  EXPECT_EQ(FirstError(kProgram, limits), DiagId::kLimitBytes);
  limits = Limits();
  limits.max_nodes = 40;
  EXPECT_EQ(FirstError(kProgram, limits), DiagId::kLimitNodes);
  limits = Limits();
  limits.max_depth = 1;
  EXPECT_EQ(FirstError(kProgram, limits), DiagId::kLimitDepth);
  limits = Limits();
  limits.max_rank = 2;
  EXPECT_EQ(FirstError(kProgram, limits), DiagId::kLimitRank);
  limits = Limits();
  limits.max_elements = 100;
  EXPECT_EQ(FirstError(kProgram, limits), DiagId::kLimitElements);
  limits = Limits();
  limits.max_unroll = 1;
  EXPECT_EQ(FirstError(kProgram, limits), DiagId::kLimitUnroll);
}

TEST(Text, DeepNestingIsAnErrorNotRecursion) {
  const std::string deep(1 << 20, '(');
  EXPECT_EQ(FirstError(With("let x = " + deep), Limits()), DiagId::kLimitDepth);
  const std::string minus(1 << 20, '-');
  EXPECT_EQ(FirstError(With("let x = " + minus), Limits()), DiagId::kLimitDepth);
  std::string blocks;
  for (int i = 0; i < 100000; ++i) blocks += "if n > 0 {\n";
  EXPECT_EQ(FirstError(With(blocks), Limits()), DiagId::kLimitDepth);
  std::string chain = "if n > 0 {\n}";
  for (int i = 0; i < 100000; ++i) chain += " else if n > 0 {\n}";
  EXPECT_EQ(FirstError(With(chain), Limits()), DiagId::kLimitDepth);
  std::string sum = "let x = n";
  for (int i = 0; i < 100000; ++i) sum += " + n";
  EXPECT_EQ(FirstError(With(sum), Limits()), DiagId::kLimitDepth);
}

// The largest texts cost bounded time: no quadratic behaviour in lines, names or errors.
TEST(Text, LargeTextsAreReadInLinearTime) {
  std::string many;
  for (int i = 0; i < 200000; ++i) absl::StrAppend(&many, "let v", i, " = n\n");
  std::string errors;
  while (errors.size() < (8 << 20)) errors += "let x = ) ( ; \"\n";
  std::string consts = "const C0 = 1";
  for (int i = 1; i < 100000; ++i)
    absl::StrAppend(&consts, ",\nC", i, " = C", i - 1, " + C", i - 1);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(LoadText(With(many), Limits()).ok());
  EXPECT_FALSE(ParseText(With(errors), Limits()).ok());
  EXPECT_FALSE(ParseText(std::string(8 << 20, '{'), Limits()).ok());
  EXPECT_FALSE(ParseText(std::string(8 << 20, 'a'), Limits()).ok());
  const absl::StatusOr<Module> chained = LoadText(With(consts), Limits());
  EXPECT_TRUE(chained.ok()) << chained.status();
  const auto elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_LT(std::chrono::duration_cast<std::chrono::seconds>(elapsed).count(), 20);
}

}  // namespace
}  // namespace tilus::ir

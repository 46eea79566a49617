// Facts against all values of small expressions.
#include "ir/analysis.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/text.h"
#include "random_program.h"
#include "types/codec.h"

namespace tilus::ir {
namespace {

// The code of an expression for given values of its variables.
uint64_t Evaluate(const Expr& e, const std::vector<uint64_t>& vars) {
  switch (e.kind) {
    case ExprKind::kLiteral:
      return e.code;
    case ExprKind::kVar:
      return vars[static_cast<size_t>(e.var)];
    case ExprKind::kIndex:
      return 0;
    case ExprKind::kCast:
      return ConvertCode(e.args[0]->type, e.type, Evaluate(*e.args[0], vars));
    case ExprKind::kOp:
      break;
  }
  std::vector<uint64_t> codes;
  for (const ExprPtr& arg : e.args) codes.push_back(Evaluate(*arg, vars));
  return EvaluateOp(e, codes);
}

// Whatever is claimed of a random expression holds for all values that its variables take: two
// block indices, a loop variable, a parameter with a promised divisor, a constant.
TEST(Facts, HoldForAllValues) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    RandomProgram random(seed);
    const int divisor = 1 + random.Below(12);
    const int begin = random.Below(9) - 4, trips = 1 + random.Below(4), step = 1 + random.Below(5);
    ProgramBuilder b("p", 1);
    const Scalar n = b.Param("n", kI32, divisor);
    const Scalar constant = b.Const("K", 7);
    b.Grid({3, 5});
    const std::vector<Scalar> block = b.BlockIndices({"bi", "bj"});
    std::vector<Scalar> exprs;
    b.For("i", begin, begin + trips * step,
          [&](Scalar i) {
            const std::vector<Scalar> variables = {n, constant, block[0], block[1], i};
            for (int k = 0; k < 4; ++k) {
              exprs.push_back(random.IntExpr(variables, 4));
              b.Let("x", exprs.back());
            }
            // Through a let.
            const Scalar half = b.Let("h", exprs[0] / 2);
            exprs.push_back(half * 2 + i);
          },
          {step, 1});
    const absl::StatusOr<Program> program = b.Build();
    ASSERT_TRUE(program.ok()) << program.status();
    const Facts facts(*program);
    const VarId half = exprs.back().expr()->args[0]->args[0]->var;
    for (const Scalar& scalar : exprs) {
      const Expr& e = *scalar.expr();
      const int64_t claimed = facts.Divisor(e);
      const std::optional<Range> range = facts.RangeOf(e);
      const std::optional<int64_t> value = facts.Constant(e);
      ASSERT_TRUE(range.has_value());
      std::vector<uint64_t> vars(program->vars.size());
      const auto set = [&](const Scalar& var, int64_t v) {
        vars[static_cast<size_t>(var.expr()->var)] = EncodeFromInt64(kI32, v);
      };
      set(constant, 7);
      for (int64_t multiple : {-3, -1, 0, 1, 2, 5, 1 << 27}) {
        const int64_t wrapped = multiple * divisor;
        if (wrapped > INT32_MAX || wrapped < INT32_MIN) continue;
        set(n, wrapped);
        for (int bi = 0; bi < 3; ++bi) {
          set(block[0], bi);
          for (int bj = 0; bj < 5; bj += 2) {
            set(block[1], bj);
            for (int t = 0; t < trips; ++t) {
              vars[static_cast<size_t>(std::get<ForStmt>(program->body.stmts[1].node).var)] =
                  EncodeFromInt64(kI32, begin + t * step);
              vars[static_cast<size_t>(half)] = Evaluate(*(exprs[0] / 2).expr(), vars);
              const int64_t v = DecodeToInt64(kI32, Evaluate(e, vars));
              const std::string text = PrintExpr(*program, e);
              ASSERT_TRUE(claimed == 0 ? v == 0 : v % claimed == 0)
                  << text << " = " << v << " is not divisible by " << claimed << ", seed " << seed;
              ASSERT_TRUE(range->min <= v && v <= range->max)
                  << text << " = " << v << " is not in " << range->min << " .. " << range->max;
              ASSERT_EQ(v, value.value_or(v)) << text;
            }
          }
        }
      }
    }
  }
}

// The claims that bounds tests and vector widths rest on are not lost.
class Claims : public ::testing::Test {
 protected:
  void Load(const char* text) {
    absl::StatusOr<Module> module = LoadText(text, Limits());
    ASSERT_TRUE(module.ok()) << module.status();
    program_ = std::move(module->programs[0]);
    facts_ = std::make_unique<Facts>(program_);
  }
  // The expression of `let NAME`, which refers to the program's variables.
  const Expr& Let(absl::string_view name) {
    const Expr* found = nullptr;
    for (size_t i = 0; i < program_.vars.size(); ++i) {
      const Facts::Definition& d = facts_->DefinitionOf(static_cast<VarId>(i));
      if (program_.vars[i].name == name && d.value != nullptr) found = d.value->get();
    }
    return *found;
  }

  Program program_;
  std::unique_ptr<Facts> facts_;
};

TEST_F(Claims, DivisorsOfOffsets) {
  Load(R"(program p(n: i32 div(8), x: *f32) warps 1 {
  const K = 48
  grid 4, ceil_div(n, 16)
  bi, bj = block_indices
  for k in 0 .. K step 3 {
    let a = bi * 16 + k * 4
    let b = n * 4 + bi * K
    let c = k * 16
    let d = n / 2
    let e = bj * 16 + 8
    let f = i64(bi) * 24
    let g = n & -32
    let h = bi << 5
  }
})");
  EXPECT_EQ(facts_->Divisor(Let("a")), 4);
  EXPECT_EQ(facts_->Divisor(Let("b")), 16);  // of 32 and 48; n * 4 may wrap
  EXPECT_EQ(facts_->Divisor(Let("c")), 48);
  EXPECT_EQ(facts_->Divisor(Let("d")), 4);
  EXPECT_EQ(facts_->Divisor(Let("e")), 8);
  EXPECT_EQ(facts_->Divisor(Let("f")), 24);
  EXPECT_EQ(facts_->Divisor(Let("g")), 32);
  EXPECT_EQ(facts_->Divisor(Let("h")), 32);
  EXPECT_EQ(facts_->RangeOf(Let("c")), (Range{0, 47 * 16}));
}

TEST_F(Claims, TilesInsideTheirTensors) {
  Load(R"(program p(m: i32, n: i32 div(16), x: *f32) warps 1 {
  const K = 64
  grid ceil_div(m, 16), ceil_div(n, 16), K / 16
  bi, bj, bk = block_indices
  for k in 0 .. m / 8 {
    let a = bi * 16
    let b = bj * 16
    let c = bk * 16
    let d = k * 8
    let e = bj * 16 + 8
    let rest = bi % 8
    let f = 16 * bj + rest
    let lm = m
    let ln = n
  }
})");
  const Expr& m = Let("lm");
  const Expr& n = Let("ln");
  const Expr& k = *program_.vars[static_cast<size_t>(program_.consts[0])].value;
  EXPECT_FALSE(facts_->Within(Let("a"), 16, m));  // the last tile is ragged
  EXPECT_TRUE(facts_->Within(Let("b"), 16, n));
  EXPECT_FALSE(facts_->Within(Let("b"), 17, n));
  EXPECT_FALSE(facts_->Within(Let("b"), 16, m));
  EXPECT_TRUE(facts_->Within(Let("c"), 16, k));
  EXPECT_FALSE(facts_->Within(Let("c"), 17, k));
  EXPECT_TRUE(facts_->Within(Let("d"), 8, m));
  EXPECT_TRUE(facts_->Within(Let("e"), 8, n));
  EXPECT_FALSE(facts_->Within(Let("e"), 9, n));
  EXPECT_TRUE(facts_->Within(Let("f"), 9, n));
  EXPECT_FALSE(facts_->Within(Let("f"), 10, n));
}

TEST(EvaluateIntOp, CeilDivRoundsTowardTheLargerNumber) {
  const ExprPtr op = *MakeOp(ExprOp::kCeilDiv, {VarRef(0, kI32), VarRef(1, kI32)});
  for (int64_t a = -20; a <= 20; ++a) {
    for (int64_t b = -6; b <= 6; ++b) {
      int64_t expected = 0;
      if (b != 0) {
        expected = a / b;
        if (expected * b != a && (a > 0) == (b > 0)) ++expected;
      }
      EXPECT_EQ(EvaluateIntOp(*op, {a, b}), expected) << a << " " << b;
    }
  }
}

TEST(Constants, OfAnyTypeThroughConsts) {
  ProgramBuilder b("p", 1);
  const Scalar third = b.Const("T", Scalar(1.0) / Scalar(3.0));
  const Scalar six = b.Const("S", Scalar(2) * Scalar(3));
  b.Grid({six});
  const absl::StatusOr<Program> program = b.Build();
  ASSERT_TRUE(program.ok()) << program.status();
  const Constants constants(*program);
  EXPECT_EQ(constants.Int(*(six + 1).expr()), 7);
  EXPECT_EQ(constants.Code(*third.expr()), EncodeFromFloat(kF32, 1.0f / 3.0f));
  EXPECT_EQ(constants.Int(*third.expr()), std::nullopt);
  EXPECT_EQ(ConstantInt(*program, *(six * 2).expr()), 12);
}

}  // namespace
}  // namespace tilus::ir

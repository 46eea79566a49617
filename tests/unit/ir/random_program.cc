#include "random_program.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace tilus::ir {

Scalar RandomProgram::IntExpr(const std::vector<Scalar>& variables, int depth) {
  if (depth <= 1 || Below(4) == 0) {
    if (Below(3) == 0 || variables.empty()) return Scalar(Below(40) - 8);
    return variables[static_cast<size_t>(Below(static_cast<int>(variables.size())))];
  }
  const Scalar a = IntExpr(variables, depth - 1);
  const Scalar b = IntExpr(variables, depth - 1);
  switch (Below(14)) {
    case 0:
    case 1:
      return a + b;
    case 2:
      return a - b;
    case 3:
    case 4:
      return a * b;
    case 5:
      return a / Scalar(Below(30) + 1);
    case 6:
      return a % Scalar(Below(30) + 1);
    case 7:
      return Min(a, b);
    case 8:
      return Max(a, b);
    case 9:
      return CeilDiv(a, Scalar(Below(30) + 1));
    case 10:
      return Select(BoolExpr(variables, depth - 1), a, b);
    case 11:
      return MakeScalar(ExprOp::kNeg, {a});
    case 12:
      return MakeScalar(Below(2) == 0 ? ExprOp::kShl : ExprOp::kShr, {a, Scalar(Below(34))});
    default:
      return MakeScalar(static_cast<ExprOp>(static_cast<int>(ExprOp::kBitOr) + Below(3)), {a, b});
  }
}

Scalar RandomProgram::BoolExpr(const std::vector<Scalar>& variables, int depth) {
  if (depth > 2 && Below(3) == 0) {
    const Scalar a = BoolExpr(variables, depth - 1);
    if (Below(3) == 0) return MakeScalar(ExprOp::kNot, {a});
    const Scalar b = BoolExpr(variables, depth - 1);
    return Below(2) == 0 ? And(a, b) : Or(a, b);
  }
  return MakeScalar(static_cast<ExprOp>(static_cast<int>(ExprOp::kEq) + Below(6)),
                    {IntExpr(variables, depth - 1), IntExpr(variables, depth - 1)});
}

Program RandomProgram::Make() {
  ProgramBuilder b("random", 1 + Below(4));
  ints_.push_back(b.Param("n", kI32, 1 + Below(16)));
  const Scalar pointer = b.Pointer("x", kF32, Below(2) == 0 ? 0 : 32);
  ints_.push_back(b.Const("K", Below(100) + 1));
  b.Grid({CeilDiv(ints_[0], ints_[1]), Scalar(Below(9))});
  if (Below(2) == 0) b.Target("sm_90a");
  const std::string layout = "replicated(4).spatial(32)";
  for (const Scalar& index : b.BlockIndices({"bi", "bj"})) ints_.push_back(index);
  memory_ = b.GlobalView("g", pointer, {kF32, {ints_[0], 32}});
  shared_ = b.AllocShared("s", {kF32, {4, 32}}, SharedLayoutSpec{{}, Swizzle{2, 1, 3}});
  floats_.push_back(b.Register("acc", 0.0, {kF32, {32}}));
  Statements(&b, 12, 1);
  absl::StatusOr<Program> program = b.Build();
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? *std::move(program) : Program();
}

template <typename Body>
void RandomProgram::Scoped(Body body) {
  const auto ints = ints_;
  const auto mutables = mutables_;
  const auto floats = floats_;
  body();
  ints_ = ints;
  mutables_ = mutables;
  floats_ = floats;
}

void RandomProgram::Statements(ProgramBuilder* b, int count, int depth) {
  for (int i = 0; i < count; ++i) Statement(b, depth);
}

void RandomProgram::Statement(ProgramBuilder* b, int depth) {
  const int inner = depth < 4 ? 1 + Below(4) : 0;
  switch (Below(inner > 0 ? 10 : 5)) {
    case 0:
      ints_.push_back(b->Let("a", IntExpr(ints_, 4)));
      return;
    case 1:
      mutables_.push_back(b->Mutable("v", kI32, IntExpr(ints_, 3)));
      ints_.push_back(mutables_.back());
      return;
    case 2:
      if (mutables_.empty()) return;
      b->Assign(mutables_[static_cast<size_t>(Below(static_cast<int>(mutables_.size())))],
                IntExpr(ints_, 4));
      return;
    case 3:
    case 4:
    case 5:
      return TensorStatement(b);
    case 6:
    case 7: {
      LoopOptions options;
      options.step = Below(3) == 0 ? -1 : 1 + Below(3);
      options.unroll = Below(3) == 0 ? 2 : 1;
      const Scalar begin = IntExpr(ints_, 2);
      const Scalar end = IntExpr(ints_, 2);
      b->For(
          "i", begin, end,
          [&](Scalar i) {
            Scoped([&] {
              ints_.push_back(i);
              Statements(b, inner, depth + 1);
              if (Below(4) == 0) b->If(BoolExpr(ints_, 3), [&] { b->Break(); });
            });
          },
          options);
      return;
    }
    case 8:
      b->If(
          BoolExpr(ints_, 3), [&] { Scoped([&] { Statements(b, inner, depth + 1); }); },
          [&] { Scoped([&] { Statements(b, Below(3), depth + 1); }); });
      return;
    default:
      b->While(BoolExpr(ints_, 3), [&] {
        Scoped([&] { Statements(b, inner, depth + 1); });
        b->Continue();
      });
  }
}

void RandomProgram::TensorStatement(ProgramBuilder* b) {
  const auto any = [&] {
    return floats_[static_cast<size_t>(Below(static_cast<int>(floats_.size())))];
  };
  switch (Below(9)) {
    case 0:
      floats_.push_back(b->LoadGlobal("t", At(memory_, {IntExpr(ints_, 3), 0}), {kF32, {32}},
                                      {std::nullopt, static_cast<CacheHint>(Below(4))}));
      return;
    case 1:
      floats_.push_back(b->LoadShared("t", At(shared_, {IntExpr(ints_, 2) % 4, 0}), {kF32, {32}},
                                      {std::vector<int>{1}, CacheHint::kDefault}));
      return;
    case 2:
      b->StoreGlobal(any(), At(memory_, {IntExpr(ints_, 2), 0}));
      return;
    case 3:
      b->StoreShared(any(), At(shared_, {Below(4), 0}));
      return;
    case 4:
      b->CopyAsync(At(memory_, {IntExpr(ints_, 2), 0}), shared_, {kF32, {2, 32}},
                   {std::vector<int>{0, 1}, CacheHint::kStreaming});
      b->CommitGroup();
      b->WaitGroup(Below(3));
      return;
    case 5:
      floats_.push_back(b->Apply("u", Opcode::kMul, {any(), 0.1 * Below(100)}));
      return;
    case 6:
      b->Apply(any(), Opcode::kFma, {any(), any(), Scalar(Below(3))});
      return;
    case 7:
      b->Print(any(), "say \"hi\"\n\x01");
      return;
    default:
      floats_.push_back(
          b->Register("r", CastTo(kF32, IndexOf(0) * 3 + IntExpr(ints_, 2)), {kF32, {32}}));
  }
}

}  // namespace tilus::ir

// Programs that no text makes: what a blob or a faulty pass could hold. The rules that text can
// break are in tests/filetests/verify.
#include "ir/verifier.h"

#include <gtest/gtest.h>

#include "ir/resolve.h"
#include "ir/text.h"
#include "random_program.h"

namespace tilus::ir {
namespace {

constexpr char kProgram[] = R"(program p(n: i32, x: *f32) warps 1 {
  const K = 32
  grid 1, 2
  bi, bj = block_indices
  g = global_view x : f32[n, K]
  s = alloc_shared : f32[4, K]
  v = load_global g : f32[K] spatial(32)
  w = add v, 1.0
  store_shared w -> s
  let a = n + 1
  var i: i32 = 0
  set i = a
  for k in 0 .. 4 {
    v = mul v, w
  }
}
)";

Program Sample() {
  absl::StatusOr<Module> module = LoadText(kProgram, Limits());
  EXPECT_TRUE(module.ok()) << module.status();
  return module->programs[0];
}

Instruction& InstructionAt(Program* program, size_t i) {
  return std::get<Instruction>(program->body.stmts[i].node);
}

std::vector<DiagId> ErrorsOf(const Program& program, VerifyOptions options = {}) {
  std::vector<DiagId> ids;
  for (const Diagnostic& d : DiagnosticsOf(Verify(program, options))) ids.push_back(d.id);
  return ids;
}

using Ids = std::vector<DiagId>;

TEST(Verifier, StructureOfInstructions) {
  Program p = Sample();
  EXPECT_EQ(ErrorsOf(p), Ids{});
  InstructionAt(&p, 4).operands.pop_back();
  EXPECT_EQ(ErrorsOf(p)[0], DiagId::kOperandCount);

  p = Sample();
  InstructionAt(&p, 4).operands.push_back(IntLiteral(3));
  EXPECT_EQ(ErrorsOf(p)[0], DiagId::kOperandCount);

  p = Sample();
  std::get<TensorOperand>(InstructionAt(&p, 4).operands[0]).tensor = kNoTensor;
  EXPECT_EQ(ErrorsOf(p)[0], DiagId::kOperandKind);

  p = Sample();
  InstructionAt(&p, 4).operands[1] = ExprPtr();
  EXPECT_EQ(ErrorsOf(p)[0], DiagId::kOperandKind);

  p = Sample();
  InstructionAt(&p, 4).result = 0;  // a global tensor
  EXPECT_EQ(ErrorsOf(p)[0], DiagId::kResultKind);

  p = Sample();
  InstructionAt(&p, 1).in_place = true;
  EXPECT_EQ(ErrorsOf(p)[0], DiagId::kNotInPlace);

  p = Sample();
  InstructionAt(&p, 4).label = "w";
  EXPECT_EQ(ErrorsOf(p)[0], DiagId::kAttribute);

  p = Sample();
  p.tensors[0].decl.layout.emplace();
  EXPECT_EQ(ErrorsOf(p)[0], DiagId::kAttribute);
}

TEST(Verifier, DefinitionsAndUses) {
  Program p = Sample();
  std::swap(p.body.stmts[3], p.body.stmts[4]);  // w before v
  EXPECT_EQ(ErrorsOf(p)[0], DiagId::kUndefined);

  p = Sample();
  p.body.stmts.push_back(p.body.stmts[3]);
  EXPECT_EQ(ErrorsOf(p), Ids{DiagId::kRedefined});

  p = Sample();
  p.body.stmts.push_back(p.body.stmts[6]);  // let a
  EXPECT_EQ(ErrorsOf(p), Ids{DiagId::kRedefined});

  p = Sample();
  std::swap(p.body.stmts[6], p.body.stmts[8]);  // set i = a before both
  EXPECT_EQ(ErrorsOf(p), (Ids{DiagId::kUndefined, DiagId::kUndefined}));

  p = Sample();
  p.tensors[3].name = "v";
  EXPECT_EQ(ErrorsOf(p)[0], DiagId::kProgramName);
  p.tensors[3].name = "1x";
  EXPECT_EQ(ErrorsOf(p)[0], DiagId::kProgramName);
  p.tensors[3].name = "for";
  EXPECT_EQ(ErrorsOf(p)[0], DiagId::kProgramName);
}

TEST(Verifier, DerivedTypesAreCheckedAgain) {
  Program p = Sample();
  p.tensors[3].dtype = kF16;
  EXPECT_EQ(ErrorsOf(p)[0], DiagId::kDeclaredType);

  p = Sample();
  p.tensors[3].extents = {16};
  p.tensors[3].shape = {IntLiteral(16)};
  EXPECT_EQ(ErrorsOf(p)[0], DiagId::kDeclaredType);

  p = Sample();
  VerifyOptions options;
  options.layouts_required = true;
  EXPECT_EQ(ErrorsOf(p, options), Ids{DiagId::kLayoutMissing});  // w
  p.tensors[3].layout = p.tensors[2].layout;
  EXPECT_EQ(ErrorsOf(p, options), Ids{});
  p.tensors[3].layout = *RegisterLayout::Spatial(std::vector<int64_t>{16});
  EXPECT_EQ(ErrorsOf(p, options)[0], DiagId::kLayoutShape);

  p = Sample();
  for (Tensor& tensor : p.tensors) tensor.resolved = false;
  EXPECT_EQ(ErrorsOf(p), Ids{DiagId::kTypeUndetermined});
}

TEST(Verifier, StatementsWithWrongVariables) {
  Program p = Sample();
  std::get<DefineStmt>(p.body.stmts[6].node).value = FloatLiteral(1.0);
  EXPECT_EQ(ErrorsOf(p), Ids{DiagId::kAssignment});

  p = Sample();
  std::get<AssignStmt>(p.body.stmts[8].node).var = p.params[0];
  EXPECT_EQ(ErrorsOf(p), Ids{DiagId::kAssignment});

  p = Sample();
  std::get<DefineStmt>(p.body.stmts[6].node).var = p.params[0];
  EXPECT_EQ(ErrorsOf(p)[0], DiagId::kRedefined);

  p = Sample();
  std::get<ForStmt>(p.body.stmts[9].node).unroll = -7;
  EXPECT_EQ(ErrorsOf(p), Ids{DiagId::kUnroll});
}

// An expression that shares its parts is small in memory and huge as a tree.
TEST(Verifier, SharedSubtreesCountAsOftenAsTheyStand) {
  Program p = Sample();
  ExprPtr e = VarRef(p.params[0], kI32);
  for (int i = 0; i < 50; ++i) e = *MakeOp(ExprOp::kAdd, {e, e});
  std::get<DefineStmt>(p.body.stmts[6].node).value = e;
  EXPECT_EQ(ErrorsOf(p), Ids{DiagId::kLimitNodes});
  for (int i = 0; i < 50; ++i) e = *MakeOp(ExprOp::kNeg, {e});
  std::get<DefineStmt>(p.body.stmts[6].node).value = e;
  EXPECT_EQ(ErrorsOf(p), Ids{DiagId::kLimitDepth});
}

TEST(Verifier, ResolvingAgainChangesNothing) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    Program program = RandomProgram(seed).Make();
    const Program before = program;
    DiagnosticList diagnostics;
    ResolveTypes(&program, Limits(), &diagnostics);
    EXPECT_FALSE(diagnostics.has_errors());
    EXPECT_EQ(PrintText(program), PrintText(before));
    for (size_t i = 0; i < program.tensors.size(); ++i) {
      EXPECT_EQ(program.tensors[i].extents, before.tensors[i].extents);
      EXPECT_EQ(program.tensors[i].dtype, before.tensors[i].dtype);
      EXPECT_EQ(program.tensors[i].layout, before.tensors[i].layout);
    }
  }
}

// All faults at once are all reported, in the order of the text.
TEST(Verifier, ReportsEveryError) {
  std::string text = "program p(n: i32) warps 1 {\n  grid 1\n";
  for (int i = 0; i < 30; ++i) {
    text += i % 2 == 0 ? "  a" + std::to_string(i) + " = register 0.0 : f32[0]\n" : "  break\n";
  }
  const absl::StatusOr<Module> module = LoadText(text + "}\n", Limits());
  const std::vector<Diagnostic> errors = DiagnosticsOf(module.status());
  ASSERT_EQ(errors.size(), 30u);
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(errors[static_cast<size_t>(i)].span.line, i + 3);
    EXPECT_EQ(errors[static_cast<size_t>(i)].path, "p.body[" + std::to_string(i) + "]");
  }
}

}  // namespace
}  // namespace tilus::ir

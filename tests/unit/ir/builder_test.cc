#include "ir/builder.h"

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "ir/text.h"

namespace tilus::ir {
namespace {

TEST(Builder, MakesTheProgramThatTheTextWouldBe) {
  ProgramBuilder b("matmul", 1);
  const Scalar m = b.Param("m", kI32, 16);
  const Scalar a = b.Pointer("a", kF16), w = b.Pointer("w", kU8, 32), c = b.Pointer("c", kF32);
  const Scalar k = b.Const("K", 64);
  b.Grid({CeilDiv(m, 16), 2});
  b.Layout("mma_b", "local(2,1).column_spatial(4,8).local(2,1)");
  const std::vector<Scalar> block = b.BlockIndices({"bi", "bj"});
  const TensorHandle ga = b.GlobalView("ga", a, {kF16, {m, k}});
  const TensorHandle gw = b.GlobalView("gw", w, {kU8, {k / 16, 2, 96}});
  const TensorHandle gc = b.GlobalView("gc", c, {kF32, {m, 16}});
  const TensorHandle acc = b.Register("acc", 0.0, {kF32, {16, 8}});
  b.For("i", 0, k / 16,
        [&](Scalar i) {
          const TensorHandle xa =
              b.LoadGlobal("xa", At(ga, {block[0] * 16, i * 16}), {kF16, {16, 16}});
          const TensorHandle w8 =
              b.LoadGlobal("w8", At(gw, {i, block[1], 0}), {kU8, {96}, "local(3).spatial(32)"});
          const TensorHandle w6 = b.View("w6", w8, {DataType::Int(6), {16, 8}, "mma_b"});
          b.Dot(acc, xa, b.Cast("xb", w6, kF16), acc);
        },
        {.unroll = 2});
  b.If(block[0] == 0, [&] { b.Print(acc, "first"); });
  b.StoreGlobal(acc, At(gc, {block[0] * 16, block[1] * 8}));
  const absl::StatusOr<Program> program = b.Build();
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(PrintText(*program),
            R"(program matmul(m: i32 div(16), a: *f16, w: *u8 align(32), c: *f32) warps 1 {
  const K = 64
  grid ceil_div(m, 16), 2
  let mma_b = local(2,1).column_spatial(4,8).local(2,1)
  bi, bj = block_indices
  ga = global_view a : f16[m, K]
  gw = global_view w : u8[K / 16, 2, 96]
  gc = global_view c : f32[m, 16]
  acc = register 0.0 : f32[16, 8]
  for i in 0 .. K / 16 unroll 2 {
    xa = load_global ga[bi * 16, i * 16] : f16[16, 16]
    w8 = load_global gw[i, bj, 0] : u8[96] local(3).spatial(32)
    w6 = view w8 : i6[16, 8] mma_b
    xb = cast w6 : f16
    acc = dot xa, xb, acc
  }
  if bi == 0 {
    print acc label="first"
  }
  store_global acc -> gc[bi * 16, bj * 8]
}
)");
}

TEST(Builder, NamesAreMadeUnique) {
  ProgramBuilder b("p", 1);
  b.Grid({1});
  b.Let("x", 1);
  b.Let("x", 2);
  b.Register("x", 0.0, {kF32, {32}});
  const absl::StatusOr<Program> program = b.Build();
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_NE(PrintText(*program).find("x_2 = register"), std::string::npos);
}

DiagId BuildError(absl::FunctionRef<void(ProgramBuilder*)> body) {
  ProgramBuilder b("p", 1);
  b.Grid({1});
  body(&b);
  const absl::StatusOr<Program> program = b.Build();
  const std::vector<Diagnostic> errors = DiagnosticsOf(program.status());
  return errors.empty() ? DiagId{} : errors[0].id;
}

TEST(Builder, TheFirstMistakeIsReturned) {
  EXPECT_EQ(
      BuildError([](ProgramBuilder* b) { b->Let("x", Scalar(1) + CastTo(kU32, b->Let("y", 1))); }),
      DiagId{});
  EXPECT_EQ(BuildError([](ProgramBuilder* b) {
              const Scalar y = b->Let("y", 1);
              b->Let("x", (y + CastTo(kU32, y)) * 2);
            }),
            DiagId::kScalarTypes);
  EXPECT_EQ(BuildError([](ProgramBuilder* b) { b->Layout("l", "local("); }), DiagId::kLayoutSyntax);
  EXPECT_EQ(BuildError([](ProgramBuilder* b) {
              b->Register("r", 0.0, {kF32, {32}, "spatial(64)"});
            }),
            DiagId::kLayoutShape);
  EXPECT_EQ(BuildError([](ProgramBuilder* b) { b->Assign(b->Let("x", 1), 2); }),
            DiagId::kAssignment);
  EXPECT_EQ(BuildError([](ProgramBuilder* b) { b->Break(); }), DiagId::kOutsideLoop);
}

}  // namespace
}  // namespace tilus::ir

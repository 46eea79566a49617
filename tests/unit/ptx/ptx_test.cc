#include "ptx/ptx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "../machine/all_ops.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "machine/builder.h"
#include "machine/passes.h"
#include "machine/verify.h"
#include "ptx/expansion.h"
#include "ptx/requirements.h"
#include "ptxas.h"

namespace tilus::ptx {
namespace {

using machine::AllOps;
using machine::Builder;
using machine::Compare;
using machine::ImmF32;
using machine::ImmS32;
using machine::ImmU32;
using machine::Instr;
using machine::Kernel;
using machine::Op;
using machine::Operand;
using machine::Reg;
using machine::RegClass;
using machine::Type;

machine::Param Pointer(const char* name) {
  machine::Param param;
  param.name = name;
  param.type = Type::kB64;
  param.size = param.align = 8;
  param.is_pointer = true;
  param.pointee = "f32";
  return param;
}

// y[i] = a * x[i] + y[i] for i < n, one element a thread.
Kernel Saxpy() {
  Kernel kernel;
  kernel.name = "saxpy";
  kernel.num_threads = 128;
  machine::Param n, a;
  n.name = "n";
  a.name = "a";
  kernel.params = {n, a, Pointer("x"), Pointer("y")};
  Builder b(&kernel);
  const Reg count = b.LdParam(0), factor = b.LdParam(1), x = b.LdParam(2), y = b.LdParam(3);
  const Operand block = b.Read(machine::Special::kCtaidX);
  const Operand thread = b.Read(machine::Special::kTidX);
  const Operand i = b.MadLoS32(block, ImmU32(128), thread);
  const Operand inside = b.SetpS32(Compare::kLt, i, count);
  b.BeginIf(When(inside.reg()));
  const Operand offset = b.MulWideU32(i, ImmU32(4));
  const Reg xv = b.NewReg(RegClass::kB32), yv = b.NewReg(RegClass::kB32);
  const Operand py = b.AddS64(y, offset);
  b.LdGlobal({xv}, Type::kB32, b.AddS64(x, offset), {machine::Cache::kNonCoherent});
  b.LdGlobal({yv}, Type::kB32, py);
  b.StGlobal(py, Type::kB32, {b.FmaF32(factor, xv, yv)});
  b.EndIf();
  return kernel;
}

TEST(PtxTest, PrintsAKernelToTheLetter) {
  const auto text = PrintPtx(Saxpy(), *FindTarget("sm_80"));
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, R"(.version 7.0
.target sm_80
.address_size 64

.visible .entry saxpy(
	.param .b32 p_n,
	.param .b32 p_a,
	.param .b64 p_x,
	.param .b64 p_y
)
.reqntid 128, 1, 1
{
	.reg .pred %p<2>;
	.reg .b32 %r<9>;
	.reg .b64 %d<6>;

	ld.param.b32 %r1, [p_n];
	ld.param.b32 %r2, [p_a];
	ld.param.b64 %d1, [p_x];
	cvta.to.global.u64 %d1, %d1;
	ld.param.b64 %d2, [p_y];
	cvta.to.global.u64 %d2, %d2;
	mov.b32 %r3, %ctaid.x;
	mov.b32 %r4, %tid.x;
	mad.lo.s32 %r5, %r3, 128, %r4;
	setp.lt.s32 %p1, %r5, %r1;
	@!%p1 bra $L0;
	mul.wide.u32 %d3, %r5, 4;
	add.s64 %d4, %d2, %d3;
	add.s64 %d5, %d1, %d3;
	ld.global.nc.b32 %r6, [%d5];
	ld.global.b32 %r7, [%d4];
	fma.rn.f32 %r8, %r2, %r6, %r7;
	st.global.b32 [%d4], %r8;
$L0:
	ret;
}
)");
}

TEST(PtxTest, OutputIsDeterministic) {
  for (const Target& target : Targets()) {
    EXPECT_EQ(*PrintPtx(Saxpy(), target), *PrintPtx(Saxpy(), target));
  }
}

// True when the target prints `op` with `mods`, as the row says or by an expansion.
bool Has(const Target& target, Op op, const machine::Modifiers& mods) {
  Instr instr;
  instr.op = op;
  instr.mods = mods;
  return machine::RequirementOf(instr).sm <= target.sm || FindExpansion(op) != nullptr;
}

// All rows that the target has, in one kernel: each legal set of modifiers, operands in registers
// and as immediates, and with guards once a row.
Kernel AllOpsKernel(const Target& target) {
  Kernel kernel;
  AllOps all(&kernel);
  for (int i = 0; i < machine::kNumOps; ++i) {
    const Op op = static_cast<Op>(i);
    bool first = true;
    for (const machine::Modifiers& mods : AllOps::ModifiersOf(op)) {
      if (!Has(target, op, mods)) continue;
      all.Emit(op, mods, AllOps::Sources::kRegisters);
      if (AllOps::TakesImmediates(op)) all.Emit(op, mods, AllOps::Sources::kImmediates);
      if (!std::exchange(first, false)) continue;
      for (machine::Guard guard : {When(all.any_pred()), Unless(all.any_pred())}) {
        all.builder().SetGuard(guard);
        all.Emit(op, mods, AllOps::Sources::kRegisters);
      }
      all.builder().SetGuard({});
    }
  }
  return kernel;
}

TEST(PtxTest, EveryRowAssemblesForEveryTargetThatHasIt) {
  TILUS_NEED_PTXAS(ptxas);
  for (const Target& target : Targets()) {
    const Kernel kernel = AllOpsKernel(target);
    ASSERT_TRUE(machine::Verify(kernel).ok()) << machine::Verify(kernel);
    const auto text = PrintPtx(kernel, target);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(Assemble(ptxas, *text, target.name, "-O0"), "") << target.name;
  }
}

// A row's `ptx` column is neither too high nor too low: the stated version assembles, the version
// before does not (where the row asks for more than the target does).
TEST(PtxTest, StatedVersionIsTheLowest) {
  TILUS_NEED_PTXAS(ptxas);
  const Target target = *FindTarget("sm_80");
  std::set<int> versions;
  for (int i = 0; i < machine::kNumOps; ++i) {
    const Op op = static_cast<Op>(i);
    for (const machine::Modifiers& mods : AllOps::ModifiersOf(op)) {
      Instr instr;
      instr.op = op;
      instr.mods = mods;
      const machine::Requirement need = machine::RequirementOf(instr);
      if (need.sm > target.sm || need.ptx == 70) continue;
      if (!versions.insert(need.ptx * 1000 + static_cast<int>(mods.cache)).second) continue;
      Kernel kernel;
      AllOps all(&kernel);
      all.Emit(op, mods, AllOps::Sources::kRegisters);
      std::string text = *PrintPtx(kernel, target);
      EXPECT_EQ(RequiredPtxVersion(kernel, target), need.ptx);
      EXPECT_EQ(Assemble(ptxas, text, target.name), "");
      const std::string stated = absl::StrCat(".version 7.", need.ptx % 10);
      ASSERT_TRUE(absl::StartsWith(text, stated)) << text;
      text.replace(0, stated.size(), absl::StrCat(".version 7.", need.ptx % 10 - 1));
      EXPECT_NE(Assemble(ptxas, text, target.name), "") << text;
    }
  }
  EXPECT_GE(versions.size(), 2u);
}

TEST(PtxTest, StructureAssembles) {
  TILUS_NEED_PTXAS(ptxas);
  Kernel kernel;
  kernel.name = "structure";
  kernel.params = {Pointer("out")};
  kernel.min_blocks_per_sm = 2;
  Builder b(&kernel);
  const Reg out = b.LdParam(0);
  const Reg sum = b.Copy(RegClass::kB32, ImmU32(0));
  const Reg i = b.BeginFor(ImmU32(0), b.Read(machine::Special::kNctaidX), 1);
  const Operand odd = b.SetpU32(Compare::kEq, b.AndB32(i, ImmU32(1)), ImmU32(1));
  b.Continue(When(odd.reg()));
  b.BeginLoop();
  b.AddS32(sum, sum, i);
  b.Break(Unless(b.SetpU32(Compare::kLt, sum, ImmU32(100)).reg()));
  b.EndLoop();
  b.BeginIf(When(odd.reg()));
  b.AddS32(sum, sum, ImmU32(1));
  b.BeginElse();
  b.XorB32(sum, sum, ImmU32(7));
  b.EndIf();
  b.EndFor();
  b.StGlobal(out, Type::kB32, {sum});
  ASSERT_TRUE(machine::Verify(kernel).ok()) << machine::Verify(kernel);
  for (const Target& target : Targets()) {
    EXPECT_EQ(Assemble(ptxas, *PrintPtx(kernel, target), target.name), "") << target.name;
  }
  machine::Optimize(&kernel);
  EXPECT_EQ(Assemble(ptxas, *PrintPtx(kernel, *FindTarget("sm_90a")), "sm_90a"), "");
}

TEST(PtxTest, SharedMemoryIsStaticOrDynamic) {
  TILUS_NEED_PTXAS(ptxas);
  Kernel kernel = Saxpy();
  kernel.shared_bytes = 48 * 1024;
  kernel.shared_storage = machine::SharedStorage::kStatic;
  EXPECT_EQ(kernel.dynamic_shared_bytes(), 0u);
  std::string text = *PrintPtx(kernel, *FindTarget("sm_80"));
  EXPECT_THAT(text, testing::HasSubstr(".shared .align 1024 .b8 smem[49152];"));
  EXPECT_EQ(Assemble(ptxas, text, "sm_80"), "");
  kernel.shared_bytes = 163 * 1024;
  EXPECT_FALSE(machine::Verify(kernel).ok());
  kernel.shared_storage = machine::SharedStorage::kDynamic;
  EXPECT_TRUE(machine::Verify(kernel).ok());
  EXPECT_EQ(kernel.dynamic_shared_bytes(), 163u * 1024);
  text = *PrintPtx(kernel, *FindTarget("sm_80"));
  EXPECT_THAT(text, testing::HasSubstr("\n.extern .shared .align 1024 .b8 smem[];\n"));
  EXPECT_EQ(Assemble(ptxas, text, "sm_80"), "");
}

TEST(PtxTest, SharedMemoryBeyondTheTargetIsAnError) {
  Kernel kernel = Saxpy();
  kernel.shared_bytes = 163 * 1024 + 1;
  const auto text = PrintPtx(kernel, *FindTarget("sm_80"));
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(DiagnosticsOf(text.status())[0].id, DiagId::kTargetSharedMemory);
  EXPECT_TRUE(PrintPtx(kernel, *FindTarget("sm_90")).ok());
}

TEST(PtxTest, MissingInstructionsAreErrorsThatNameThePath) {
  Kernel kernel = Saxpy();
  Builder b(&kernel);
  b.SetPath(b.AddPath("saxpy.body[7]"));
  const Reg h = b.NewReg(RegClass::kB16);
  const Reg r = b.Copy(RegClass::kB32, ImmF32(1.0f));
  b.CvtE4M3x2F32(h, r, r);
  b.CvtE4M3x2F32(h, r, r);
  b.Stmatrix(Op::kStmatrixX1, Operand::SharedBase(), {r});
  const auto text = PrintPtx(kernel, *FindTarget("sm_80"));
  ASSERT_FALSE(text.ok());
  const auto diagnostics = DiagnosticsOf(text.status());
  ASSERT_EQ(diagnostics.size(), 2u);  // once an instruction
  EXPECT_EQ(diagnostics[0].id, DiagId::kTargetInstruction);
  EXPECT_EQ(diagnostics[0].path, "saxpy.body[7]");
  EXPECT_THAT(diagnostics[0].message, testing::HasSubstr("cvt.rn.satfinite.e4m3x2.f32"));
  EXPECT_THAT(diagnostics[1].message, testing::HasSubstr("stmatrix"));
  EXPECT_TRUE(PrintPtx(kernel, *FindTarget("sm_90")).ok());
  EXPECT_EQ(DiagnosticsOf(PrintPtx(kernel, *FindTarget("sm_89")).status()).size(), 1u);
}

TEST(PtxTest, KernelsForOneTargetRefuseOthers) {
  Kernel kernel = Saxpy();
  kernel.requirement.only = "sm_90a";
  EXPECT_TRUE(PrintPtx(kernel, *FindTarget("sm_90a")).ok());
  EXPECT_EQ(DiagnosticsOf(PrintPtx(kernel, *FindTarget("sm_90")).status())[0].id,
            DiagId::kTargetOther);
  kernel.requirement.only.clear();
  kernel.requirement.min_sm = 89;
  EXPECT_FALSE(PrintPtx(kernel, *FindTarget("sm_86")).ok());
  EXPECT_TRUE(PrintPtx(kernel, *FindTarget("sm_89")).ok());
}

TEST(PtxTest, ExpansionsServeOldTargetsOnly) {
  Kernel kernel;
  AllOps all(&kernel);
  all.Emit(Op::kAddBF16, {}, AllOps::Sources::kRegisters);
  EXPECT_THAT(*PrintPtx(kernel, *FindTarget("sm_80")), testing::HasSubstr("fma.rn.bf16"));
  EXPECT_THAT(*PrintPtx(kernel, *FindTarget("sm_90")), testing::HasSubstr("add.rn.bf16"));
  EXPECT_EQ(RequiredPtxVersion(kernel, *FindTarget("sm_80")), 70);
}

TEST(PtxTest, ModuleHoldsSeveralKernels) {
  TILUS_NEED_PTXAS(ptxas);
  machine::Module module;
  module.kernels = {Saxpy(), Saxpy()};
  module.kernels[1].name = "other";
  for (Kernel& kernel : module.kernels) {
    kernel.shared_bytes = 1024;
    Builder b(&kernel);
    const Reg value = b.Copy(RegClass::kB32, ImmS32(-3));
    const Reg wide = b.Copy(RegClass::kB64, machine::ImmF64(0.5));
    b.Printf("\"100%%\" %d %g\n", {value, wide, value});
  }
  const std::string text = *PrintPtx(module, *FindTarget("sm_86"));
  EXPECT_EQ(Assemble(ptxas, text, "sm_86"), "");
}

TEST(TargetTest, TableIsConsistent) {
  std::set<std::string> names;
  int last = 0;
  for (const Target& target : Targets()) {
    EXPECT_TRUE(names.insert(target.name).second);
    EXPECT_EQ(target.name, absl::StrCat("sm_", target.sm, target.arch_specific ? "a" : ""));
    EXPECT_GE(target.sm, last);
    last = target.sm;
    EXPECT_EQ(target.shared_per_block + 1024, target.shared_per_sm);
    EXPECT_STREQ(FindTarget(target.name)->name, target.name);
  }
  EXPECT_FALSE(FindTarget("sm_70").has_value());
  EXPECT_FALSE(FindTarget("").has_value());
}

TEST(TargetTest, ArchitectureSpecificCodeRunsOnItsArchitectureAlone) {
  EXPECT_TRUE(RunsOn(*FindTarget("sm_80"), 90));
  EXPECT_FALSE(RunsOn(*FindTarget("sm_90"), 89));
  EXPECT_TRUE(RunsOn(*FindTarget("sm_90a"), 90));
  EXPECT_FALSE(RunsOn(*FindTarget("sm_90a"), 100));
}

TEST(TargetTest, MinimumPtxVersionIsTheLowestThatKnowsTheTarget) {
  TILUS_NEED_PTXAS(ptxas);
  Kernel kernel;
  kernel.name = "empty";
  Builder b(&kernel);
  for (const Target& target : Targets()) {
    std::string text = *PrintPtx(kernel, target);
    EXPECT_EQ(Assemble(ptxas, text, target.name), "") << target.name;
    if (target.min_ptx == 70) continue;
    // 8.0 follows 7.8 and 8.6 follows 8.5.
    const int before = target.min_ptx == 80 ? 78 : target.min_ptx - 1;
    const std::string stated =
        absl::StrCat(".version ", target.min_ptx / 10, ".", target.min_ptx % 10);
    ASSERT_TRUE(absl::StartsWith(text, stated));
    text.replace(0, stated.size(), absl::StrCat(".version ", before / 10, ".", before % 10));
    EXPECT_NE(Assemble(ptxas, text, target.name), "") << target.name;
  }
}

}  // namespace
}  // namespace tilus::ptx

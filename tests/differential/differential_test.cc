// Interpreter against simulator on every case, and the assembler on every target.
#include <gtest/gtest.h>

#include <cstdlib>

#include "assemble/assemble.h"
#include "assemble/cubin.h"
#include "cases.h"
#include "compile/compile.h"
#include "executor.h"
#include "ptx/target.h"

// nvJitLink 13.0 itself loses memory with each assembly for sm_100a and later.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:libnvJitLink";
}

namespace tilus::testing {
namespace {

std::vector<Case> AllCases() {
  std::vector<Case> all;
  absl::StatusOr<std::vector<Case>> programs = ProgramCases(TILUS_SOURCE_DIR);
  EXPECT_TRUE(programs.ok()) << programs.status();
  if (programs.ok()) all = *std::move(programs);
  absl::StatusOr<std::vector<Case>> matmuls = MatmulCases();
  EXPECT_TRUE(matmuls.ok()) << matmuls.status();
  if (matmuls.ok()) {
    for (Case& c : *matmuls) all.push_back(std::move(c));
  }
  return all;
}

class DifferentialTest : public ::testing::TestWithParam<size_t> {};

const std::vector<Case>& Cases() {
  static const auto* cases = new std::vector<Case>(AllCases());
  return *cases;
}

// What generated code leaves in memory is what the program means.
TEST_P(DifferentialTest, SimulatorAgreesWithInterpreter) {
  const Case& c = Cases()[GetParam()];
  compile::PipelineOptions options;
  const auto compilation = compile::CompileModule(c.module, options);
  ASSERT_TRUE(compilation.ok()) << compilation.status();
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    const KernelRun run(*compilation, c.spec, seed);
    ASSERT_TRUE(run.Check().ok()) << run.Check();
    const auto expected = run.Interpret();
    ASSERT_TRUE(expected.ok()) << expected.status();
    const auto actual = run.Simulate(0);
    ASSERT_TRUE(actual.ok()) << actual.status();
    const absl::Status equal = CompareOutcomes(c.spec, *expected, *actual);
    EXPECT_TRUE(equal.ok()) << equal;
    EXPECT_EQ(actual->printed, expected->printed);
  }
}

// The assembler takes the PTX of every case for every target, and keeps everything in registers:
// a program that prints has its values in local memory, none other has any.
TEST_P(DifferentialTest, AssemblesForEveryTarget) {
  if (const assemble::AssemblerInfo assembler = assemble::FindAssembler(); !assembler.found) {
    const char* required = std::getenv("TILUS_REQUIRE_CUDA_TOOLS");
    ASSERT_TRUE(required == nullptr || std::string(required) != "1") << assembler.reason;
    GTEST_SKIP() << "no nvJitLink: " << assembler.reason;
  }
  const Case& c = Cases()[GetParam()];
  compile::PipelineOptions options;
  for (const ptx::Target& target : ptx::Targets()) {
    options.targets = {target.name};
    const auto compilation = compile::CompileModule(c.module, options);
    ASSERT_TRUE(compilation.ok()) << target.name << ": " << compilation.status();
    const auto cubin = assemble::AssembleCubin(compilation->targets[0].ptx, target.name);
    ASSERT_TRUE(cubin.ok()) << target.name << ": " << cubin.status();
    const auto info = assemble::ReadCubin(*cubin);
    ASSERT_TRUE(info.ok()) << info.status();
    const bool prints = compilation->targets[0].ptx.find("vprintf") != std::string::npos;
    for (const assemble::KernelInfo& kernel : info->kernels) {
      if (!prints) {
        EXPECT_EQ(kernel.stack_bytes, 0) << target.name << " " << kernel.name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, DifferentialTest, ::testing::Range(size_t{0}, Cases().size()),
                         [](const auto& param) {
                           std::string name = Cases()[param.param].name;
                           for (char& c : name) c = isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name + "_" + std::to_string(param.param);
                         });

}  // namespace
}  // namespace tilus::testing

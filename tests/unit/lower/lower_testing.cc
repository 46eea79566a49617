#include "lower_testing.h"

#include <gtest/gtest.h>

#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "interpret/interpret.h"
#include "ir/text.h"
#include "machine/passes.h"
#include "machine/print.h"
#include "machine/verify.h"
#include "passes/passes.h"
#include "types/codec.h"

namespace tilus::lower {

int Compiled::Count(absl::string_view op, absl::string_view text) const {
  int count = 0;
  for (const machine::Block& block : kernel.blocks) {
    for (const machine::Node& node : block.nodes) {
      if (node.kind != machine::Node::Kind::kInstr) continue;
      const machine::Instr& instr = kernel.instrs[node.index];
      if (!absl::StartsWith(machine::InfoOf(instr.op).name, op)) continue;
      if (absl::StrContains(machine::PrintInstr(kernel, instr), text)) ++count;
    }
  }
  return count;
}

absl::StatusOr<Compiled> Compile(absl::string_view text, Simplify simplify,
                                 const LowerOptions& options) {
  TILUS_ASSIGN_OR_RETURN(ir::Module module, ir::LoadText(text, options.limits));
  Compiled compiled;
  compiled.program = std::move(module.programs.at(0));
  TILUS_RETURN_IF_ERROR(
      passes::RunPasses(&compiled.program, options.limits,
                        [](const passes::Pass&, const ir::Program&) { return absl::OkStatus(); }));
  TILUS_ASSIGN_OR_RETURN(compiled.kernel, Lower(compiled.program, options));
  TILUS_RETURN_IF_ERROR(machine::Verify(compiled.kernel));
  if (simplify == Simplify::kYes) {
    machine::Optimize(&compiled.kernel);
    TILUS_RETURN_IF_ERROR(machine::Verify(compiled.kernel));
  }
  compiled.code = machine::Print(compiled.kernel);
  return compiled;
}

absl::StatusOr<Outcome> Interpret(const Compiled& compiled,
                                  const std::vector<Argument>& arguments) {
  Outcome outcome;
  outcome.buffers.resize(arguments.size());
  std::vector<interpret::Argument> values(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    outcome.buffers[i] = arguments[i].bytes;
    values[i].value = arguments[i].is_buffer
                          ? reinterpret_cast<uintptr_t>(outcome.buffers[i].data())
                          : arguments[i].code;
    if (arguments[i].is_buffer) values[i].bytes = static_cast<int64_t>(arguments[i].bytes.size());
  }
  interpret::Options options;
  options.print = [&outcome](absl::string_view line) {
    absl::StrAppend(&outcome.printed, line, "\n");
  };
  TILUS_RETURN_IF_ERROR(interpret::Run(compiled.program, values, options));
  return outcome;
}

absl::StatusOr<Outcome> Simulate(const Compiled& compiled, const std::vector<Argument>& arguments) {
  Outcome outcome;
  outcome.buffers.resize(arguments.size());
  std::vector<simulate::Argument> values(arguments.size());
  std::vector<interpret::Argument> grid_values(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    outcome.buffers[i] = arguments[i].bytes;
    values[i].value = arguments[i].is_buffer
                          ? reinterpret_cast<uintptr_t>(outcome.buffers[i].data())
                          : arguments[i].code;
    if (arguments[i].is_buffer) values[i].bytes = static_cast<int64_t>(arguments[i].bytes.size());
    grid_values[i].value = values[i].value;
  }
  TILUS_ASSIGN_OR_RETURN(const auto grid, interpret::EvaluateGrid(compiled.program, grid_values));
  simulate::Options options;
  options.print = [&outcome](absl::string_view line) {
    absl::StrAppend(&outcome.printed, line, "\n");
  };
  TILUS_ASSIGN_OR_RETURN(outcome.report, simulate::Run(compiled.kernel, grid, values, options));
  return outcome;
}

Compiled ExpectExecutionsAgree(absl::string_view text, const std::vector<Argument>& arguments) {
  Compiled result;
  for (Simplify simplify : {Simplify::kNo, Simplify::kYes}) {
    absl::StatusOr<Compiled> compiled = Compile(text, simplify);
    EXPECT_TRUE(compiled.ok()) << compiled.status() << "\n" << text;
    if (!compiled.ok()) return result;
    const absl::StatusOr<Outcome> meant = Interpret(*compiled, arguments);
    const absl::StatusOr<Outcome> done = Simulate(*compiled, arguments);
    EXPECT_TRUE(meant.ok()) << meant.status() << "\n" << text;
    EXPECT_TRUE(done.ok()) << done.status() << "\n" << text;
    if (!meant.ok() || !done.ok()) return result;
    for (const simulate::Finding& finding : done->report.findings) {
      ADD_FAILURE() << simulate::FaultName(finding.fault) << " at " << finding.path << ": "
                    << finding.message << "\n"
                    << text << "\n"
                    << compiled->code;
    }
    EXPECT_EQ(done->printed, meant->printed) << text;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const auto& want = meant->buffers[i];
      const auto& got = done->buffers[i];
      size_t at = 0;
      while (at < want.size() && got[at] == want[at]) ++at;
      EXPECT_EQ(at, want.size()) << "argument " << i << " differs at byte " << at << ": "
                                 << int{got[at % got.size()]} << ", not "
                                 << int{want[at % want.size()]} << "\n"
                                 << text << "\n"
                                 << compiled->code;
    }
    result = *std::move(compiled);
  }
  return result;
}

std::vector<uint8_t> RandomBytes(std::mt19937* random, size_t count) {
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>((*random)());
  return bytes;
}

std::vector<uint8_t> Zeros(size_t count) { return std::vector<uint8_t>(count, 0); }

std::vector<uint8_t> SmallHalves(std::mt19937* random, size_t count) {
  std::vector<uint8_t> bytes(2 * count);
  for (size_t i = 0; i < count; ++i) {
    const double value = static_cast<int>((*random)() % 9) - 4;
    const uint16_t code = static_cast<uint16_t>(EncodeFromDouble(kF16, value));
    std::memcpy(&bytes[2 * i], &code, 2);
  }
  return bytes;
}

std::vector<uint8_t> SmallFloats(std::mt19937* random, size_t count) {
  std::vector<uint8_t> bytes(4 * count);
  for (size_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(static_cast<int>((*random)() % 9) - 4);
    std::memcpy(&bytes[4 * i], &value, 4);
  }
  return bytes;
}

}  // namespace tilus::lower

#include "executor.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "interpret/interpret.h"
#include "simulate/simulate.h"
#include "types/codec.h"

namespace tilus::testing {

KernelRun::KernelRun(const compile::Compilation& compilation, const RunSpec& spec, uint64_t seed)
    : compilation_(compilation), spec_(spec), seed_(seed) {
  const auto& programs = compilation.optimized.programs;
  for (size_t i = 0; i < programs.size(); ++i) {
    if (programs[i].name == spec.kernel || (spec.kernel.empty() && programs.size() == 1)) {
      program_ = &programs[i];
      kernel_index_ = i;
    }
  }
}

absl::Status KernelRun::Check() const {
  if (program_ == nullptr) {
    return absl::NotFoundError(absl::StrCat("no program \"", spec_.kernel, "\""));
  }
  if (program_->params.size() != spec_.arguments.size()) {
    return absl::InvalidArgumentError(absl::StrCat(program_->name, " has ", program_->params.size(),
                                                   " parameters, the run line ",
                                                   spec_.arguments.size()));
  }
  for (size_t i = 0; i < spec_.arguments.size(); ++i) {
    const ir::Var& var = program_->vars[static_cast<size_t>(program_->params[i])];
    if (var.name != spec_.arguments[i].name || var.is_pointer != spec_.arguments[i].is_buffer()) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter ", var.name, " against argument ", spec_.arguments[i].name));
    }
  }
  return absl::OkStatus();
}

uint64_t KernelRun::ScalarCode(size_t i) const {
  return EncodeFromDouble(program_->vars[static_cast<size_t>(program_->params[i])].type,
                          spec_.arguments[i].number);
}

Outcome KernelRun::Inputs() const {
  Outcome inputs;
  for (size_t i = 0; i < spec_.arguments.size(); ++i) {
    inputs.buffers.push_back(spec_.arguments[i].is_buffer()
                                 ? MakeBuffer(spec_.arguments[i], seed_ * 1000 + i)
                                 : std::vector<uint8_t>());
  }
  return inputs;
}

absl::StatusOr<Outcome> KernelRun::Interpret() const {
  Outcome outcome = Inputs();
  std::vector<interpret::Argument> arguments;
  for (size_t i = 0; i < spec_.arguments.size(); ++i) {
    std::vector<uint8_t>& buffer = outcome.buffers[i];
    if (spec_.arguments[i].is_buffer()) {
      arguments.push_back({reinterpret_cast<uint64_t>(buffer.data()),
                           static_cast<int64_t>(buffer.size())});
    } else {
      arguments.push_back({ScalarCode(i), -1});
    }
  }
  TILUS_ASSIGN_OR_RETURN(const interpret::Workspace workspace,
                         interpret::EvaluateWorkspace(*program_, arguments));
  std::vector<uint8_t> memory(static_cast<size_t>(workspace.bytes), 0);
  interpret::Options options;
  options.workspace = memory.data();
  options.print = [&outcome](absl::string_view line) {
    absl::StrAppend(&outcome.printed, line, "\n");
  };
  TILUS_RETURN_IF_ERROR(interpret::Run(*program_, arguments, options));
  return outcome;
}

absl::StatusOr<Outcome> KernelRun::Simulate(size_t target) const {
  const machine::Kernel& kernel = compilation_.targets[target].kernels.kernels[kernel_index_];
  Outcome outcome = Inputs();
  std::vector<simulate::Argument> arguments;
  std::vector<interpret::Argument> scalars;
  for (size_t i = 0; i < spec_.arguments.size(); ++i) {
    std::vector<uint8_t>& buffer = outcome.buffers[i];
    if (spec_.arguments[i].is_buffer()) {
      arguments.push_back({reinterpret_cast<uint64_t>(buffer.data()),
                           static_cast<int64_t>(buffer.size())});
    } else {
      arguments.push_back({ScalarCode(i), -1});
    }
    scalars.push_back({arguments.back().value, arguments.back().bytes});
  }
  TILUS_ASSIGN_OR_RETURN(const auto grid, interpret::EvaluateGrid(*program_, scalars));
  TILUS_ASSIGN_OR_RETURN(const interpret::Workspace workspace,
                         interpret::EvaluateWorkspace(*program_, scalars));
  std::vector<uint8_t> memory(static_cast<size_t>(workspace.bytes) + 256, 0);
  if (program_->workspace_bytes) {
    const uint64_t address = (reinterpret_cast<uint64_t>(memory.data()) + 255) / 256 * 256;
    arguments.push_back({address, workspace.bytes});
  }
  simulate::Options options;
  options.print = [&outcome](absl::string_view line) {
    absl::StrAppend(&outcome.printed, line, "\n");
  };
  TILUS_ASSIGN_OR_RETURN(const simulate::Report report,
                         simulate::Run(kernel, grid, arguments, options));
  if (!report.clean()) {
    const simulate::Finding& finding = report.findings.front();
    return absl::FailedPreconditionError(absl::StrCat(report.findings.size(), " findings, first ",
                                                      simulate::FaultName(finding.fault), " at ",
                                                      finding.path, ": ", finding.message));
  }
  return outcome;
}

absl::Status CompareOutcomes(const RunSpec& spec, const Outcome& expected, const Outcome& actual) {
  for (size_t i = 0; i < spec.arguments.size(); ++i) {
    if (!spec.arguments[i].is_buffer()) continue;
    TILUS_RETURN_IF_ERROR(CompareBuffers(spec.arguments[i], expected.buffers[i], actual.buffers[i],
                                         spec.tolerance));
  }
  return absl::OkStatus();
}

}  // namespace tilus::testing

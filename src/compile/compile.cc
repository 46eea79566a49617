#include "compile/compile.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "lower/lower.h"
#include "machine/passes.h"
#include "machine/print.h"
#include "machine/verify.h"
#include "passes/passes.h"
#include "ptx/ptx.h"
#include "wire/wire.h"

namespace tilus::compile {
namespace {

constexpr char kLowerPass[] = "lower";

// Adds the time since its construction to a stage.
class Stopwatch {
 public:
  explicit Stopwatch(StageTime* stage) : stage_(stage), begin_(Clock::now()) {}
  ~Stopwatch() {
    stage_->microseconds +=
        std::chrono::duration<double, std::micro>(Clock::now() - begin_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  StageTime* stage_;
  Clock::time_point begin_;
};

enum Stage { kDecode, kVerify, kPasses, kLower, kPtx };

std::vector<StageTime> NewStages() {
  return {{"decode", 0}, {"verify", 0}, {"passes", 0}, {"lower", 0}, {"ptx", 0}};
}

absl::Status CheckCancelled(const PipelineOptions& options) {
  if (options.cancelled == nullptr || !options.cancelled->load(std::memory_order_relaxed)) {
    return absl::OkStatus();
  }
  return MakeError(DiagId::kCancelled, "the compile was cancelled");
}

// What is asked between steps: whether to go on.
class Steps {
 public:
  Steps(const PipelineOptions& options, size_t total) : options_(options), total_(total) {}

  absl::Status Next(const char* stage) {
    TILUS_RETURN_IF_ERROR(CheckCancelled(options_));
    const size_t done = done_++;
    return options_.progress ? options_.progress(stage, done, total_) : absl::OkStatus();
  }

 private:
  const PipelineOptions& options_;
  const size_t total_;
  size_t done_ = 0;
};

absl::StatusOr<ptx::Target> FindTarget(absl::string_view name) {
  if (const std::optional<ptx::Target> target = ptx::FindTarget(name)) return *target;
  std::string known;
  for (const ptx::Target& target : ptx::Targets()) {
    absl::StrAppend(&known, known.empty() ? "" : ", ", target.name);
  }
  return MakeError(DiagId::kUnknownTarget, absl::StrCat("there is no target \"", name, "\""),
                   absl::StrCat("targets are ", known));
}

// Whether code for `target` may run a program whose lowest target is `lowest`: an
// architecture-specific program runs on its own architecture only.
bool Allows(const ptx::Target& lowest, const ptx::Target& target) {
  if (lowest.arch_specific) return target.arch_specific && target.sm == lowest.sm;
  return target.sm >= lowest.sm;
}

absl::StatusOr<std::vector<ptx::Target>> ChooseTargets(const ir::Module& module,
                                                       const PipelineOptions& options) {
  std::vector<ptx::Target> lowest;
  for (const ir::Program& program : module.programs) {
    TILUS_ASSIGN_OR_RETURN(const ptx::Target target,
                           FindTarget(program.target.empty() ? "sm_80" : program.target.c_str()));
    lowest.push_back(target);
  }
  std::vector<ptx::Target> targets;
  for (const std::string& name : options.targets) {
    TILUS_ASSIGN_OR_RETURN(const ptx::Target target, FindTarget(name));
    targets.push_back(target);
  }
  if (targets.empty()) {
    // The highest of the programs' lowest.
    targets.push_back(*std::max_element(
        lowest.begin(), lowest.end(), [](const ptx::Target& a, const ptx::Target& b) {
          return a.sm != b.sm ? a.sm < b.sm : a.arch_specific < b.arch_specific;
        }));
  }
  for (const ptx::Target& target : targets) {
    for (size_t i = 0; i < lowest.size(); ++i) {
      if (Allows(lowest[i], target)) continue;
      return MakeError(DiagId::kTargetOther,
                       absl::StrCat("program ", module.programs[i].name, " needs target ",
                                    lowest[i].name, ", not ", target.name),
                       "compile for a target that the program allows", module.programs[i].name);
    }
  }
  return targets;
}

absl::Status Dump(const PipelineOptions& options, const machine::Kernel& kernel,
                  absl::string_view pass) {
  if (!options.dump) return absl::OkStatus();
  return options.dump(kernel.name, pass, machine::Print(kernel));
}

absl::StatusOr<machine::Kernel> LowerProgram(const ir::Program& program, const ptx::Target& target,
                                             const PipelineOptions& options) {
  lower::LowerOptions lower_options;
  lower_options.sm = target.sm;
  lower_options.arch_specific = target.arch_specific;
  lower_options.max_shared_bytes = target.shared_per_block;
  lower_options.limits = options.limits;
  lower_options.cancelled = options.cancelled;
  TILUS_ASSIGN_OR_RETURN(machine::Kernel kernel, lower::Lower(program, lower_options));
  TILUS_RETURN_IF_ERROR(machine::Verify(kernel));
  TILUS_RETURN_IF_ERROR(Dump(options, kernel, kLowerPass));
  for (const machine::Pass& pass : machine::Passes()) {
    pass.run(&kernel);
    TILUS_RETURN_IF_ERROR(Dump(options, kernel, pass.name));
  }
  TILUS_RETURN_IF_ERROR(machine::Verify(kernel));
  return kernel;
}

absl::StatusOr<TargetCode> CompileForTarget(const ir::Module& module, const ptx::Target& target,
                                            const PipelineOptions& options, Steps* steps,
                                            std::vector<StageTime>* stages) {
  TargetCode code{target, {}, {}};
  for (const ir::Program& program : module.programs) {
    TILUS_RETURN_IF_ERROR(steps->Next((*stages)[kLower].name));
    Stopwatch watch(&(*stages)[kLower]);
    TILUS_ASSIGN_OR_RETURN(machine::Kernel kernel, LowerProgram(program, target, options));
    code.kernels.kernels.push_back(std::move(kernel));
  }
  Stopwatch watch(&(*stages)[kPtx]);
  TILUS_ASSIGN_OR_RETURN(code.ptx, ptx::PrintPtx(code.kernels, target));
  if (static_cast<int64_t>(code.ptx.size()) > options.limits.max_code_bytes) {
    return MakeError(DiagId::kLimitCode,
                     absl::StrCat("the PTX has ", code.ptx.size(), " bytes, the limit is ",
                                  options.limits.max_code_bytes),
                     "unroll less, or raise the context's code limit");
  }
  return code;
}

absl::Status Finish(ir::Module module, const PipelineOptions& options, Compilation* result) {
  TILUS_ASSIGN_OR_RETURN(const std::vector<ptx::Target> targets, ChooseTargets(module, options));
  result->optimized = module;
  result->source = std::move(module);
  Steps steps(options, result->optimized.programs.size() * (1 + targets.size()));
  for (ir::Program& program : result->optimized.programs) {
    TILUS_RETURN_IF_ERROR(steps.Next(result->stages[kPasses].name));
    program.contract = program.contract || options.contract;
    Stopwatch watch(&result->stages[kPasses]);
    TILUS_RETURN_IF_ERROR(passes::RunPasses(
        &program, options.limits, [&](const passes::Pass& pass, const ir::Program& after) {
          if (options.dump) {
            TILUS_RETURN_IF_ERROR(options.dump(after.name, pass.name, ir::PrintText(after)));
          }
          return CheckCancelled(options);
        }));
  }
  for (const ptx::Target& target : targets) {
    TILUS_ASSIGN_OR_RETURN(
        TargetCode code,
        CompileForTarget(result->optimized, target, options, &steps, &result->stages));
    result->targets.push_back(std::move(code));
  }
  return absl::OkStatus();
}

absl::StatusOr<ir::Module> Decode(absl::string_view bytes, const ir::Limits& limits) {
  if (static_cast<int64_t>(bytes.size()) > limits.max_bytes) {
    return MakeError(DiagId::kLimitBytes,
                     absl::StrCat("the input has ", bytes.size(), " bytes, the limit is ",
                                  limits.max_bytes),
                     "raise the context's byte limit if the program is trusted");
  }
  return wire::LooksSerialized(bytes) ? wire::Decode(bytes, limits) : ir::ParseText(bytes, limits);
}

absl::Status Verify(ir::Module* module, const ir::Limits& limits) {
  ir::VerifyOptions options;
  options.limits = limits;
  return ir::ResolveAndVerify(module, options);
}

}  // namespace

absl::StatusOr<ir::Module> ReadProgram(absl::string_view bytes, const ir::Limits& limits) {
  // Text gets its source lines into the diagnostics.
  if (!wire::LooksSerialized(bytes) && static_cast<int64_t>(bytes.size()) <= limits.max_bytes) {
    return ir::LoadText(bytes, limits);
  }
  TILUS_ASSIGN_OR_RETURN(ir::Module module, Decode(bytes, limits));
  TILUS_RETURN_IF_ERROR(Verify(&module, limits));
  return module;
}

absl::StatusOr<Compilation> CompileBytes(absl::string_view bytes, const PipelineOptions& options) {
  Compilation result;
  result.stages = NewStages();
  ir::Module module;
  {
    Stopwatch watch(&result.stages[kDecode]);
    TILUS_ASSIGN_OR_RETURN(module, Decode(bytes, options.limits));
  }
  {
    Stopwatch watch(&result.stages[kVerify]);
    if (absl::Status status = Verify(&module, options.limits); !status.ok()) {
      // The slow way once more, for better excerpts.
      TILUS_RETURN_IF_ERROR(ReadProgram(bytes, options.limits).status());
      return status;
    }
  }
  TILUS_RETURN_IF_ERROR(Finish(std::move(module), options, &result));
  return result;
}

absl::StatusOr<Compilation> CompileModule(ir::Module module, const PipelineOptions& options) {
  Compilation result;
  result.stages = NewStages();
  TILUS_RETURN_IF_ERROR(Finish(std::move(module), options, &result));
  return result;
}

std::vector<std::string> PipelinePasses() {
  std::vector<std::string> names;
  for (const passes::Pass& pass : passes::AllPasses()) names.push_back(pass.name);
  names.push_back(kLowerPass);
  for (const machine::Pass& pass : machine::Passes()) names.push_back(pass.name);
  return names;
}

}  // namespace tilus::compile

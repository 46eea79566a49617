#include "capi/compiler.h"

#include <utility>

#include "base/status_macros.h"
#include "capi/error.h"
#include "capi/program_handle.h"
#include "capi/text.h"
#include "compile/compile.h"

namespace tilus::capi {
namespace {

// One compile: the callbacks that it calls, and the answer that ended it.
class Job {
 public:
  Job(std::shared_ptr<const ContextState> context, const CompileSettings& settings)
      : context_(std::move(context)), settings_(settings) {
    options_.limits = context_->limits;
    options_.targets = settings.targets;
    options_.contract = settings.contract;
    options_.cancelled = settings.cancelled.get();
    if (settings.dump != nullptr) {
      options_.dump = [this](absl::string_view kernel, absl::string_view pass,
                             absl::string_view text) { return Dump(kernel, pass, text); };
    }
    if (context_->progress != nullptr) {
      options_.progress = [this](const char* stage, size_t done, size_t total) {
        return Progress(stage, done, total);
      };
    }
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const compile::PipelineOptions& options() const { return options_; }

  absl::StatusOr<std::shared_ptr<const ModuleState>> Finish(
      absl::StatusOr<compile::Compilation> compilation) {
    // The code that a callback answered would not survive the way through the passes.
    if (stopped_ != TILUS_OK) return StoppedByCallback(stopped_, stopper_);
    TILUS_RETURN_IF_ERROR(compilation.status());
    const auto contract = settings_.contract ? ModuleState::Contract::kAllowed
                                             : ModuleState::Contract::kAsWritten;
    auto module =
        std::make_shared<const ModuleState>(context_, *std::move(compilation), contract);
    if (settings_.assembly == TILUS_ASSEMBLY_NOW) {
      for (size_t i = 0; i < module->code().targets.size(); ++i) {
        TILUS_RETURN_IF_ERROR(module->Cubin(i).status());
      }
    }
    return module;
  }

 private:
  absl::Status Dump(absl::string_view kernel, absl::string_view pass, absl::string_view text) {
    if (settings_.dump_pass != kAllPasses && settings_.dump_pass != pass) return absl::OkStatus();
    // What is given out is NUL-terminated.
    const std::string names[3] = {std::string(kernel), std::string(pass), std::string(text)};
    return Answer("dump", settings_.dump->function()(settings_.dump->user(), ToString(names[0]),
                                                     ToString(names[1]), ToString(names[2])));
  }

  absl::Status Progress(const char* stage, size_t done, size_t total) {
    const auto& progress = *context_->progress;
    return Answer("progress",
                  progress.function()(progress.user(), tilus_string_of(stage), done, total));
  }

  absl::Status Answer(const char* callback, tilus_code code) {
    if (code == TILUS_OK) return absl::OkStatus();
    stopped_ = code;
    stopper_ = callback;
    return StoppedByCallback(code, callback);
  }

  std::shared_ptr<const ContextState> context_;
  const CompileSettings& settings_;
  compile::PipelineOptions options_;
  tilus_code stopped_ = TILUS_OK;
  const char* stopper_ = "";
};

}  // namespace

absl::StatusOr<std::shared_ptr<const ModuleState>> CompileBytes(
    std::shared_ptr<const ContextState> context, absl::string_view bytes,
    const CompileSettings& settings) {
  Job job(std::move(context), settings);
  return job.Finish(compile::CompileBytes(bytes, job.options()));
}

absl::StatusOr<std::shared_ptr<const ModuleState>> CompileProgram(
    const tilus_program& program, const CompileSettings& settings) {
  Job job(program.context, settings);
  TILUS_ASSIGN_OR_RETURN(ir::Module module, VerifiedModule(program));
  return job.Finish(compile::CompileModule(std::move(module), job.options()));
}

const std::vector<std::string>& PassNames() {
  static const std::vector<std::string> names = compile::PipelinePasses();
  return names;
}

}  // namespace tilus::capi

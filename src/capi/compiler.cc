#include "capi/compiler.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "capi/error.h"
#include "capi/program_handle.h"
#include "capi/text.h"
#include "compile/compile.h"
#include "wire/wire.h"

namespace tilus::capi {
namespace {

// The module, with what the options ask for beyond its code.
absl::StatusOr<std::shared_ptr<const ModuleState>> Assembled(
    const ContextState& context, std::shared_ptr<const ModuleState> module,
    const CompileSettings& settings) {
  if (settings.assembly == TILUS_ASSEMBLY_NOW) {
    for (size_t i = 0; i < module->code().targets.size(); ++i) {
      TILUS_RETURN_IF_ERROR(module->Cubin(context, i).status());
    }
  }
  return module;
}

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
    return Assembled(*context_,
                     std::make_shared<const ModuleState>(*std::move(compilation), contract),
                     settings_);
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

// What the cache has would otherwise be given out in spite of the flag.
absl::Status CheckNotCancelled(const CompileSettings& settings) {
  if (settings.cancelled == nullptr || !settings.cancelled->load(std::memory_order_relaxed)) {
    return absl::OkStatus();
  }
  return MakeError(DiagId::kCancelled, "the compile was cancelled");
}

// Names what a compile of `content` under `settings` gives; `kind` says what the content is.
std::string CacheKey(absl::string_view kind, absl::string_view content,
                     const CompileSettings& settings) {
  return Digest128(absl::StrCat(kind, "\n", absl::StrJoin(settings.targets, ","), "\n",
                                settings.contract ? "contract" : "", "\n", content.size(), "\n",
                                content));
}

// Puts a module where later compiles of the same program find it.
void Keep(const ContextState& context, const std::string& alias, const CompileSettings& settings,
          const std::shared_ptr<const ModuleState>& module) {
  const std::string content = wire::Encode(module->code().source);
  // The thread-level code weighs several times its PTX.
  uint64_t bytes = 4096 + 8 * content.size();
  for (const compile::TargetCode& code : module->code().targets) bytes += 8 * code.ptx.size();
  context.modules.Insert(CacheKey("program", content, settings), alias, module, bytes);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ModuleState>> CompileBytes(
    std::shared_ptr<const ContextState> context, absl::string_view bytes,
    const CompileSettings& settings) {
  TILUS_RETURN_IF_ERROR(CheckNotCancelled(settings));
  const bool cached = context->modules.enabled() && settings.dump == nullptr;
  std::string alias;
  if (cached) {
    alias = CacheKey("input", bytes, settings);
    if (auto module = context->modules.Find(alias)) return Assembled(*context, module, settings);
  }
  Job job(context, settings);
  TILUS_ASSIGN_OR_RETURN(auto module, job.Finish(compile::CompileBytes(bytes, job.options())));
  if (cached) Keep(*context, alias, settings, module);
  return module;
}

absl::StatusOr<std::shared_ptr<const ModuleState>> CompileProgram(
    const tilus_program& program, const CompileSettings& settings) {
  TILUS_RETURN_IF_ERROR(CheckNotCancelled(settings));
  const ContextState& context = *program.context;
  const bool cached = context.modules.enabled() && settings.dump == nullptr;
  Job job(program.context, settings);
  TILUS_ASSIGN_OR_RETURN(ir::Module source, VerifiedModule(program));
  if (cached) {
    const std::string key = CacheKey("program", wire::Encode(source), settings);
    if (auto module = context.modules.Find(key)) return Assembled(context, module, settings);
  }
  TILUS_ASSIGN_OR_RETURN(auto module,
                         job.Finish(compile::CompileModule(std::move(source), job.options())));
  if (cached) Keep(context, {}, settings, module);
  return module;
}

const std::vector<std::string>& PassNames() {
  static const std::vector<std::string> names = compile::PipelinePasses();
  return names;
}

}  // namespace tilus::capi

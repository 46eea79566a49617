#include "capi/module_handle.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "assemble/assemble.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"

namespace tilus::capi {
namespace {

// The index of `name` among `names`, or of the only one where it is empty.
absl::StatusOr<size_t> Find(const std::vector<std::string>& names, absl::string_view name,
                            DiagId id, absl::string_view what) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name || (name.empty() && names.size() == 1)) return i;
  }
  const std::string hint = absl::StrCat("the module has ", absl::StrJoin(names, ", "));
  if (name.empty()) {
    return MakeError(id, absl::StrCat("the module has ", names.size(), " ", what,
                                      "s, and none was named"), hint);
  }
  return MakeError(id, absl::StrCat("the module has no ", what, " \"", name, "\""), hint);
}

// The cubin of a target's PTX, from the disk cache where it is there.
absl::StatusOr<std::string> Assemble(const ContextState& context,
                                     const compile::TargetCode& code) {
  const char* target = code.target.name;
  if (!context.cubins) return assemble::AssembleCubin(code.ptx, target);
  const assemble::AssemblerInfo assembler = assemble::FindAssembler();
  const std::string key = CubinCache::Key(
      code.ptx, target, absl::StrCat(assembler.version_major, ".", assembler.version_minor));
  if (std::optional<std::string> cubin = context.cubins->Find(key)) return *std::move(cubin);
  TILUS_ASSIGN_OR_RETURN(std::string cubin, assemble::AssembleCubin(code.ptx, target));
  if (absl::Status status = context.cubins->Insert(key, cubin); !status.ok()) {
    std::call_once(context.cache_failure_logged, [&] { LogWarnings(context, status); });
  }
  return cubin;
}

}  // namespace

absl::StatusOr<size_t> ModuleState::FindTarget(absl::string_view name) const {
  std::vector<std::string> names;
  for (const compile::TargetCode& code : code_.targets) names.push_back(code.target.name);
  return Find(names, name, DiagId::kNoSuchTarget, "target");
}

absl::StatusOr<size_t> ModuleState::FindKernel(absl::string_view name) const {
  std::vector<std::string> names;
  for (const ir::Program& program : code_.source.programs) names.push_back(program.name);
  return Find(names, name, DiagId::kNoSuchKernel, "kernel");
}

absl::StatusOr<std::string> ModuleState::Cubin(const ContextState& context,
                                               size_t target) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (cubins_[target].empty()) {
    const auto begin = std::chrono::steady_clock::now();
    TILUS_ASSIGN_OR_RETURN(cubins_[target], Assemble(context, code_.targets[target]));
    const auto time = std::chrono::steady_clock::now() - begin;
    assembly_microseconds_ += std::chrono::duration<double, std::micro>(time).count();
  }
  return cubins_[target];
}

std::string ModuleState::CubinIfMade(size_t target) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return cubins_[target];
}

void ModuleState::SetCubin(size_t target, std::string cubin) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  cubins_[target] = std::move(cubin);
}

double ModuleState::assembly_microseconds() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return assembly_microseconds_;
}

}  // namespace tilus::capi

// The handle of a module: what a compile gave, and the cubins made of it so far.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "capi/context.h"
#include "compile/compile.h"
#include "tilus.h"

namespace tilus::capi {

// Shared by the handles of a module, its executables and the cache of its context (so it must not
// hold the context).
class ModuleState {
 public:
  enum class Contract { kAsWritten, kAllowed };  // of mul and add into fma, by the options

  ModuleState(compile::Compilation code, Contract contract)
      : code_(std::move(code)), contract_(contract), cubins_(code_.targets.size()) {}

  const compile::Compilation& code() const { return code_; }
  bool contract() const { return contract_ == Contract::kAllowed; }

  // The index of a target; of the only one where `name` is empty.
  absl::StatusOr<size_t> FindTarget(absl::string_view name) const;
  // The index of a kernel; of the only one where `name` is empty.
  absl::StatusOr<size_t> FindKernel(absl::string_view name) const;

  // The cubin of a target, made (or found on disk) for the first caller that asks.
  absl::StatusOr<std::string> Cubin(const ContextState& context, size_t target) const;
  // The cubin if it has been made, else empty.
  std::string CubinIfMade(size_t target) const;
  void SetCubin(size_t target, std::string cubin) const;
  // Microseconds spent in assembling, 0 = none was made.
  double assembly_microseconds() const;

 private:
  const compile::Compilation code_;
  const Contract contract_;
  mutable std::mutex mutex_;
  mutable std::vector<std::string> cubins_;  // by target
  mutable double assembly_microseconds_ = 0;
};

}  // namespace tilus::capi

struct tilus_module {
  std::shared_ptr<const tilus::capi::ContextState> context;
  std::shared_ptr<const tilus::capi::ModuleState> state;
};

// What a context, and its options, hold.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "capi/cubin_cache.h"
#include "capi/module_cache.h"
#include "ir/program.h"
#include "tilus.h"

namespace tilus::capi {

// A callback of the caller with its data, which is released when the last holder goes.
template <typename Function>
class Callback {
 public:
  Callback() = default;
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
  ~Callback() {
    if (release_ != nullptr) release_(user_);
  }

  // Takes over `user`. Does not fail, so that a caller keeps what it gave when an earlier step did.
  void Set(Function function, void* user, tilus_release_fn release) noexcept {
    function_ = function;
    user_ = user;
    release_ = release;
  }

  Function function() const { return function_; }
  void* user() const { return user_; }

 private:
  Function function_ = nullptr;
  void* user_ = nullptr;
  tilus_release_fn release_ = nullptr;
};

// NULL where none is set.
template <typename Function>
using CallbackPtr = std::shared_ptr<const Callback<Function>>;

// Replaces `slot` by a callback; none where `function` is NULL, whose `user` is released at once.
template <typename Function>
void SetCallback(Function function, void* user, tilus_release_fn release,
                 CallbackPtr<Function>* slot) {
  auto callback = std::make_shared<Callback<Function>>();
  callback->Set(function, user, release);
  if (function == nullptr) callback.reset();
  *slot = std::move(callback);
}

enum class DiskCache : uint8_t { kOff, kOn };

// What the options set.
struct ContextSettings {
  ir::Limits limits;
  CallbackPtr<tilus_log_fn> log;
  CallbackPtr<tilus_print_fn> print;
  CallbackPtr<tilus_progress_fn> progress;
  uint64_t memory_cache_bytes = 64 << 20;
  DiskCache disk_cache = DiskCache::kOff;
  std::string disk_cache_folder;  // empty: the environment's
};

// Shared by a context handle and everything made with it.
struct ContextState : ContextSettings {
  explicit ContextState(const ContextSettings& settings)
      : ContextSettings(settings), modules(settings.memory_cache_bytes) {
    if (settings.disk_cache == DiskCache::kOn) cubins.emplace(settings.disk_cache_folder);
  }

  mutable ModuleCache modules;
  std::optional<CubinCache> cubins;
  mutable std::once_flag cache_failure_logged;
};

// Shows the log callback a warning for each error of `status`.
void LogWarnings(const ContextState& context, const absl::Status& status);

// The limit as a number; 0 for one without name.
uint64_t LimitOf(const ir::Limits& limits, tilus_limit limit);

}  // namespace tilus::capi

struct tilus_context_options {
  tilus::capi::ContextSettings settings;
};

struct tilus_context {
  std::shared_ptr<const tilus::capi::ContextState> state;
  mutable std::once_flag assembler_once;
  mutable std::string assembler;  // "nvJitLink 13.0" or empty, found at first use
};

struct tilus_cancellation {
  std::shared_ptr<std::atomic<bool>> requested;
};

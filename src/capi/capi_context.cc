#include <utility>

#include "absl/strings/str_cat.h"
#include "assemble/assemble.h"
#include "capi/context.h"
#include "capi/guard.h"

namespace tilus::capi {
namespace {

constexpr uint64_t kInt31 = (uint64_t{1} << 31) - 1;

// The number that a limit is kept in, and the most it may be set to.
struct LimitRow {
  tilus_limit limit;
  int64_t (*get)(const ir::Limits&);
  void (*set)(ir::Limits&, int64_t);
  uint64_t most;
};

#define TILUS_LIMIT_ROW(limit, field, most)                             \
  {                                                                     \
    limit, [](const ir::Limits& l) -> int64_t { return l.field; },      \
        [](ir::Limits& l, int64_t value) {                              \
          l.field = static_cast<decltype(l.field)>(value);              \
        },                                                              \
        most                                                            \
  }
constexpr LimitRow kLimits[] = {
    TILUS_LIMIT_ROW(TILUS_LIMIT_BYTES, max_bytes, kInt31),
    // Nested input is read by recursion, so the stack sets a bound too.
    TILUS_LIMIT_ROW(TILUS_LIMIT_DEPTH, max_depth, 1000),
    TILUS_LIMIT_ROW(TILUS_LIMIT_NODES, max_nodes, kInt31),
    TILUS_LIMIT_ROW(TILUS_LIMIT_RANK, max_rank, kInt31),
    TILUS_LIMIT_ROW(TILUS_LIMIT_ELEMENTS, max_elements, uint64_t{1} << 40),
    TILUS_LIMIT_ROW(TILUS_LIMIT_UNROLL, max_unroll, kInt31),
    TILUS_LIMIT_ROW(TILUS_LIMIT_CODE_BYTES, max_code_bytes, kInt31),
};
#undef TILUS_LIMIT_ROW

const LimitRow* FindLimit(tilus_limit limit) {
  for (const LimitRow& row : kLimits) {
    if (row.limit == limit) return &row;
  }
  return nullptr;
}

template <typename Function>
tilus_error* SetOptionCallback(tilus_context_options* options,
                               CallbackPtr<Function> ContextSettings::*slot, Function function,
                               void* user, tilus_release_fn release) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(options, "options"));
    SetCallback(function, user, release, &(options->settings.*slot));
    return absl::OkStatus();
  });
}

}  // namespace

void LogWarnings(const ContextState& context, const absl::Status& status) {
  if (context.log == nullptr) return;
  for (Diagnostic& d : DiagnosticsOf(status)) {
    d.severity = Severity::kWarning;
    for (std::string* text : {&d.path, &d.message, &d.hint, &d.excerpt}) *text = ValidUtf8(*text);
    const std::string id = DiagIdText(d.id);
    const std::string source;
    const tilus_diagnostic entry = DiagnosticView(d, id, source);
    context.log->function()(context.log->user(), &entry);
  }
}

uint64_t LimitOf(const ir::Limits& limits, tilus_limit limit) {
  const LimitRow* row = FindLimit(limit);
  return row == nullptr ? 0 : static_cast<uint64_t>(row->get(limits));
}

}  // namespace tilus::capi

using namespace tilus::capi;  // the entries below are in the global namespace

tilus_error* tilus_context_options_create(tilus_context_options** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    *out = new tilus_context_options;
    return absl::OkStatus();
  });
}

void tilus_context_options_destroy(tilus_context_options* options) { delete options; }

tilus_error* tilus_context_options_set_limit(tilus_context_options* options, tilus_limit limit,
                                             uint64_t value) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(options, "options"));
    const LimitRow* row = FindLimit(limit);
    if (row == nullptr) {
      return BadArgument("limit", absl::StrCat(static_cast<uint32_t>(limit), " names no limit"));
    }
    if (value < 1 || value > row->most) {
      return OutOfRange("value", absl::StrCat(value, " is not from 1 to ", row->most));
    }
    row->set(options->settings.limits, static_cast<int64_t>(value));
    return absl::OkStatus();
  });
}

tilus_error* tilus_context_options_set_log(tilus_context_options* options, tilus_log_fn log,
                                           void* user, tilus_release_fn release) {
  return SetOptionCallback(options, &ContextSettings::log, log, user, release);
}

tilus_error* tilus_context_options_set_print(tilus_context_options* options, tilus_print_fn print,
                                             void* user, tilus_release_fn release) {
  return SetOptionCallback(options, &ContextSettings::print, print, user, release);
}

tilus_error* tilus_context_options_set_progress(tilus_context_options* options,
                                                tilus_progress_fn progress, void* user,
                                                tilus_release_fn release) {
  return SetOptionCallback(options, &ContextSettings::progress, progress, user, release);
}

tilus_error* tilus_context_options_set_memory_cache(tilus_context_options* options,
                                                    uint64_t bytes) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(options, "options"));
    options->settings.memory_cache_bytes = bytes;
    return absl::OkStatus();
  });
}

tilus_error* tilus_context_options_set_disk_cache(tilus_context_options* options,
                                                  tilus_string folder) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(options, "options"));
    TILUS_ASSIGN_OR_RETURN(const absl::string_view path,
                           BytesOf({folder.data, folder.size}, "folder"));
    if (path.find('\0') != absl::string_view::npos) {
      return BadArgument("folder", "the path has a NUL byte in it");
    }
    options->settings.disk_cache_folder = std::string(path);
    options->settings.disk_cache = DiskCache::kOn;
    return absl::OkStatus();
  });
}

tilus_error* tilus_context_create(const tilus_context_options* options, tilus_context** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    auto state = std::make_shared<ContextState>(options == nullptr ? ContextSettings()
                                                                   : options->settings);
    auto context = std::make_unique<tilus_context>();
    context->state = std::move(state);
    *out = context.release();
    return absl::OkStatus();
  });
}

void tilus_context_destroy(tilus_context* context) { delete context; }

uint64_t tilus_context_limit(const tilus_context* context, tilus_limit limit) {
  return LimitOf(context == nullptr ? tilus::ir::Limits() : context->state->limits, limit);
}

tilus_string tilus_context_assembler(const tilus_context* context) {
  if (context == nullptr) return tilus_string_of("");
  try {
    std::call_once(context->assembler_once, [&] {
      const tilus::assemble::AssemblerInfo info = tilus::assemble::FindAssembler();
      if (!info.found) return;
      context->assembler =
          absl::StrCat("nvJitLink ", info.version_major, ".", info.version_minor);
    });
    return ToString(context->assembler);
  } catch (...) {
    return tilus_string_of("");
  }
}

tilus_error* tilus_cancellation_create(tilus_cancellation** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    *out = new tilus_cancellation{std::make_shared<std::atomic<bool>>(false)};
    return absl::OkStatus();
  });
}

void tilus_cancellation_cancel(tilus_cancellation* cancellation) {
  if (cancellation != nullptr) cancellation->requested->store(true, std::memory_order_relaxed);
}

int32_t tilus_cancellation_requested(const tilus_cancellation* cancellation) {
  if (cancellation == nullptr) return 0;
  return cancellation->requested->load(std::memory_order_relaxed) ? 1 : 0;
}

void tilus_cancellation_destroy(tilus_cancellation* cancellation) { delete cancellation; }

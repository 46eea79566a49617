#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "capi/guard.h"
#include "capi/layout_handle.h"
#include "capi/type_code.h"
#include "layout/bit_layout.h"

struct tilus_view {
  tilus::ViewCheck check;
};

using namespace tilus::capi;  // the entries below are in the global namespace

tilus_error* tilus_view_check(tilus_type source_type, const tilus_layout* source,
                              tilus_type target_type, const tilus_layout* target, int64_t offset,
                              tilus_view** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(source, "source"));
    TILUS_RETURN_IF_ERROR(NotNull(target, "target"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const tilus::DataType from, TypeOf(source_type, "source_type"));
    TILUS_ASSIGN_OR_RETURN(const tilus::DataType to, TypeOf(target_type, "target_type"));
    if (offset < -1) {
      return BadArgument("offset", absl::StrCat(offset, " is neither a bit nor -1, the whole"));
    }
    const auto bits = offset == -1 ? std::nullopt : std::optional<int64_t>(offset);
    *out = new tilus_view{
        tilus::CheckView(from.bits(), source->layout, to.bits(), target->layout, bits)};
    return absl::OkStatus();
  });
}

tilus_verdict tilus_view_verdict(const tilus_view* view) {
  if (view == nullptr) return TILUS_VIEW_ILLEGAL;
  switch (view->check.verdict) {
    case tilus::ViewVerdict::kFree: return TILUS_VIEW_FREE;
    case tilus::ViewVerdict::kCosts: return TILUS_VIEW_COSTS;
    case tilus::ViewVerdict::kIllegal: break;
  }
  return TILUS_VIEW_ILLEGAL;
}

int64_t tilus_view_instructions(const tilus_view* view) {
  return view == nullptr ? -1 : view->check.instructions.value_or(-1);
}

tilus_string tilus_view_reason(const tilus_view* view) {
  return view == nullptr ? tilus_string_of("") : ToString(view->check.reason);
}

void tilus_view_destroy(tilus_view* view) { delete view; }

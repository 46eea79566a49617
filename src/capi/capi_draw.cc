#include <optional>

#include "absl/strings/str_cat.h"
#include "capi/guard.h"
#include "capi/layout_handle.h"
#include "capi/type_code.h"
#include "layout/draw.h"

namespace tilus::capi {
namespace {

absl::StatusOr<std::string> Draw(const RegisterLayout& layout, std::optional<int> bits,
                                 tilus_drawing drawing) {
  switch (drawing) {
    case TILUS_DRAWING_TEXT: return DrawTerminal(layout, {DrawColor::kPlain, bits});
    case TILUS_DRAWING_ANSI: return DrawTerminal(layout, {DrawColor::kAnsi, bits});
    case TILUS_DRAWING_SVG: return DrawSvg(layout, bits);
    default:
      return BadArgument("drawing",
                         absl::StrCat(static_cast<uint32_t>(drawing), " names no drawing"));
  }
}

}  // namespace
}  // namespace tilus::capi

using namespace tilus::capi;  // the entries below are in the global namespace

tilus_error* tilus_layout_draw(const tilus_layout* layout, tilus_type type, tilus_drawing drawing,
                               tilus_blob** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(layout, "layout"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    std::optional<int> bits;
    if (type != TILUS_TYPE_NONE) {
      TILUS_ASSIGN_OR_RETURN(const tilus::DataType t, TypeOf(type, "type"));
      bits = t.bits();
    }
    TILUS_ASSIGN_OR_RETURN(std::string picture, Draw(layout->layout, bits, drawing));
    GiveBlob(std::move(picture), out);
    return absl::OkStatus();
  });
}

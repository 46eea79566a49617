#include "layout/auto_layout.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "layout/compose.h"
#include "layout/layout_errors.h"

namespace tilus {

absl::StatusOr<RegisterLayout> AutoLayout(absl::Span<const int64_t> shape, int64_t threads) {
  TILUS_RETURN_IF_ERROR(layout_internal::CheckShape("the shape", shape));
  if (threads < 1) {
    return MakeError(DiagId::kLayoutOperand,
                     absl::StrCat("a layout of shape ", layout_internal::ListText(shape),
                                  " cannot have ", threads, " threads"));
  }
  std::vector<int64_t> local(shape.begin(), shape.end());
  std::vector<int64_t> spatial(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 0;) {
    spatial[d] = std::gcd(shape[d], threads);
    local[d] = shape[d] / spatial[d];
    threads /= spatial[d];
  }
  TILUS_ASSIGN_OR_RETURN(const RegisterLayout copies,
                         RegisterLayout::Replicated(threads, static_cast<int>(shape.size())));
  TILUS_ASSIGN_OR_RETURN(const RegisterLayout outer, RegisterLayout::Local(local));
  TILUS_ASSIGN_OR_RETURN(const RegisterLayout inner, RegisterLayout::Spatial(spatial));
  TILUS_ASSIGN_OR_RETURN(const RegisterLayout tiled, Compose(outer, inner));
  return Compose(copies, tiled);
}

}  // namespace tilus

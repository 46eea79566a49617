#include "layout/layout_errors.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "base/diagnostic.h"

namespace tilus::layout_internal {
namespace {

// Lists in messages are cut off here; layouts themselves never get this long.
constexpr size_t kMaxListed = 2 * kMaxLayoutModes;

}  // namespace

std::string ListText(absl::Span<const int64_t> values) {
  if (values.size() <= kMaxListed) return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
  return absl::StrCat("[", absl::StrJoin(values.subspan(0, kMaxListed), ", "), ", ...]");
}

absl::Status CheckShape(absl::string_view what, absl::Span<const int64_t> shape) {
  if (shape.size() > static_cast<size_t>(kMaxLayoutRank)) {
    return MakeError(
        DiagId::kLayoutRank,
        absl::StrCat(what, " has ", shape.size(), " dimensions, the limit is ", kMaxLayoutRank));
  }
  for (int64_t extent : shape) {
    if (extent < 1) {
      return MakeError(DiagId::kLayoutExtent,
                       absl::StrCat(what, " ", ListText(shape), " has the extent ", extent),
                       "every extent of a layout is at least 1");
    }
  }
  const std::optional<int64_t> size = CheckedProduct(shape);
  if (!size.has_value() || *size > kMaxLayoutElements) {
    return MakeError(DiagId::kLayoutTooLarge,
                     absl::StrCat(what, " ", ListText(shape), " has more than ", kMaxLayoutElements,
                                  " elements"));
  }
  return absl::OkStatus();
}

absl::Status OperandError(absl::string_view operation, const RegisterLayout& layout,
                          absl::string_view problem) {
  return MakeError(DiagId::kLayoutOperand,
                   absl::StrCat(operation, " of ", layout.ToString(), ": ", problem));
}

absl::Status InexpressibleError(absl::string_view operation, const RegisterLayout& layout,
                                absl::string_view problem) {
  return MakeError(DiagId::kLayoutInexpressible,
                   absl::StrCat(operation, " of ", layout.ToString(), ": ", problem),
                   "the result is not a register layout; choose a layout whose modes align");
}

}  // namespace tilus::layout_internal

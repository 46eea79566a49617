#include "layout/modes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "layout/layout_errors.h"

namespace tilus::layout_internal {

absl::Status ModesError(absl::string_view problem, absl::Span<const int64_t> shape,
                        absl::Span<const int64_t> modes) {
  return MakeError(DiagId::kLayoutModes, absl::StrCat(problem, " (shape ", ListText(shape),
                                                      ", modes ", ListText(modes), ")"));
}

absl::StatusOr<std::vector<int>> DimensionsOfModes(absl::Span<const int64_t> shape,
                                                   absl::Span<const int64_t> modes) {
  const int rank = static_cast<int>(shape.size());
  std::vector<int> dims;
  int dim = 0;
  int64_t filled = 1;
  for (int64_t mode : modes) {
    if (mode < 1) {
      return MakeError(DiagId::kLayoutExtent,
                       absl::StrCat("modes ", ListText(modes), " have the extent ", mode));
    }
    if (mode > 1) {
      while (dim < rank && filled == shape[dim]) {
        ++dim;
        filled = 1;
      }
      if (dim == rank || shape[dim] / filled % mode != 0) {
        return ModesError("the modes do not factor the dimensions in order", shape, modes);
      }
      filled *= mode;
    }
    dims.push_back(std::min(dim, rank - 1));
  }
  for (; dim < rank; ++dim, filled = 1) {
    if (filled != shape[dim]) {
      return ModesError(absl::StrCat("the modes do not fill dimension ", dim), shape, modes);
    }
  }
  return dims;
}

std::vector<int64_t> StridesOfModes(absl::Span<const int> dims, absl::Span<const int64_t> modes) {
  std::vector<int64_t> strides(modes.size(), 1);
  for (int m = static_cast<int>(modes.size()) - 2; m >= 0; --m) {
    if (dims[m] == dims[m + 1]) strides[m] = strides[m + 1] * modes[m + 1];
  }
  return strides;
}

}  // namespace tilus::layout_internal

#include "layout/shared_layout.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "layout/layout_errors.h"
#include "layout/modes.h"
#include "layout/register_layout.h"

namespace tilus {
namespace {

using layout_internal::ListText;

absl::Status SharedError(absl::string_view problem) {
  return MakeError(DiagId::kSharedLayout, absl::StrCat("a shared layout ", problem),
                   "give one stride of at least 0 for each dimension, as in strides(64, 1)");
}

absl::Status TooLarge(absl::Span<const int64_t> shape, absl::Span<const int64_t> strides) {
  return MakeError(
      DiagId::kLayoutTooLarge,
      absl::StrCat("a shared layout of shape ", ListText(shape), " with strides ",
                   ListText(strides), " takes more than ", kMaxLayoutElements, " elements"));
}

// The largest offset before swizzling, or nullopt beyond the limit.
std::optional<int64_t> LastOffset(absl::Span<const int64_t> modes,
                                  absl::Span<const int64_t> strides) {
  std::optional<int64_t> last = 0;
  for (size_t m = 0; m < modes.size() && last.has_value(); ++m) {
    const std::optional<int64_t> step = CheckedMul(modes[m] - 1, strides[m]);
    last = step.has_value() ? CheckedAdd(*last, *step) : std::nullopt;
  }
  return last.has_value() && *last < kMaxLayoutElements ? last : std::nullopt;
}

}  // namespace

absl::StatusOr<SharedLayout> SharedLayout::Create(std::vector<int64_t> shape,
                                                  std::vector<int64_t> mode_shape,
                                                  std::vector<int64_t> mode_strides,
                                                  std::optional<Swizzle> swizzle) {
  TILUS_RETURN_IF_ERROR(layout_internal::CheckShape("the shape", shape));
  if (mode_shape.size() > static_cast<size_t>(kMaxLayoutModes)) {
    return SharedError(
        absl::StrCat("has ", mode_shape.size(), " modes, the limit is ", kMaxLayoutModes));
  }
  if (mode_shape.size() != mode_strides.size()) {
    return SharedError(
        absl::StrCat("has ", mode_shape.size(), " modes and ", mode_strides.size(), " strides"));
  }
  for (int64_t stride : mode_strides) {
    if (stride < 0) return SharedError(absl::StrCat("has the stride ", stride));
  }
  if (swizzle.has_value()) {
    TILUS_RETURN_IF_ERROR(swizzle->Check());
  }
  SharedLayout layout;
  TILUS_ASSIGN_OR_RETURN(layout.mode_dims_, layout_internal::DimensionsOfModes(shape, mode_shape));
  layout.mode_divisors_ = layout_internal::StridesOfModes(layout.mode_dims_, mode_shape);
  const std::optional<int64_t> last = LastOffset(mode_shape, mode_strides);
  if (!last.has_value()) return TooLarge(shape, mode_strides);
  layout.size_ = *last + 1;
  if (swizzle.has_value() && *last >> (swizzle->base + swizzle->shift) > 0) {
    layout.size_ = RoundUp(layout.size_, int64_t{1} << (swizzle->base + swizzle->bits));
  }
  if (layout.size_ > kMaxLayoutElements) return TooLarge(shape, mode_strides);
  layout.shape_ = std::move(shape);
  layout.mode_shape_ = std::move(mode_shape);
  layout.mode_strides_ = std::move(mode_strides);
  layout.swizzle_ = swizzle;
  return layout;
}

absl::StatusOr<SharedLayout> SharedLayout::Strided(std::vector<int64_t> shape,
                                                   std::vector<int64_t> strides,
                                                   std::optional<Swizzle> swizzle) {
  if (shape.size() != strides.size()) {
    return SharedError(absl::StrCat("of rank ", shape.size(), " has ", strides.size(), " strides"));
  }
  std::vector<int64_t> modes, mode_strides;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    modes.push_back(shape[d]);
    mode_strides.push_back(strides[d]);
  }
  return Create(std::move(shape), std::move(modes), std::move(mode_strides), swizzle);
}

absl::StatusOr<SharedLayout> SharedLayout::RowMajor(std::vector<int64_t> shape,
                                                    std::optional<Swizzle> swizzle) {
  TILUS_RETURN_IF_ERROR(layout_internal::CheckShape("the shape", shape));
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return Strided(std::move(shape), std::move(strides), swizzle);
}

absl::StatusOr<SharedLayout> SharedLayout::Padded(std::vector<int64_t> shape, int64_t padding) {
  TILUS_RETURN_IF_ERROR(layout_internal::CheckShape("the shape", shape));
  if (padding < 0 || padding > kMaxLayoutElements) {
    return SharedError(absl::StrCat("has rows padded by ", padding, " elements"));
  }
  std::vector<int64_t> strides(shape.size(), 1);
  int64_t row = 1;
  for (size_t d = shape.size(); d-- > 1;) {
    row = shape[d] * strides[d] + (d + 1 == shape.size() ? padding : 0);
    if (row > kMaxLayoutElements) return TooLarge(shape, strides);
    strides[d - 1] = row;
  }
  return Strided(std::move(shape), std::move(strides));
}

int64_t SharedLayout::Offset(absl::Span<const int64_t> index) const {
  int64_t offset = 0;
  for (size_t m = 0; m < mode_shape_.size(); ++m) {
    if (mode_shape_[m] == 1) continue;
    offset += index[mode_dims_[m]] / mode_divisors_[m] % mode_shape_[m] * mode_strides_[m];
  }
  return swizzle_.has_value() ? (*swizzle_)(offset) : offset;
}

bool SharedLayout::StridesNest() const {
  std::vector<std::pair<int64_t, int64_t>> modes;  // (stride, extent)
  for (size_t m = 0; m < mode_shape_.size(); ++m) {
    if (mode_shape_[m] > 1) modes.push_back({mode_strides_[m], mode_shape_[m]});
  }
  std::sort(modes.begin(), modes.end());
  int64_t last = 0;  // the largest offset of the modes so far
  for (const auto& [stride, extent] : modes) {
    if (stride <= last) return false;
    last += (extent - 1) * stride;
  }
  return true;
}

bool SharedLayout::IsInjective() const {
  // The swizzle is a bijection, so only the strides matter.
  if (StridesNest()) return true;
  const int64_t elements = Product(shape_);
  if (elements > size_ || size_ > kMaxMarkedOffsets) return false;
  std::vector<bool> taken(size_);
  for (int64_t n = 0; n < elements; ++n) {
    int64_t rest = n, offset = 0;
    for (size_t m = mode_shape_.size(); m-- > 0;) {
      offset += rest % mode_shape_[m] * mode_strides_[m];
      rest /= mode_shape_[m];
    }
    if (taken[offset]) return false;
    taken[offset] = true;
  }
  return true;
}

bool SharedLayout::IsCompact() const { return size_ == Product(shape_) && IsInjective(); }

std::string SharedLayout::ToString() const {
  // One mode for each dimension of more than one element: the strides by dimension say it all.
  std::vector<int64_t> strides(shape_.size(), 0);
  size_t mode = 0;
  bool by_dimension = true;
  for (size_t d = shape_.size(); d-- > 0;) {
    strides[d] = d + 1 < shape_.size() ? strides[d + 1] * shape_[d + 1] : 1;
  }
  for (size_t d = 0; d < shape_.size(); ++d) {
    if (shape_[d] == 1) continue;
    by_dimension = by_dimension && mode < mode_shape_.size() && mode_shape_[mode] == shape_[d];
    if (by_dimension) strides[d] = mode_strides_[mode++];
  }
  by_dimension = by_dimension && mode == mode_shape_.size();
  std::string text =
      by_dimension ? absl::StrCat("strides(", absl::StrJoin(strides, ", "), ")")
                   : absl::StrCat("{shape=", ListText(shape_), ", modes=", ListText(mode_shape_),
                                  ", strides=", ListText(mode_strides_), "}");
  if (swizzle_.has_value()) absl::StrAppend(&text, " ", swizzle_->ToString());
  return text;
}

}  // namespace tilus

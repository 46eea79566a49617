#include "layout/shared_layout.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "base/diagnostic.h"
#include "layout/register_layout.h"

namespace tilus {
namespace {

absl::Status Bad(absl::string_view what) {
  return MakeError(DiagId::kSharedLayout, absl::StrCat("a shared layout ", what),
                   "give one stride a dimension, as in strides(64, 1), and a swizzle(bits, base, "
                   "shift) with shift >= bits");
}

bool GoodSwizzle(const Swizzle& s) {
  constexpr int kMaxField = 16;
  return s.bits >= 0 && s.bits <= kMaxField && s.base >= 0 && s.base <= kMaxField &&
         s.shift >= s.bits && s.shift <= kMaxField;
}

int Log2(int64_t value) {
  int log = 0;
  while (value > 1) {
    value >>= 1;
    ++log;
  }
  return log;
}

bool IsPowerOfTwo(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

}  // namespace

std::string Swizzle::ToString() const {
  return absl::StrCat("swizzle(", bits, ", ", base, ", ", shift, ")");
}

absl::StatusOr<SharedLayout> SharedLayout::Create(std::vector<int64_t> shape,
                                                  std::vector<int64_t> mode_shape,
                                                  std::vector<int64_t> mode_strides,
                                                  std::optional<Swizzle> swizzle) {
  if (shape.size() > kMaxLayoutRank || mode_shape.size() > kMaxLayoutModes) return Bad("has too many dimensions");
  if (mode_shape.size() != mode_strides.size()) return Bad("has not one stride for each mode");
  size_t mode = 0;
  for (int64_t extent : shape) {
    if (extent < 1) return Bad("has an extent below 1");
    int64_t product = 1;
    while (product < extent && mode < mode_shape.size()) {
      if (mode_shape[mode] < 1) return Bad("has a mode below 1");
      const std::optional<int64_t> next = CheckedMul(product, mode_shape[mode++]);
      if (!next) return Bad("overflows");
      product = *next;
    }
    if (product != extent) return Bad("has modes that do not factor its shape");
  }
  if (mode != mode_shape.size()) return Bad("has more modes than its shape");
  if (swizzle && !GoodSwizzle(*swizzle)) return Bad("has a swizzle out of range");
  std::optional<int64_t> last = 0;
  for (size_t m = 0; m < mode_shape.size() && last; ++m) {
    if (mode_strides[m] < 0) return Bad("has a negative stride");
    const std::optional<int64_t> step = CheckedMul(mode_shape[m] - 1, mode_strides[m]);
    last = step ? CheckedAdd(*last, *step) : std::nullopt;
  }
  if (!last || *last >= kMaxLayoutElements) return Bad("has more elements than the limit");
  SharedLayout layout;
  const int64_t period =
      swizzle ? int64_t{1} << (swizzle->bits + swizzle->base + swizzle->shift) : 1;
  layout.size_ = RoundUp(*last + 1, period);
  layout.shape_ = std::move(shape);
  layout.mode_shape_ = std::move(mode_shape);
  layout.mode_strides_ = std::move(mode_strides);
  layout.swizzle_ = swizzle;
  return layout;
}

absl::StatusOr<SharedLayout> SharedLayout::Strided(std::vector<int64_t> shape,
                                                   std::vector<int64_t> strides,
                                                   std::optional<Swizzle> swizzle) {
  if (shape.size() != strides.size()) return Bad("has not one stride for each dimension");
  // Dimensions of one element own no mode.
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
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) {
    const std::optional<int64_t> stride = CheckedMul(strides[d], shape[d]);
    if (!stride) return Bad("overflows");
    strides[d - 1] = *stride;
  }
  return Strided(std::move(shape), std::move(strides), swizzle);
}

int64_t SharedLayout::Offset(absl::Span<const int64_t> index) const {
  int64_t offset = 0;
  size_t mode = mode_shape_.size();
  for (size_t d = shape_.size(); d-- > 0;) {
    int64_t rest = index[d];
    for (int64_t left = shape_[d]; left > 1;) {
      --mode;
      offset += rest % mode_shape_[mode] * mode_strides_[mode];
      rest /= mode_shape_[mode];
      left /= mode_shape_[mode];
    }
  }
  return swizzle_ ? (*swizzle_)(offset) : offset;
}

std::string SharedLayout::ToString() const {
  std::string text = absl::StrCat("{shape=[", absl::StrJoin(shape_, ", "), "], modes=[",
                                  absl::StrJoin(mode_shape_, ", "), "], strides=[",
                                  absl::StrJoin(mode_strides_, ", "), "]}");
  if (swizzle_) absl::StrAppend(&text, " ", swizzle_->ToString());
  return text;
}

std::optional<Swizzle> DefaultSwizzle(int64_t row_bytes, int element_bits) {
  constexpr int64_t kGroupBytes = 16;
  constexpr int64_t kBankBytes = 128;
  if (element_bits % 8 != 0 || !IsPowerOfTwo(element_bits) || !IsPowerOfTwo(row_bytes)) return std::nullopt;
  if (row_bytes < 2 * kGroupBytes) return std::nullopt;
  const int base = Log2(kGroupBytes * 8 / element_bits);
  // Rows shorter than all banks: several rows share a pass over them, and the group index is xored
  // with the number of that pass.
  const int64_t groups = std::min(row_bytes, kBankBytes) / kGroupBytes;
  const int shift = Log2(std::max(row_bytes, kBankBytes) / kGroupBytes);
  return Swizzle{Log2(groups), base, shift};
}

}  // namespace tilus

#include "layout/slice.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "layout/layout_errors.h"

namespace tilus {
namespace {

using layout_internal::ListText;

// A mode of the dimension that is cut, outermost first.
struct Mode {
  bool spatial;
  int position;  // in its list
  int64_t extent;
};

struct Range {
  int64_t offset, extent;
};

std::vector<Mode> ModesOf(const RegisterLayout& f, int dim) {
  std::vector<std::pair<int64_t, Mode>> modes;  // (stride, mode)
  auto add = [&](absl::Span<const Digit> digits, bool spatial) {
    for (int n = 0; n < static_cast<int>(digits.size()); ++n) {
      if (digits[n].dim != dim) continue;
      modes.push_back({digits[n].stride, {spatial, n, digits[n].extent}});
    }
  };
  add(f.thread_digits(), true);
  add(f.local_digits(), false);
  std::sort(modes.begin(), modes.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Mode> sorted;
  for (const auto& [stride, mode] : modes) sorted.push_back(mode);
  return sorted;
}

int64_t ExtentOf(absl::Span<const Mode> modes) {
  int64_t extent = 1;
  for (const Mode& mode : modes) extent *= mode.extent;
  return extent;
}

// The extents that the modes keep, or nullopt when the range cannot be cut.
std::optional<std::vector<int64_t>> Cut(absl::Span<const Mode> modes, Range range) {
  if (modes.empty()) return std::vector<int64_t>{};
  const Mode& outer = modes[0];
  const absl::Span<const Mode> inner = modes.subspan(1);
  const int64_t row = ExtentOf(inner), start = range.offset % row;
  const int64_t rows = (range.offset + range.extent - 1) / row - range.offset / row + 1;
  std::optional<std::vector<int64_t>> kept;
  if (start == 0 && range.extent % row == 0) {
    kept = Cut(inner, {0, row});
  } else if (rows == 1) {
    kept = Cut(inner, {start, range.extent});
  } else if (rows == 2 && range.extent == 2 * (row - start)) {
    kept = Cut(inner, {0, row - start});
    if (kept != Cut(inner, {start, row - start})) return std::nullopt;
    // In the first row the inner modes keep their last values, in the second their first: the
    // locals stay in order only when the row changes slower than those modes.
    for (size_t n = 0; kept.has_value() && n < inner.size(); ++n) {
      const bool both_local = !outer.spatial && !inner[n].spatial;
      if (both_local && (*kept)[n] < inner[n].extent && inner[n].position < outer.position) {
        return std::nullopt;
      }
    }
  }
  if (!kept.has_value() || (outer.spatial && rows != outer.extent)) return std::nullopt;
  kept->insert(kept->begin(), rows);
  return kept;
}

// f with the modes of `dim` reduced to `kept`.
RegisterLayout Keep(const RegisterLayout& f, int dim, absl::Span<const Mode> modes,
                    absl::Span<const int64_t> kept) {
  std::vector<int64_t> shape(f.shape().begin(), f.shape().end());
  std::vector<Digit> thread(f.thread_digits().begin(), f.thread_digits().end());
  std::vector<Digit> local(f.local_digits().begin(), f.local_digits().end());
  int64_t stride = 1;
  for (size_t n = modes.size(); n-- > 0;) {
    Digit& digit = (modes[n].spatial ? thread : local)[modes[n].position];
    digit.extent = kept[n];
    digit.stride = stride;
    stride *= kept[n];
  }
  shape[dim] = stride;
  return *RegisterLayout::FromDigits(std::move(shape), std::move(thread), std::move(local));
}

// Removes the local modes that the range fixes. @return whether there were any.
bool Narrow(RegisterLayout& f, int dim, Range& range) {
  const std::vector<Mode> modes = ModesOf(f, dim);
  std::vector<int64_t> kept;
  for (const Mode& mode : modes) kept.push_back(mode.extent);
  size_t fixed = 0;
  for (; fixed < modes.size() && !modes[fixed].spatial; ++fixed) {
    const int64_t row = ExtentOf(absl::MakeConstSpan(modes).subspan(fixed + 1));
    if (range.offset / row != (range.offset + range.extent - 1) / row) break;
    range.offset %= row;
    kept[fixed] = 1;
  }
  if (fixed > 0) f = Keep(f, dim, modes, kept);
  return fixed > 0;
}

// Cuts the whole range. @return whether that was possible.
bool CutDimension(RegisterLayout& f, int dim, Range& range) {
  const std::vector<Mode> modes = ModesOf(f, dim);
  const std::optional<std::vector<int64_t>> kept = Cut(modes, range);
  if (kept.has_value()) {
    f = Keep(f, dim, modes, *kept);
    range.offset = 0;
  }
  return kept.has_value();
}

absl::Status CheckBox(const RegisterLayout& f, absl::Span<const int64_t> offset,
                      absl::Span<const int64_t> shape) {
  const size_t rank = f.rank();
  bool inside = offset.size() == rank && shape.size() == rank;
  for (size_t d = 0; inside && d < rank; ++d) {
    inside = offset[d] >= 0 && shape[d] >= 1 && offset[d] < f.shape()[d] &&
             shape[d] <= f.shape()[d] - offset[d];
  }
  if (inside) return absl::OkStatus();
  return layout_internal::OperandError(
      "slice", f,
      absl::StrCat("the box at ", ListText(offset), " of shape ", ListText(shape),
                   " is not inside its tile ", ListText(f.shape())));
}

}  // namespace

absl::StatusOr<RegisterLayout> Slice(const RegisterLayout& f, absl::Span<const int64_t> offset,
                                     absl::Span<const int64_t> shape) {
  TILUS_RETURN_IF_ERROR(CheckBox(f, offset, shape));
  RegisterLayout slice = f.Canonical();
  std::vector<Range> ranges;
  for (int d = 0; d < f.rank(); ++d) ranges.push_back({offset[d], shape[d]});
  // A mode that disappears in one dimension may let two of another fuse, and a fused mode can be
  // cut where two could not; so go round until nothing changes.
  std::vector<bool> done(f.rank());
  for (bool changed = true; changed;) {
    changed = false;
    for (int d = 0; d < f.rank(); ++d) changed |= Narrow(slice, d, ranges[d]);
    for (int d = 0; d < f.rank(); ++d) {
      if (done[d] || !CutDimension(slice, d, ranges[d])) continue;
      done[d] = true;
      changed = true;
    }
  }
  if (std::find(done.begin(), done.end(), false) == done.end()) return slice;
  return layout_internal::InexpressibleError(
      "slice", f,
      absl::StrCat("the threads do not hold the box at ", ListText(offset), " of shape ",
                   ListText(shape), " evenly"));
}

}  // namespace tilus

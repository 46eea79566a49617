#include "layout/reshape.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "base/status_macros.h"
#include "layout/layout_errors.h"

namespace tilus {
namespace {

using layout_internal::ListText;

// The products of the extents to the right of each dimension.
std::vector<int64_t> RowMajorStrides(absl::Span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

// Splits a digit of the flat index over the dimensions of `shape` it moves through, and appends
// the parts outermost first. @return false when it crosses a dimension's end inside a step.
bool AppendParts(const Digit& flat, absl::Span<const int64_t> shape,
                 absl::Span<const int64_t> strides, std::vector<Digit>& out) {
  if (flat.replicated()) {
    out.push_back(flat);
    return true;
  }
  std::vector<Digit> parts;  // innermost first
  int64_t stride = flat.stride, extent = flat.extent;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0 && extent > 1; --d) {
    const int64_t end = strides[d] * shape[d];
    if (stride >= end) continue;
    if (stride % strides[d] != 0 || end % stride != 0) return false;
    const int64_t part = std::min(extent, end / stride);
    if (extent % part != 0) return false;
    parts.push_back({.dim = d, .extent = part, .stride = stride / strides[d]});
    stride *= part;
    extent /= part;
  }
  out.insert(out.end(), parts.rbegin(), parts.rend());
  return extent == 1;
}

}  // namespace

RegisterLayout Flatten(const RegisterLayout& f) {
  const std::vector<int64_t> strides = RowMajorStrides(f.shape());
  std::vector<Digit> thread(f.thread_digits().begin(), f.thread_digits().end());
  std::vector<Digit> local(f.local_digits().begin(), f.local_digits().end());
  for (std::vector<Digit>* list : {&thread, &local}) {
    for (Digit& digit : *list) {
      if (digit.replicated()) continue;
      digit.stride *= strides[digit.dim];
      digit.dim = 0;
    }
  }
  return *RegisterLayout::FromDigits({f.size()}, std::move(thread), std::move(local));
}

absl::StatusOr<RegisterLayout> Reshape(const RegisterLayout& f, absl::Span<const int64_t> shape) {
  TILUS_RETURN_IF_ERROR(layout_internal::CheckShape("the new shape", shape));
  if (Product(shape) != f.size()) {
    return layout_internal::OperandError("reshape", f,
                                         absl::StrCat("shape ", ListText(shape), " has ",
                                                      Product(shape), " elements, not ", f.size()));
  }
  const RegisterLayout flat = Flatten(f);
  const std::vector<int64_t> strides = RowMajorStrides(shape);
  std::vector<Digit> thread, local;
  bool fits = true;
  for (const Digit& d : flat.thread_digits()) fits &= AppendParts(d, shape, strides, thread);
  for (const Digit& d : flat.local_digits()) fits &= AppendParts(d, shape, strides, local);
  if (fits) {
    auto reshaped = RegisterLayout::FromDigits({shape.begin(), shape.end()}, std::move(thread),
                                               std::move(local));
    if (reshaped.ok()) return reshaped;
  }
  return layout_internal::InexpressibleError(
      "reshape", f, absl::StrCat("its modes straddle the dimensions of ", ListText(shape)));
}

}  // namespace tilus

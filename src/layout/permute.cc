#include "layout/permute.h"

#include "absl/strings/str_cat.h"
#include "layout/layout_errors.h"

namespace tilus {

absl::StatusOr<RegisterLayout> Permute(const RegisterLayout& f, absl::Span<const int64_t> order) {
  const auto error = [&] {
    return layout_internal::OperandError(
        "permute", f,
        absl::StrCat(layout_internal::ListText(order), " is no permutation of its ", f.rank(),
                     " dimensions"));
  };
  if (order.size() != static_cast<size_t>(f.rank())) return error();
  std::vector<int> to_dim(f.rank(), -1);  // the inverse of `order`
  std::vector<int64_t> shape;
  for (int d = 0; d < f.rank(); ++d) {
    if (order[d] < 0 || order[d] >= f.rank() || to_dim[order[d]] >= 0) return error();
    to_dim[order[d]] = d;
    shape.push_back(f.shape()[order[d]]);
  }
  std::vector<Digit> thread(f.thread_digits().begin(), f.thread_digits().end());
  std::vector<Digit> local(f.local_digits().begin(), f.local_digits().end());
  for (std::vector<Digit>* list : {&thread, &local}) {
    for (Digit& digit : *list) {
      if (!digit.replicated()) digit.dim = to_dim[digit.dim];
    }
  }
  return RegisterLayout::FromDigits(std::move(shape), std::move(thread), std::move(local));
}

}  // namespace tilus

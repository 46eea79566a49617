#include "layout/reduce.h"

#include "absl/strings/str_cat.h"
#include "layout/layout_errors.h"

namespace tilus {

absl::StatusOr<RegisterLayout> Reduce(const RegisterLayout& f, absl::Span<const int64_t> dims) {
  std::vector<bool> reduced(f.rank());
  std::vector<int64_t> shape(f.shape().begin(), f.shape().end());
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= f.rank()) {
      return layout_internal::OperandError("reduce", f,
                                           absl::StrCat("there is no dimension ", dim));
    }
    reduced[dim] = true;
    shape[dim] = 1;
  }
  std::vector<Digit> thread, local;
  for (Digit digit : f.thread_digits()) {
    if (!digit.replicated() && reduced[digit.dim]) digit.dim = Digit::kReplicated;
    thread.push_back(digit);
  }
  for (const Digit& digit : f.local_digits()) {
    if (!reduced[digit.dim]) local.push_back(digit);
  }
  return RegisterLayout::FromDigits(std::move(shape), std::move(thread), std::move(local));
}

}  // namespace tilus

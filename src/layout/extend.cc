#include "layout/extend.h"

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "layout/compose.h"
#include "layout/layout_errors.h"

namespace tilus {

using layout_internal::OperandError;

absl::StatusOr<RegisterLayout> Concat(const RegisterLayout& f, const RegisterLayout& g) {
  std::vector<int64_t> shape(f.shape().begin(), f.shape().end());
  shape.insert(shape.end(), g.shape().begin(), g.shape().end());
  auto join = [&](absl::Span<const Digit> outer, absl::Span<const Digit> inner) {
    std::vector<Digit> digits(outer.begin(), outer.end());
    for (Digit digit : inner) {
      if (!digit.replicated()) digit.dim += f.rank();
      digits.push_back(digit);
    }
    return digits;
  };
  return RegisterLayout::FromDigits(std::move(shape), join(f.thread_digits(), g.thread_digits()),
                                    join(f.local_digits(), g.local_digits()));
}

absl::StatusOr<RegisterLayout> Tile(const RegisterLayout& f, absl::Span<const int64_t> n) {
  TILUS_ASSIGN_OR_RETURN(const RegisterLayout copies, RegisterLayout::Local(n));
  return Compose(copies, f);
}

absl::StatusOr<RegisterLayout> Repeat(const RegisterLayout& f, absl::Span<const int64_t> n) {
  TILUS_ASSIGN_OR_RETURN(const RegisterLayout block, RegisterLayout::Local(n));
  return Compose(f, block);
}

absl::StatusOr<RegisterLayout> Broadcast(const RegisterLayout& f, int dim, int64_t n) {
  if (dim < 0 || dim >= f.rank() || f.shape()[dim] != 1) {
    return OperandError("broadcast", f, absl::StrCat("dimension ", dim, " is none of extent 1"));
  }
  std::vector<int64_t> block(f.rank(), 1);
  block[dim] = n;
  return Repeat(f, block);
}

absl::StatusOr<RegisterLayout> Complement(const RegisterLayout& f, int64_t threads) {
  if (threads < 1 || threads % f.num_threads() != 0) {
    return OperandError(
        "complement", f,
        absl::StrCat(threads, " threads are no positive multiple of its ", f.num_threads()));
  }
  TILUS_ASSIGN_OR_RETURN(const RegisterLayout copies,
                         RegisterLayout::Replicated(threads / f.num_threads(), f.rank()));
  return Compose(copies, f);
}

}  // namespace tilus

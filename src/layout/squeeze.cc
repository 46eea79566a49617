#include "layout/squeeze.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "layout/layout_errors.h"

namespace tilus {
namespace {

using layout_internal::ListText;
using layout_internal::OperandError;

// Which of `rank` positions `dims` names; each at most once.
absl::StatusOr<std::vector<bool>> Marked(absl::string_view operation, const RegisterLayout& f,
                                         absl::Span<const int64_t> dims, int rank) {
  std::vector<bool> marked(rank);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank || marked[dim]) {
      return OperandError(operation, f,
                          absl::StrCat("dimension ", dim, " of ", ListText(dims),
                                       " is outside rank ", rank, " or named twice"));
    }
    marked[dim] = true;
  }
  return marked;
}

// The layout with f's dimension d renamed to_dim[d]; `shape` agrees.
absl::StatusOr<RegisterLayout> Rename(const RegisterLayout& f, std::vector<int64_t> shape,
                                      absl::Span<const int> to_dim) {
  std::vector<Digit> thread(f.thread_digits().begin(), f.thread_digits().end());
  std::vector<Digit> local(f.local_digits().begin(), f.local_digits().end());
  for (std::vector<Digit>* list : {&thread, &local}) {
    for (Digit& digit : *list) {
      if (!digit.replicated()) digit.dim = to_dim[digit.dim];
    }
  }
  return RegisterLayout::FromDigits(std::move(shape), std::move(thread), std::move(local));
}

}  // namespace

absl::StatusOr<RegisterLayout> Squeeze(const RegisterLayout& f, absl::Span<const int64_t> dims) {
  TILUS_ASSIGN_OR_RETURN(const std::vector<bool> removed, Marked("squeeze", f, dims, f.rank()));
  std::vector<int64_t> shape;
  std::vector<int> to_dim(f.rank());
  for (int d = 0; d < f.rank(); ++d) {
    to_dim[d] = static_cast<int>(shape.size());
    if (!removed[d]) {
      shape.push_back(f.shape()[d]);
    } else if (f.shape()[d] != 1) {
      return OperandError("squeeze", f,
                          absl::StrCat("dimension ", d, " has the extent ", f.shape()[d]));
    }
  }
  return Rename(f, std::move(shape), to_dim);
}

absl::StatusOr<RegisterLayout> Unsqueeze(const RegisterLayout& f, absl::Span<const int64_t> dims) {
  if (dims.size() > static_cast<size_t>(kMaxLayoutRank - f.rank())) {
    return MakeError(DiagId::kLayoutRank,
                     absl::StrCat("unsqueeze of ", f.ToString(), " by ", dims.size(),
                                  " dimensions exceeds the limit of ", kMaxLayoutRank));
  }
  const int rank = f.rank() + static_cast<int>(dims.size());
  TILUS_ASSIGN_OR_RETURN(const std::vector<bool> inserted, Marked("unsqueeze", f, dims, rank));
  std::vector<int64_t> shape;
  std::vector<int> to_dim;
  for (int d = 0; d < rank; ++d) {
    shape.push_back(inserted[d] ? 1 : f.shape()[to_dim.size()]);
    if (!inserted[d]) to_dim.push_back(d);
  }
  return Rename(f, std::move(shape), to_dim);
}

RegisterLayout PadRank(const RegisterLayout& f, int rank) {
  std::vector<int64_t> lead(rank - f.rank());
  if (lead.empty()) return f;
  std::iota(lead.begin(), lead.end(), 0);
  return *Unsqueeze(f, lead);
}

}  // namespace tilus

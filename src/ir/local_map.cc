#include "ir/local_map.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"

namespace tilus::ir {
namespace {

// The row-major place in the operand of what a digit list of either layout says, as a sum: one
// term a digit, its weight 0 where the projection takes coordinate 0.
class Places {
 public:
  Places(absl::Span<const Digit> digits, int lead, absl::Span<const int64_t> operand_shape) {
    absl::InlinedVector<int64_t, 8> weights(operand_shape.size());
    int64_t weight = 1;
    for (size_t d = operand_shape.size(); d-- > 0;) {
      weights[d] = operand_shape[d] == 1 ? 0 : weight;
      weight *= operand_shape[d];
    }
    for (const Digit& digit : digits) {
      const int dim = digit.dim - lead;
      if (digit.replicated() || dim < 0 || weights[static_cast<size_t>(dim)] == 0) continue;
      terms_.push_back({digit, digit.stride * weights[static_cast<size_t>(dim)]});
    }
  }

  int64_t Of(int64_t index) const {
    int64_t place = 0;
    for (const Term& term : terms_) place += term.digit.Of(index) * term.weight;
    return place;
  }

 private:
  struct Term {
    Digit digit;
    int64_t weight;
  };
  absl::InlinedVector<Term, 8> terms_;
};

bool ShapesFit(const RegisterLayout& result, const RegisterLayout& operand) {
  if (operand.rank() > result.rank()) return false;
  const size_t lead = static_cast<size_t>(result.rank() - operand.rank());
  for (size_t d = 0; d < operand.shape().size(); ++d) {
    if (operand.shape()[d] != 1 && operand.shape()[d] != result.shape()[lead + d]) return false;
  }
  return true;
}

}  // namespace

std::optional<std::vector<int>> LocalMap(const RegisterLayout& result,
                                         const RegisterLayout& operand) {
  if (!ShapesFit(result, operand) || result.num_threads() != operand.num_threads()) {
    return std::nullopt;
  }
  const int64_t locals = result.locals_per_thread();
  std::vector<int> map(static_cast<size_t>(locals));
  if (result == operand) {
    for (size_t i = 0; i < map.size(); ++i) map[i] = static_cast<int>(i);
    return map;
  }
  // Both layouts are sums of a thread part and a local part, each 0 at 0, and so are places. Hence
  // f_operand(t, j) == project(f_result(t, i)) for all t means that the thread parts agree at every
  // t (take i = j = 0) and then that the local parts agree.
  const int lead = result.rank() - operand.rank();
  const Places result_threads(result.thread_digits(), lead, operand.shape());
  const Places operand_threads(operand.thread_digits(), 0, operand.shape());
  for (int64_t t = 0; t < result.num_threads(); ++t) {
    if (result_threads.Of(t) != operand_threads.Of(t)) return std::nullopt;
  }
  const Places result_locals(result.local_digits(), lead, operand.shape());
  const Places operand_locals(operand.local_digits(), 0, operand.shape());
  absl::flat_hash_map<int64_t, int> local_at;
  for (int64_t j = 0; j < operand.locals_per_thread(); ++j) {
    local_at.emplace(operand_locals.Of(j), static_cast<int>(j));
  }
  for (int64_t i = 0; i < locals; ++i) {
    const auto found = local_at.find(result_locals.Of(i));
    if (found == local_at.end()) return std::nullopt;
    map[static_cast<size_t>(i)] = found->second;
  }
  return map;
}

}  // namespace tilus::ir

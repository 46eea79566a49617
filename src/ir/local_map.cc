#include "ir/local_map.h"

#include "absl/container/flat_hash_map.h"

namespace tilus::ir {
namespace {

// The row-major place of a result's coordinate in the operand, after projection.
class Projection {
 public:
  Projection(const RegisterLayout& result, const RegisterLayout& operand)
      : lead_(static_cast<size_t>(result.rank() - operand.rank())), shape_(operand.shape()) {}

  int64_t Place(const std::vector<int64_t>& index) const {
    int64_t place = 0;
    for (size_t d = 0; d < shape_.size(); ++d) {
      place = place * shape_[d] + (shape_[d] == 1 ? 0 : index[lead_ + d]);
    }
    return place;
  }

 private:
  size_t lead_;
  absl::Span<const int64_t> shape_;
};

int64_t RowMajor(absl::Span<const int64_t> shape, const std::vector<int64_t>& index) {
  int64_t place = 0;
  for (size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + index[d];
  return place;
}

bool ShapesFit(const RegisterLayout& result, const RegisterLayout& operand) {
  if (operand.rank() > result.rank()) return false;
  const size_t lead = static_cast<size_t>(result.rank() - operand.rank());
  for (size_t d = 0; d < operand.shape().size(); ++d) {
    if (operand.shape()[d] != 1 && operand.shape()[d] != result.shape()[lead + d]) return false;
  }
  return true;
}

// Both layouts are sums of a thread part and a local part, and so is the row-major place. With
// equal thread parts, f_operand(t, j) == project(f_result(t, i)) for all t is equality of the
// local parts. The parts must be compared as functions of t alone, so equal at every t: two sums
// can only differ by a constant, and both are 0 at t = 0 and at i = 0.
bool SameThreadParts(const RegisterLayout& result, const RegisterLayout& operand,
                     const Projection& projection) {
  for (int64_t t = 0; t < result.num_threads(); ++t) {
    if (projection.Place(result.SpatialPart(t)) !=
        RowMajor(operand.shape(), operand.SpatialPart(t))) {
      return false;
    }
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
  const Projection projection(result, operand);
  if (!SameThreadParts(result, operand, projection)) return std::nullopt;
  absl::flat_hash_map<int64_t, int> local_at;
  for (int64_t j = 0; j < operand.locals_per_thread(); ++j) {
    local_at.emplace(RowMajor(operand.shape(), operand.LocalPart(j)), static_cast<int>(j));
  }
  for (int64_t i = 0; i < locals; ++i) {
    const auto found = local_at.find(projection.Place(result.LocalPart(i)));
    if (found == local_at.end()) return std::nullopt;
    map[static_cast<size_t>(i)] = found->second;
  }
  return map;
}

}  // namespace tilus::ir

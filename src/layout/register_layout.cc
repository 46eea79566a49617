#include "layout/register_layout.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "layout/layout_errors.h"
#include "layout/modes.h"

namespace tilus {
namespace {

using layout_internal::CheckShape;
using layout_internal::DimensionsOfModes;
using layout_internal::ListText;

// Every mode is in one of the lists exactly once, and replication entries are sound.
absl::Status CheckLists(absl::Span<const int64_t> modes, absl::Span<const int64_t> spatial,
                        absl::Span<const int64_t> local) {
  std::vector<bool> used(modes.size());
  auto take = [&](int64_t mode) {
    if (mode < 0 || mode >= static_cast<int64_t>(modes.size()) || used[mode]) return false;
    used[mode] = true;
    return true;
  };
  auto error = [&](absl::string_view list, int64_t entry, absl::string_view problem) {
    return MakeError(
        DiagId::kLayoutModes,
        absl::StrCat("entry ", entry, " of ", list, " ", problem, " (", modes.size(),
                     " modes, spatial ", ListText(spatial), ", local ", ListText(local), ")"),
        "each mode is named once, in one list; replication is -k with k > 1");
  };
  for (int64_t entry : spatial) {
    if (entry == -1) return error("spatial", entry, "replicates over one thread");
    if (entry >= 0 && !take(entry)) return error("spatial", entry, "is no mode or is used twice");
  }
  for (int64_t entry : local) {
    if (entry < 0) return error("local", entry, "is negative; only threads replicate");
    if (!take(entry)) return error("local", entry, "is no mode or is used twice");
  }
  const auto unused = std::find(used.begin(), used.end(), false);
  if (unused != used.end()) {
    return MakeError(DiagId::kLayoutModes,
                     absl::StrCat("mode ", unused - used.begin(), " is in neither list (spatial ",
                                  ListText(spatial), ", local ", ListText(local), ")"));
  }
  return absl::OkStatus();
}

absl::Status CheckThreads(absl::Span<const int64_t> extents, absl::string_view list) {
  const std::optional<int64_t> threads = CheckedProduct(extents);
  if (threads.has_value() && *threads <= kMaxLayoutElements) return absl::OkStatus();
  return MakeError(DiagId::kLayoutTooLarge, absl::StrCat("spatial ", list, " makes more than ",
                                                         kMaxLayoutElements, " threads"));
}

// The digits of each dimension, ordered by stride, are a mixed-radix numeral of it.
absl::Status CheckTiling(absl::Span<const int64_t> shape, absl::Span<const Digit> thread,
                         absl::Span<const Digit> local) {
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
    std::vector<std::pair<int64_t, int64_t>> digits;  // (stride, extent)
    for (absl::Span<const Digit> list : {thread, local}) {
      for (const Digit& digit : list) {
        if (digit.dim == d && digit.extent > 1) digits.emplace_back(digit.stride, digit.extent);
      }
    }
    std::sort(digits.begin(), digits.end());
    int64_t filled = 1;
    for (auto [stride, extent] : digits) {
      if (stride != filled || shape[d] / filled < extent) filled = -1;
      if (filled < 0) break;
      filled *= extent;
    }
    if (filled != shape[d]) {
      return MakeError(DiagId::kLayoutModes, absl::StrCat("the digits do not tile dimension ", d,
                                                          " of shape ", ListText(shape)));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDigits(absl::Span<const Digit> digits, int rank, absl::string_view list) {
  const bool is_local = list == "local";
  for (const Digit& digit : digits) {
    if (digit.extent < 1) {
      return MakeError(DiagId::kLayoutExtent,
                       absl::StrCat("a ", list, " digit has the extent ", digit.extent));
    }
    if (digit.dim >= rank || digit.dim < Digit::kReplicated || (is_local && digit.replicated())) {
      return MakeError(DiagId::kLayoutModes,
                       absl::StrCat("a ", list, " digit moves in dimension ", digit.dim,
                                    " of a layout of rank ", rank));
    }
  }
  return absl::OkStatus();
}

// Drops digits of extent 1, and fuses neighbours that continue each other. One pass suffices: the
// condition for (a, bc) is that for (a, b), since fusion keeps the outer end of bc.
template <typename List>
RegisterLayout::Digits Fuse(const List& digits) {
  RegisterLayout::Digits fused;
  for (Digit digit : digits) {
    if (digit.extent == 1) continue;
    if (digit.replicated()) digit.stride = 0;
    if (!fused.empty() && fused.back().dim == digit.dim &&
        fused.back().stride == digit.stride * digit.extent) {
      digit.extent *= fused.back().extent;
      fused.back() = digit;
    } else {
      fused.push_back(digit);
    }
  }
  return fused;
}

// @return the product of the extents.
int64_t SetDivisors(RegisterLayout::Digits& digits) {
  int64_t divisor = 1;
  for (auto it = digits.rbegin(); it != digits.rend(); ++it) {
    it->divisor = divisor;
    divisor *= it->extent;
  }
  return divisor;
}

enum class Order { kRow, kColumn };

std::vector<Digit> PrimitiveDigits(absl::Span<const int64_t> extents, Order order) {
  std::vector<Digit> digits;
  for (size_t d = 0; d < extents.size(); ++d) {
    digits.push_back({.dim = static_cast<int>(d), .extent = extents[d], .stride = 1});
  }
  if (order == Order::kColumn) std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace

absl::StatusOr<RegisterLayout> RegisterLayout::Create(std::vector<int64_t> shape,
                                                      std::vector<int64_t> mode_shape,
                                                      std::vector<int64_t> spatial_modes,
                                                      std::vector<int64_t> local_modes) {
  TILUS_RETURN_IF_ERROR(CheckShape("the shape", shape));
  for (const auto* list : {&mode_shape, &spatial_modes, &local_modes}) {
    if (list->size() > static_cast<size_t>(kMaxLayoutModes)) {
      return MakeError(DiagId::kLayoutModes,
                       absl::StrCat("a list of ", list->size(),
                                    " modes is longer than the limit of ", kMaxLayoutModes));
    }
  }
  TILUS_RETURN_IF_ERROR(DimensionsOfModes(shape, mode_shape).status());
  TILUS_RETURN_IF_ERROR(CheckLists(mode_shape, spatial_modes, local_modes));
  std::vector<int64_t> thread_extents;
  for (int64_t entry : spatial_modes) {
    if (entry < -kMaxLayoutElements)
      return CheckThreads({kMaxLayoutElements, 2}, ListText(spatial_modes));
    thread_extents.push_back(entry < 0 ? -entry : mode_shape[entry]);
  }
  TILUS_RETURN_IF_ERROR(CheckThreads(thread_extents, ListText(spatial_modes)));

  RegisterLayout layout;
  layout.shape_.assign(shape.begin(), shape.end());
  layout.mode_shape_.assign(mode_shape.begin(), mode_shape.end());
  layout.spatial_modes_.assign(spatial_modes.begin(), spatial_modes.end());
  layout.local_modes_.assign(local_modes.begin(), local_modes.end());
  layout.IndexDigits();
  return layout;
}

void RegisterLayout::IndexDigits() {
  const std::vector<int> dims = *DimensionsOfModes(shape_, mode_shape_);
  const std::vector<int64_t> strides = layout_internal::StridesOfModes(dims, mode_shape_);
  auto digits_of = [&](const Extents& entries) {
    Digits digits;
    for (int64_t entry : entries) {
      if (entry < 0) {
        digits.push_back({.extent = -entry});
      } else if (mode_shape_[entry] > 1) {
        digits.push_back(
            {.dim = dims[entry], .extent = mode_shape_[entry], .stride = strides[entry]});
      }
    }
    return digits;
  };
  thread_digits_ = digits_of(spatial_modes_);
  local_digits_ = digits_of(local_modes_);
  num_threads_ = SetDivisors(thread_digits_);
  locals_per_thread_ = SetDivisors(local_digits_);
  size_ = Product(shape_);
}

absl::StatusOr<RegisterLayout> RegisterLayout::FromDigits(std::vector<int64_t> shape,
                                                          std::vector<Digit> thread,
                                                          std::vector<Digit> local) {
  TILUS_RETURN_IF_ERROR(CheckShape("the shape", shape));
  const int rank = static_cast<int>(shape.size());
  TILUS_RETURN_IF_ERROR(CheckDigits(thread, rank, "thread"));
  TILUS_RETURN_IF_ERROR(CheckDigits(local, rank, "local"));
  std::vector<int64_t> thread_extents;
  for (const Digit& digit : thread) thread_extents.push_back(digit.extent);
  TILUS_RETURN_IF_ERROR(CheckThreads(thread_extents, ListText(thread_extents)));
  TILUS_RETURN_IF_ERROR(CheckTiling(shape, thread, local));

  RegisterLayout layout;
  layout.shape_.assign(shape.begin(), shape.end());
  layout.thread_digits_ = Fuse(thread);
  layout.local_digits_ = Fuse(local);
  layout.SpellModes();
  return layout;
}

void RegisterLayout::SpellModes() {
  std::vector<const Digit*> modes;
  for (const Digits* list : {&thread_digits_, &local_digits_}) {
    for (const Digit& digit : *list) {
      if (!digit.replicated()) modes.push_back(&digit);
    }
  }
  std::sort(modes.begin(), modes.end(), [](const Digit* a, const Digit* b) {
    return a->dim != b->dim ? a->dim < b->dim : a->stride > b->stride;
  });
  mode_shape_.clear();
  for (const Digit* mode : modes) mode_shape_.push_back(mode->extent);
  auto entries_of = [&](const Digits& digits) {
    Extents entries;
    for (const Digit& digit : digits) {
      entries.push_back(digit.replicated()
                            ? -digit.extent
                            : std::find(modes.begin(), modes.end(), &digit) - modes.begin());
    }
    return entries;
  };
  spatial_modes_ = entries_of(thread_digits_);
  local_modes_ = entries_of(local_digits_);
  num_threads_ = SetDivisors(thread_digits_);
  locals_per_thread_ = SetDivisors(local_digits_);
  size_ = Product(shape_);
}

absl::StatusOr<RegisterLayout> RegisterLayout::Spatial(absl::Span<const int64_t> extents) {
  return FromDigits({extents.begin(), extents.end()}, PrimitiveDigits(extents, Order::kRow), {});
}

absl::StatusOr<RegisterLayout> RegisterLayout::Local(absl::Span<const int64_t> extents) {
  return FromDigits({extents.begin(), extents.end()}, {}, PrimitiveDigits(extents, Order::kRow));
}

absl::StatusOr<RegisterLayout> RegisterLayout::ColumnSpatial(absl::Span<const int64_t> extents) {
  return FromDigits({extents.begin(), extents.end()}, PrimitiveDigits(extents, Order::kColumn), {});
}

absl::StatusOr<RegisterLayout> RegisterLayout::ColumnLocal(absl::Span<const int64_t> extents) {
  return FromDigits({extents.begin(), extents.end()}, {}, PrimitiveDigits(extents, Order::kColumn));
}

absl::StatusOr<RegisterLayout> RegisterLayout::Replicated(int64_t k, int rank) {
  if (rank < 0 || rank > kMaxLayoutRank) {
    return MakeError(DiagId::kLayoutRank,
                     absl::StrCat("replication of rank ", rank, ", the limit is ", kMaxLayoutRank));
  }
  return FromDigits(std::vector<int64_t>(rank, 1), {{.extent = k}}, {});
}

void RegisterLayout::MapInto(int64_t thread, int64_t local, absl::Span<int64_t> index) const {
  std::fill(index.begin(), index.end(), 0);
  for (const Digit& digit : thread_digits_) {
    if (!digit.replicated()) index[digit.dim] += digit.Of(thread) * digit.stride;
  }
  for (const Digit& digit : local_digits_) index[digit.dim] += digit.Of(local) * digit.stride;
}

std::vector<int64_t> RegisterLayout::Map(int64_t thread, int64_t local) const {
  std::vector<int64_t> index(shape_.size());
  MapInto(thread, local, absl::MakeSpan(index));
  return index;
}

int64_t RegisterLayout::MapLinear(int64_t thread, int64_t local) const {
  int64_t index[kMaxLayoutRank];
  MapInto(thread, local, absl::MakeSpan(index, shape_.size()));
  int64_t linear = 0;
  for (size_t d = 0; d < shape_.size(); ++d) linear = linear * shape_[d] + index[d];
  return linear;
}

std::vector<int64_t> RegisterLayout::SpatialPart(int64_t thread) const { return Map(thread, 0); }

std::vector<int64_t> RegisterLayout::LocalPart(int64_t local) const { return Map(0, local); }

std::vector<RegisterLayout::Term> RegisterLayout::SpatialTerms() const {
  std::vector<Term> terms;
  for (const Digit& digit : thread_digits_) {
    if (digit.replicated()) continue;
    terms.push_back({digit.dim, digit.divisor, digit.extent, digit.stride});
  }
  return terms;
}

RegisterLayout::Owner RegisterLayout::FirstOwner(absl::Span<const int64_t> index) const {
  Owner owner{0, 0};
  auto digit_of = [&](const Digit& digit) {
    return index[digit.dim] / digit.stride % digit.extent * digit.divisor;
  };
  for (const Digit& digit : thread_digits_) {
    if (!digit.replicated()) owner.thread += digit_of(digit);
  }
  for (const Digit& digit : local_digits_) owner.local += digit_of(digit);
  return owner;
}

std::vector<RegisterLayout::Owner> RegisterLayout::Owners(absl::Span<const int64_t> index) const {
  std::vector<Owner> owners = {FirstOwner(index)};
  owners.reserve(replication());
  // Outermost replication first keeps the threads ascending.
  for (const Digit& digit : thread_digits_) {
    if (!digit.replicated()) continue;
    std::vector<Owner> copies;
    copies.reserve(owners.size() * digit.extent);
    for (const Owner& owner : owners) {
      for (int64_t c = 0; c < digit.extent; ++c) {
        copies.push_back({owner.thread + c * digit.divisor, owner.local});
      }
    }
    owners = std::move(copies);
  }
  return owners;
}

RegisterLayout RegisterLayout::Canonical() const {
  RegisterLayout canonical;
  canonical.shape_ = shape_;
  canonical.thread_digits_ = Fuse(thread_digits_);
  canonical.local_digits_ = Fuse(local_digits_);
  canonical.SpellModes();
  return canonical;
}

bool RegisterLayout::SameTuple(const RegisterLayout& other) const {
  return shape_ == other.shape_ && mode_shape_ == other.mode_shape_ &&
         spatial_modes_ == other.spatial_modes_ && local_modes_ == other.local_modes_;
}

bool RegisterLayout::operator==(const RegisterLayout& other) const {
  if (shape_ != other.shape_ || num_threads_ != other.num_threads_) return false;
  return SameTuple(other) || Canonical().SameTuple(other.Canonical());
}

}  // namespace tilus

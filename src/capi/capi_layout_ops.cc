#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "capi/guard.h"
#include "capi/layout_handle.h"
#include "layout/auto_layout.h"
#include "layout/compose.h"
#include "layout/divide.h"
#include "layout/extend.h"
#include "layout/permute.h"
#include "layout/reduce.h"
#include "layout/reshape.h"
#include "layout/slice.h"
#include "layout/squeeze.h"

namespace tilus::capi {
namespace {

// The three shapes that operations come in: of one layout, of two, of one and a list of integers.
// `operation` returns the result as StatusOr.

template <typename Operation>
tilus_error* Apply(const tilus_layout* layout, tilus_layout** out, Operation operation) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(layout, "layout"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    return GiveLayout(operation(layout->layout), out);
  });
}

using BinaryOperation = absl::StatusOr<RegisterLayout> (*)(const RegisterLayout&,
                                                           const RegisterLayout&);
struct Operand {
  const tilus_layout* layout;
  const char* name;
};

tilus_error* ApplyToTwo(BinaryOperation operation, Operand a, Operand b, tilus_layout** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(a.layout, a.name));
    TILUS_RETURN_IF_ERROR(NotNull(b.layout, b.name));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    return GiveLayout(operation(a.layout->layout, b.layout->layout), out);
  });
}

using ListOperation = absl::StatusOr<RegisterLayout> (*)(const RegisterLayout&,
                                                         absl::Span<const int64_t>);
struct List {
  const int64_t* data;
  size_t count;
  const char* name;
};

tilus_error* ApplyWithList(ListOperation operation, const tilus_layout* layout, List list,
                           tilus_layout** out) {
  return Apply(layout, out, [&](const RegisterLayout& f) -> absl::StatusOr<RegisterLayout> {
    TILUS_ASSIGN_OR_RETURN(const auto values, ListOf(list.data, list.count, list.name));
    return operation(f, values);
  });
}

}  // namespace
}  // namespace tilus::capi

using namespace tilus::capi;  // the entries below are in the global namespace
using tilus::RegisterLayout;

tilus_error* tilus_layout_compose(const tilus_layout* f, const tilus_layout* g,
                                  tilus_layout** out) {
  return ApplyToTwo(tilus::Compose, {f, "f"}, {g, "g"}, out);
}

tilus_error* tilus_layout_divide(const tilus_layout* h, const tilus_layout* g,
                                 tilus_layout** out) {
  return ApplyToTwo(tilus::Divide, {h, "h"}, {g, "g"}, out);
}

tilus_error* tilus_layout_left_divide(const tilus_layout* h, const tilus_layout* f,
                                      tilus_layout** out) {
  return ApplyToTwo(tilus::LeftDivide, {h, "h"}, {f, "f"}, out);
}

tilus_error* tilus_layout_concat(const tilus_layout* f, const tilus_layout* g,
                                 tilus_layout** out) {
  return ApplyToTwo(tilus::Concat, {f, "f"}, {g, "g"}, out);
}

tilus_error* tilus_layout_canonical(const tilus_layout* layout, tilus_layout** out) {
  return Apply(layout, out, [](const RegisterLayout& f) -> absl::StatusOr<RegisterLayout> {
    return f.Canonical();
  });
}

tilus_error* tilus_layout_reduce(const tilus_layout* layout, const int64_t* dims, size_t count,
                                 tilus_layout** out) {
  return ApplyWithList(tilus::Reduce, layout, {dims, count, "dims"}, out);
}

tilus_error* tilus_layout_permute(const tilus_layout* layout, const int64_t* dims, size_t count,
                                  tilus_layout** out) {
  return ApplyWithList(tilus::Permute, layout, {dims, count, "dims"}, out);
}

tilus_error* tilus_layout_squeeze(const tilus_layout* layout, const int64_t* dims, size_t count,
                                  tilus_layout** out) {
  return ApplyWithList(tilus::Squeeze, layout, {dims, count, "dims"}, out);
}

tilus_error* tilus_layout_unsqueeze(const tilus_layout* layout, const int64_t* dims, size_t count,
                                    tilus_layout** out) {
  return ApplyWithList(tilus::Unsqueeze, layout, {dims, count, "dims"}, out);
}

tilus_error* tilus_layout_reshape(const tilus_layout* layout, const int64_t* shape, size_t rank,
                                  tilus_layout** out) {
  return ApplyWithList(tilus::Reshape, layout, {shape, rank, "shape"}, out);
}

tilus_error* tilus_layout_flatten(const tilus_layout* layout, tilus_layout** out) {
  return Apply(layout, out, [](const RegisterLayout& f) -> absl::StatusOr<RegisterLayout> {
    return tilus::Flatten(f);
  });
}

tilus_error* tilus_layout_tile(const tilus_layout* layout, const int64_t* counts, size_t rank,
                               tilus_layout** out) {
  return ApplyWithList(tilus::Tile, layout, {counts, rank, "counts"}, out);
}

tilus_error* tilus_layout_repeat(const tilus_layout* layout, const int64_t* counts, size_t rank,
                                 tilus_layout** out) {
  return ApplyWithList(tilus::Repeat, layout, {counts, rank, "counts"}, out);
}

tilus_error* tilus_layout_slice(const tilus_layout* layout, const int64_t* offset,
                                const int64_t* shape, size_t rank, tilus_layout** out) {
  return Apply(layout, out, [&](const RegisterLayout& f) -> absl::StatusOr<RegisterLayout> {
    TILUS_ASSIGN_OR_RETURN(const auto begin, ListOf(offset, rank, "offset"));
    TILUS_ASSIGN_OR_RETURN(const auto extents, ListOf(shape, rank, "shape"));
    return tilus::Slice(f, begin, extents);
  });
}

tilus_error* tilus_layout_broadcast(const tilus_layout* layout, int64_t dim, int64_t extent,
                                    tilus_layout** out) {
  return Apply(layout, out, [&](const RegisterLayout& f) -> absl::StatusOr<RegisterLayout> {
    const int64_t d = std::clamp<int64_t>(dim, -1, tilus::kMaxLayoutRank);  // -1, 8: no dimension
    return tilus::Broadcast(f, static_cast<int>(d), extent);
  });
}

tilus_error* tilus_layout_auto(const int64_t* shape, size_t rank, int64_t threads,
                               tilus_layout** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const auto extents, ListOf(shape, rank, "shape"));
    return GiveLayout(tilus::AutoLayout(extents, threads), out);
  });
}

tilus_error* tilus_layout_complement(const tilus_layout* layout, int64_t threads,
                                     tilus_layout** out) {
  return Apply(layout, out,
               [&](const RegisterLayout& f) { return tilus::Complement(f, threads); });
}

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "capi/guard.h"
#include "capi/layout_handle.h"
#include "capi/type_code.h"
#include "layout/layout_expression.h"
#include "wire/wire.h"

namespace tilus::capi {
namespace {

std::vector<int64_t> ToVector(absl::Span<const int64_t> list) { return {list.begin(), list.end()}; }

tilus_integers ToIntegers(absl::Span<const int64_t> list) { return {list.data(), list.size()}; }

absl::Status CheckIndex(int64_t value, int64_t count, absl::string_view name,
                        absl::string_view of) {
  if (value >= 0 && value < count) return absl::OkStatus();
  return OutOfRange(name, absl::StrCat(value, " is not one of the ", count, " ", of));
}

// The owners number `first`, first + 1, ... of an element that thread `base` owns: replicated
// coordinates of the thread, counted row-major, lead from one owner to the next.
int64_t OwnerThread(const RegisterLayout& layout, int64_t base, int64_t number) {
  const absl::Span<const Digit> digits = layout.thread_digits();
  for (size_t i = digits.size(); i-- > 0;) {
    if (!digits[i].replicated()) continue;
    base += number % digits[i].extent * digits[i].divisor;
    number /= digits[i].extent;
  }
  return base;
}

}  // namespace
}  // namespace tilus::capi

using namespace tilus::capi;  // the entries below are in the global namespace
using tilus::RegisterLayout;

tilus_error* tilus_layout_parse(tilus_string text, tilus_layout** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(text.data, "text"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const absl::string_view view, TextOf(text, "text"));
    return GiveLayout(tilus::ParseLayout(view), out);
  });
}

tilus_error* tilus_layout_create(const int64_t* shape, size_t rank, const int64_t* modes,
                                 size_t mode_count, const int64_t* spatial, size_t spatial_count,
                                 const int64_t* local, size_t local_count, tilus_layout** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const auto extents, ListOf(shape, rank, "shape"));
    TILUS_ASSIGN_OR_RETURN(const auto factors, ListOf(modes, mode_count, "modes"));
    TILUS_ASSIGN_OR_RETURN(const auto threads, ListOf(spatial, spatial_count, "spatial"));
    TILUS_ASSIGN_OR_RETURN(const auto locals, ListOf(local, local_count, "local"));
    return GiveLayout(RegisterLayout::Create(ToVector(extents), ToVector(factors),
                                             ToVector(threads), ToVector(locals)),
                      out);
  });
}

tilus_error* tilus_layout_decode(tilus_buffer bytes, tilus_layout** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(bytes.data, "bytes"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const absl::string_view view, BytesOf(bytes, "bytes"));
    TILUS_ASSIGN_OR_RETURN(const tilus::LayoutExpression expression,
                           tilus::wire::DecodeLayout(view, tilus::ir::Limits()));
    return GiveLayout(expression.Evaluate(), out);
  });
}

tilus_error* tilus_layout_encode(const tilus_layout* layout, tilus_blob** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(layout, "layout"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    tilus::LayoutExpression expression;
    expression.tuple = layout->layout;
    GiveBlob(tilus::wire::EncodeLayout(expression), out);
    return absl::OkStatus();
  });
}

tilus_error* tilus_layout_text(const tilus_layout* layout, tilus_layout_form form,
                               tilus_blob** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(layout, "layout"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    switch (form) {
      case TILUS_LAYOUT_PRODUCT: GiveBlob(layout->layout.ToString(), out); break;
      case TILUS_LAYOUT_TUPLE: GiveBlob(layout->layout.TupleString(), out); break;
      default:
        return BadArgument("form", absl::StrCat(static_cast<uint32_t>(form), " names no form"));
    }
    return absl::OkStatus();
  });
}

void tilus_layout_destroy(tilus_layout* layout) { delete layout; }

tilus_integers tilus_layout_shape(const tilus_layout* layout) {
  return layout == nullptr ? tilus_integers{nullptr, 0} : ToIntegers(layout->layout.shape());
}

tilus_integers tilus_layout_modes(const tilus_layout* layout) {
  return layout == nullptr ? tilus_integers{nullptr, 0} : ToIntegers(layout->layout.mode_shape());
}

tilus_integers tilus_layout_spatial_modes(const tilus_layout* layout) {
  if (layout == nullptr) return {nullptr, 0};
  return ToIntegers(layout->layout.spatial_modes());
}

tilus_integers tilus_layout_local_modes(const tilus_layout* layout) {
  return layout == nullptr ? tilus_integers{nullptr, 0} : ToIntegers(layout->layout.local_modes());
}

int64_t tilus_layout_threads(const tilus_layout* layout) {
  return layout == nullptr ? 0 : layout->layout.num_threads();
}

int64_t tilus_layout_locals(const tilus_layout* layout) {
  return layout == nullptr ? 0 : layout->layout.locals_per_thread();
}

tilus_error* tilus_layout_map(const tilus_layout* layout, int64_t thread, int64_t local,
                              int64_t* index) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(layout, "layout"));
    TILUS_RETURN_IF_ERROR(NotNull(index, "index"));
    const RegisterLayout& f = layout->layout;
    TILUS_RETURN_IF_ERROR(CheckIndex(thread, f.num_threads(), "thread", "threads"));
    TILUS_RETURN_IF_ERROR(CheckIndex(local, f.locals_per_thread(), "local", "locals"));
    f.MapInto(thread, local, {index, static_cast<size_t>(f.rank())});
    return absl::OkStatus();
  });
}

tilus_error* tilus_layout_table(const tilus_layout* layout, int64_t* out, size_t capacity) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(layout, "layout"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    const RegisterLayout& f = layout->layout;
    const auto size = tilus::CheckedProduct({f.num_threads(), f.locals_per_thread(), f.rank()});
    if (!size || capacity < static_cast<uint64_t>(*size)) {
      return OutOfRange("capacity", absl::StrCat(capacity, " integers do not hold ",
                                                 f.num_threads(), " x ", f.locals_per_thread(),
                                                 " x ", f.rank()));
    }
    const size_t rank = static_cast<size_t>(f.rank());
    for (int64_t t = 0; t < f.num_threads(); ++t) {
      for (int64_t i = 0; i < f.locals_per_thread(); ++i, out += rank) f.MapInto(t, i, {out, rank});
    }
    return absl::OkStatus();
  });
}

tilus_error* tilus_layout_owners(const tilus_layout* layout, const int64_t* index,
                                 int64_t* threads, int64_t* locals, size_t capacity,
                                 size_t* count) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(layout, "layout"));
    TILUS_RETURN_IF_ERROR(NotNull(count, "count"));
    const RegisterLayout& f = layout->layout;
    TILUS_ASSIGN_OR_RETURN(const auto where,
                           ListOf(index, static_cast<size_t>(f.rank()), "index"));
    if (capacity != 0) {
      TILUS_RETURN_IF_ERROR(NotNull(threads, "threads"));
      TILUS_RETURN_IF_ERROR(NotNull(locals, "locals"));
    }
    for (size_t d = 0; d < where.size(); ++d) {
      TILUS_RETURN_IF_ERROR(
          CheckIndex(where[d], f.shape()[d], "index", absl::StrCat("indices of dimension ", d)));
    }
    const RegisterLayout::Owner first = f.FirstOwner(where);
    const auto total = static_cast<size_t>(f.replication());
    for (size_t i = 0; i < std::min(capacity, total); ++i) {
      threads[i] = OwnerThread(f, first.thread, static_cast<int64_t>(i));
      locals[i] = first.local;
    }
    *count = total;
    return absl::OkStatus();
  });
}

tilus_error* tilus_layout_locate(const tilus_layout* layout, tilus_type type, int64_t thread,
                                 int64_t bit, int64_t* index, int64_t* element_bit) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(layout, "layout"));
    TILUS_RETURN_IF_ERROR(NotNull(index, "index"));
    TILUS_RETURN_IF_ERROR(NotNull(element_bit, "element_bit"));
    TILUS_ASSIGN_OR_RETURN(const tilus::DataType t, TypeOf(type, "type"));
    const RegisterLayout& f = layout->layout;
    TILUS_RETURN_IF_ERROR(CheckIndex(thread, f.num_threads(), "thread", "threads"));
    const int64_t bits = f.locals_per_thread() * t.bits();  // below 2^38
    TILUS_RETURN_IF_ERROR(CheckIndex(bit, bits, "bit", "bits of a thread"));
    f.MapInto(thread, bit / t.bits(), {index, static_cast<size_t>(f.rank())});
    *element_bit = bit % t.bits();
    return absl::OkStatus();
  });
}

int32_t tilus_layout_equal(const tilus_layout* a, const tilus_layout* b) {
  if (a == nullptr || b == nullptr) return a == b ? 1 : 0;
  try {
    return a->layout == b->layout ? 1 : 0;
  } catch (...) {  // no memory for the canonical forms
    return 0;
  }
}

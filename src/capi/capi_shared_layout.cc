#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "capi/guard.h"
#include "capi/layout_handle.h"
#include "capi/type_code.h"
#include "layout/bank_conflicts.h"
#include "layout/shared_layout.h"
#include "layout/swizzle.h"

struct tilus_shared_layout {
  tilus::SharedLayout layout;
};

namespace tilus::capi {
namespace {

absl::Status GiveSharedLayout(absl::StatusOr<SharedLayout> layout, tilus_shared_layout** out) {
  TILUS_RETURN_IF_ERROR(layout.status());
  *out = new tilus_shared_layout{*std::move(layout)};
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Swizzle>> SwizzleOf(int64_t base, int64_t bits, int64_t shift) {
  if (bits == 0) return std::optional<Swizzle>();
  for (const int64_t field : {base, bits, shift}) {
    if (field < 0 || field > 63) return BadArgument("swizzle", absl::StrCat(field, " is no bit"));
  }
  return std::optional<Swizzle>(
      Swizzle{static_cast<int>(bits), static_cast<int>(base), static_cast<int>(shift)});
}

// The cost with the widest accesses that the two layouts allow.
absl::StatusOr<tilus_conflicts> CountConflicts(const SharedLayout& shared,
                                               const RegisterLayout& registers, int bits) {
  absl::Status status;
  for (const int bytes : {16, 8, 4, 2, 1}) {
    const auto counted = CountBankConflicts(shared, bits, registers, bytes);
    if (!counted.ok()) {
      status = counted.status();
      continue;
    }
    tilus_conflicts conflicts{};
    conflicts.vector_bytes = bytes;
    conflicts.instructions = counted->accesses;
    conflicts.wavefronts = counted->wavefronts;
    conflicts.ideal = counted->phases;
    return conflicts;
  }
  return status;
}

}  // namespace
}  // namespace tilus::capi

using namespace tilus::capi;  // the entries below are in the global namespace
using tilus::SharedLayout;

tilus_error* tilus_shared_layout_create(const int64_t* shape, const int64_t* strides, size_t rank,
                                        int64_t swizzle_base, int64_t swizzle_bits,
                                        int64_t swizzle_shift, tilus_shared_layout** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const auto extents, ListOf(shape, rank, "shape"));
    TILUS_ASSIGN_OR_RETURN(const auto swizzle,
                           SwizzleOf(swizzle_base, swizzle_bits, swizzle_shift));
    std::vector<int64_t> extent_list(extents.begin(), extents.end());
    if (strides == nullptr) {
      return GiveSharedLayout(SharedLayout::RowMajor(std::move(extent_list), swizzle), out);
    }
    return GiveSharedLayout(
        SharedLayout::Strided(std::move(extent_list), {strides, strides + rank}, swizzle), out);
  });
}

tilus_error* tilus_shared_layout_auto(const int64_t* shape, size_t rank, tilus_type type,
                                      tilus_shared_layout** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const tilus::DataType t, TypeOf(type, "type"));
    TILUS_ASSIGN_OR_RETURN(const auto extents, ListOf(shape, rank, "shape"));
    std::vector<int64_t> extent_list(extents.begin(), extents.end());
    const auto row_bits = tilus::CheckedMul(extents.empty() ? 1 : extents.back(), t.bits());
    std::optional<tilus::Swizzle> swizzle;
    if (row_bits && *row_bits > 0 && *row_bits % 8 == 0) {
      swizzle = tilus::DefaultSwizzle(*row_bits / 8, t.bits());
    }
    return GiveSharedLayout(SharedLayout::RowMajor(std::move(extent_list), swizzle), out);
  });
}

tilus_error* tilus_shared_layout_text(const tilus_shared_layout* layout, tilus_blob** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(layout, "layout"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    GiveBlob(layout->layout.ToString(), out);
    return absl::OkStatus();
  });
}

tilus_error* tilus_shared_layout_offset(const tilus_shared_layout* layout, const int64_t* index,
                                        int64_t* offset) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(layout, "layout"));
    TILUS_RETURN_IF_ERROR(NotNull(offset, "offset"));
    const SharedLayout& shared = layout->layout;
    TILUS_ASSIGN_OR_RETURN(const auto where,
                           ListOf(index, static_cast<size_t>(shared.rank()), "index"));
    for (size_t d = 0; d < where.size(); ++d) {
      if (where[d] >= 0 && where[d] < shared.shape()[d]) continue;
      return OutOfRange("index", absl::StrCat(where[d], " is not one of the ", shared.shape()[d],
                                              " indices of dimension ", d));
    }
    *offset = shared.Offset(where);
    return absl::OkStatus();
  });
}

tilus_error* tilus_shared_layout_conflicts(const tilus_shared_layout* layout,
                                           const tilus_layout* registers, tilus_type type,
                                           tilus_conflicts* out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(layout, "layout"));
    TILUS_RETURN_IF_ERROR(NotNull(registers, "registers"));
    TILUS_RETURN_IF_ERROR(HasRoom(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const tilus::DataType t, TypeOf(type, "type"));
    TILUS_ASSIGN_OR_RETURN(const tilus_conflicts conflicts,
                           CountConflicts(layout->layout, registers->layout, t.bits()));
    FillIfRoom(out, conflicts);
    return absl::OkStatus();
  });
}

void tilus_shared_layout_destroy(tilus_shared_layout* layout) { delete layout; }

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "capi/guard.h"
#include "capi/layout_handle.h"
#include "capi/type_code.h"
#include "layout/weight_transform.h"

namespace tilus::capi {
namespace {

// A matrix and the way it is packed, as the caller gave them.
struct Request {
  tilus_type type;
  const tilus_layout* layout;
  int64_t rows, columns, k_dim;
};

absl::StatusOr<TransformDescriptor> PlanOf(const Request& request) {
  TILUS_RETURN_IF_ERROR(NotNull(request.layout, "layout"));
  TILUS_ASSIGN_OR_RETURN(const DataType type, TypeOf(request.type, "type"));
  if (request.k_dim != 0 && request.k_dim != 1) {
    return BadArgument("k_dim", absl::StrCat(request.k_dim, " is neither 0 nor 1"));
  }
  return PlanTransform(type.bits(), request.layout->layout, static_cast<int>(request.k_dim));
}

// The number of codes; the transform has checked that rows and columns are positive.
absl::StatusOr<size_t> CodeCount(const Request& request, uint32_t code_bytes) {
  if (code_bytes != 1 && code_bytes != 2) {
    return BadArgument("code_bytes", absl::StrCat(code_bytes, " is not 1 or 2"));
  }
  const auto count = CheckedMul(request.rows, request.columns);
  if (!count || *count <= 0) {
    return OutOfRange("rows", absl::StrCat("a matrix of ", request.rows, " x ", request.columns));
  }
  return static_cast<size_t>(*count);
}

absl::StatusOr<int64_t> PackedBytesOf(const WeightTransform& transform, const Request& request) {
  TILUS_ASSIGN_OR_RETURN(const WeightTransform::Grid grid,
                         transform.TilesOf(request.rows, request.columns));
  const auto bytes =
      CheckedProduct({grid.rows, grid.columns, transform.descriptor().tile_bytes()});
  if (!bytes) return OutOfRange("rows", "the packed matrix has more bytes than can be counted");
  return *bytes;
}

}  // namespace
}  // namespace tilus::capi

using namespace tilus::capi;  // the entries below are in the global namespace
using tilus::WeightTransform;

tilus_error* tilus_weight_describe(tilus_type type, const tilus_layout* layout, int64_t rows,
                                   int64_t columns, int64_t k_dim, tilus_weight_plan* out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(HasRoom(out, "out"));
    const Request request{type, layout, rows, columns, k_dim};
    TILUS_ASSIGN_OR_RETURN(tilus::TransformDescriptor descriptor, PlanOf(request));
    const WeightTransform transform(std::move(descriptor));
    TILUS_ASSIGN_OR_RETURN(const auto grid, transform.TilesOf(rows, columns));
    tilus_weight_plan plan{};
    plan.repeat = transform.descriptor().repetition;
    plan.tile[0] = transform.descriptor().tile.shape()[0];
    plan.tile[1] = transform.descriptor().tile.shape()[1];
    plan.tiles[0] = grid.rows;
    plan.tiles[1] = grid.columns;
    plan.thread_bytes = transform.descriptor().thread_bytes;
    plan.tile_bytes = transform.descriptor().tile_bytes();
    TILUS_ASSIGN_OR_RETURN(plan.bytes, PackedBytesOf(transform, request));
    FillIfRoom(out, plan);
    return absl::OkStatus();
  });
}

tilus_error* tilus_weight_pack(tilus_type type, const tilus_layout* layout, int64_t rows,
                               int64_t columns, int64_t k_dim, const void* codes,
                               uint32_t code_bytes, void* out, size_t out_size) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(codes, "codes"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    const Request request{type, layout, rows, columns, k_dim};
    TILUS_ASSIGN_OR_RETURN(tilus::TransformDescriptor descriptor, PlanOf(request));
    TILUS_ASSIGN_OR_RETURN(const size_t count, CodeCount(request, code_bytes));
    const WeightTransform transform(std::move(descriptor));
    TILUS_ASSIGN_OR_RETURN(const int64_t bytes, PackedBytesOf(transform, request));
    if (out_size < static_cast<uint64_t>(bytes)) {
      return OutOfRange("out_size", absl::StrCat("the packed matrix has ", bytes, " bytes, not ",
                                                 out_size));
    }
    std::vector<uint16_t> wide(count);
    if (code_bytes == 2) {
      std::memcpy(wide.data(), codes, count * 2);
    } else {
      const auto* narrow = static_cast<const uint8_t*>(codes);
      wide.assign(narrow, narrow + count);
    }
    TILUS_ASSIGN_OR_RETURN(const std::vector<uint8_t> packed, transform.Pack(wide, rows, columns));
    std::memcpy(out, packed.data(), packed.size());
    return absl::OkStatus();
  });
}

tilus_error* tilus_weight_unpack(tilus_type type, const tilus_layout* layout, int64_t rows,
                                 int64_t columns, int64_t k_dim, tilus_buffer bytes, void* codes,
                                 uint32_t code_bytes) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(bytes.data, "bytes"));
    TILUS_RETURN_IF_ERROR(NotNull(codes, "codes"));
    const Request request{type, layout, rows, columns, k_dim};
    TILUS_ASSIGN_OR_RETURN(tilus::TransformDescriptor descriptor, PlanOf(request));
    TILUS_ASSIGN_OR_RETURN(const size_t count, CodeCount(request, code_bytes));
    if (descriptor.bits > static_cast<int>(code_bytes) * 8) {
      return BadArgument("code_bytes", absl::StrCat(code_bytes, " bytes do not hold a code of ",
                                                    descriptor.bits, " bits"));
    }
    const WeightTransform transform(std::move(descriptor));
    TILUS_ASSIGN_OR_RETURN(const int64_t needed, PackedBytesOf(transform, request));
    if (bytes.size != static_cast<uint64_t>(needed)) {
      return OutOfRange("bytes", absl::StrCat("the packed matrix has ", needed, " bytes, not ",
                                              bytes.size));
    }
    TILUS_ASSIGN_OR_RETURN(
        const std::vector<uint16_t> wide,
        transform.Unpack({static_cast<const uint8_t*>(bytes.data), bytes.size}, rows, columns));
    if (code_bytes == 2) {
      std::memcpy(codes, wide.data(), count * 2);
    } else {
      std::copy(wide.begin(), wide.end(), static_cast<uint8_t*>(codes));
    }
    return absl::OkStatus();
  });
}

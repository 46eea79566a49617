#include "layout/weight_transform.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "layout/compose.h"
#include "layout/extend.h"

namespace tilus {
namespace {

constexpr int64_t kByteBits = 8;
constexpr int64_t kVectorBytes = 16;  // the widest load of a thread

absl::Status TransformError(absl::string_view problem, absl::string_view hint = {}) {
  return MakeError(DiagId::kWeightTransform, problem, hint);
}

// local(n2).spatial(T).local(n1)
absl::StatusOr<RegisterLayout> BytesLayout(int64_t threads, int64_t vectors, int64_t vector) {
  TILUS_ASSIGN_OR_RETURN(RegisterLayout bytes, RegisterLayout::Spatial({threads}));
  TILUS_ASSIGN_OR_RETURN(bytes, Tile(bytes, {vectors}));
  return Repeat(bytes, {vector});
}

absl::Status CheckOperands(int bits, const RegisterLayout& layout, int k_dim) {
  if (bits < 1 || bits > kMaxWeightBits) {
    return MakeError(DiagId::kElementBits, absl::StrCat("weights of ", bits, " bits are not 1 to ",
                                                        kMaxWeightBits, " bits wide"));
  }
  if (k_dim < 0 || k_dim >= layout.rank()) {
    return TransformError(
        absl::StrCat("the reduction dimension ", k_dim, " is none of ", layout.ToString()));
  }
  if (layout.replication() != 1) {
    return TransformError(
        absl::StrCat(layout.ToString(), " holds each element in ", layout.replication(),
                     " threads; packed weights hold it once"),
        "pack for the layout without replicated(...)");
  }
  return absl::OkStatus();
}

// The part of a matrix that a tile covers, without what sticks out.
struct Window {
  int64_t row, column, rows, columns;
};

template <typename Visit>
void ForEachTile(const WeightTransform::Grid& grid, absl::Span<const int64_t> tile, int64_t rows,
                 int64_t columns, const Visit& visit) {
  for (int64_t n = 0; n < grid.rows * grid.columns; ++n) {
    Window window{n / grid.columns * tile[0], n % grid.columns * tile[1], 0, 0};
    window.rows = std::min(tile[0], rows - window.row);
    window.columns = std::min(tile[1], columns - window.column);
    visit(n, window);
  }
}

}  // namespace

absl::StatusOr<TransformDescriptor> PlanTransform(int bits, const RegisterLayout& layout,
                                                  int k_dim) {
  TILUS_RETURN_IF_ERROR(CheckOperands(bits, layout, k_dim));
  int64_t repetition = 1;
  while (layout.locals_per_thread() * bits * repetition % kByteBits != 0) repetition *= 2;
  return PlanTransform(bits, layout, k_dim, repetition);
}

absl::StatusOr<TransformDescriptor> PlanTransform(int bits, const RegisterLayout& layout, int k_dim,
                                                  int64_t repetition) {
  TILUS_RETURN_IF_ERROR(CheckOperands(bits, layout, k_dim));
  std::vector<int64_t> copies(layout.rank(), 1);
  copies[k_dim] = repetition;
  TransformDescriptor plan;
  plan.bits = bits;
  plan.k_dim = k_dim;
  plan.repetition = repetition;
  plan.layout = layout;
  TILUS_ASSIGN_OR_RETURN(plan.tile, Tile(layout, copies));
  if (plan.tile.size() > kMaxWeightTile) {
    return TransformError(absl::StrCat("a tile of ", plan.tile.size(),
                                       " weights is larger than the limit of ", kMaxWeightTile));
  }
  const int64_t share = plan.tile.locals_per_thread() * bits;
  if (share % kByteBits != 0) {
    return TransformError(absl::StrCat(repetition, " repetitions of ", layout.ToString(),
                                       " give a thread ", share, " bits, not whole bytes"));
  }
  plan.thread_bytes = share / kByteBits;
  plan.vector_bytes = std::gcd(plan.thread_bytes, kVectorBytes);
  TILUS_ASSIGN_OR_RETURN(
      plan.bytes,
      BytesLayout(layout.num_threads(), plan.thread_bytes / plan.vector_bytes, plan.vector_bytes));
  return plan;
}

WeightTransform::WeightTransform(TransformDescriptor descriptor)
    : descriptor_(std::move(descriptor)) {
  const RegisterLayout& tile = descriptor_.tile;
  element_.reserve(tile.size());
  place_.reserve(descriptor_.tile_bytes());
  for (int64_t t = 0; t < tile.num_threads(); ++t) {
    for (int64_t i = 0; i < tile.locals_per_thread(); ++i) {
      element_.push_back(static_cast<int32_t>(tile.MapLinear(t, i)));
    }
    for (int64_t j = 0; j < descriptor_.thread_bytes; ++j) {
      place_.push_back(static_cast<int32_t>(descriptor_.bytes.MapLinear(t, j)));
    }
  }
}

void WeightTransform::PackInto(absl::Span<const uint16_t> codes, absl::Span<uint8_t> bytes) const {
  const int bits = descriptor_.bits;
  uint32_t window = 0;  // bits not yet written, `held` of them
  int held = 0;
  const int32_t* place = place_.data();
  // A thread's share is whole bytes, so the window is empty between threads.
  for (int32_t element : element_) {
    window |= uint32_t{codes[element]} << held;
    held += bits;
    for (; held >= kByteBits; held -= kByteBits, window >>= kByteBits) {
      bytes[*place++] = static_cast<uint8_t>(window);
    }
  }
}

void WeightTransform::UnpackInto(absl::Span<const uint8_t> bytes,
                                 absl::Span<uint16_t> codes) const {
  const int bits = descriptor_.bits;
  const uint32_t mask = (uint32_t{1} << bits) - 1;
  uint32_t window = 0;
  int held = 0;
  const int32_t* place = place_.data();
  for (int32_t element : element_) {
    for (; held < bits; held += kByteBits) window |= uint32_t{bytes[*place++]} << held;
    codes[element] = static_cast<uint16_t>(window & mask);
    window >>= bits;
    held -= bits;
  }
}

absl::Status WeightTransform::CheckCodes(absl::Span<const uint16_t> codes) const {
  const auto wide = std::find_if(codes.begin(), codes.end(),
                                 [this](uint16_t code) { return code >> descriptor_.bits != 0; });
  if (wide == codes.end()) return absl::OkStatus();
  return TransformError(absl::StrCat("code ", *wide, " of element ", wide - codes.begin(),
                                     " does not fit ", descriptor_.bits, " bits"));
}

absl::StatusOr<std::vector<uint8_t>> WeightTransform::PackTile(
    absl::Span<const uint16_t> codes) const {
  if (codes.size() != element_.size()) {
    return TransformError(
        absl::StrCat("a tile has ", element_.size(), " codes, not ", codes.size()));
  }
  TILUS_RETURN_IF_ERROR(CheckCodes(codes));
  std::vector<uint8_t> bytes(place_.size());
  PackInto(codes, absl::MakeSpan(bytes));
  return bytes;
}

absl::StatusOr<std::vector<uint16_t>> WeightTransform::UnpackTile(
    absl::Span<const uint8_t> bytes) const {
  if (bytes.size() != place_.size()) {
    return TransformError(
        absl::StrCat("a packed tile has ", place_.size(), " bytes, not ", bytes.size()));
  }
  std::vector<uint16_t> codes(element_.size());
  UnpackInto(bytes, absl::MakeSpan(codes));
  return codes;
}

absl::StatusOr<WeightTransform::Grid> WeightTransform::TilesOf(int64_t rows,
                                                               int64_t columns) const {
  const RegisterLayout& tile = descriptor_.tile;
  if (tile.rank() != 2) {
    return TransformError(
        absl::StrCat("a matrix is cut into tiles of rank 2, not ", tile.ToString()));
  }
  const std::optional<int64_t> elements = CheckedMul(rows, columns);
  if (rows < 1 || columns < 1 || !elements.has_value()) {
    return TransformError(
        absl::StrCat("a matrix of ", rows, " x ", columns, " weights cannot be packed"));
  }
  return Grid{CeilDiv(rows, tile.shape()[0]), CeilDiv(columns, tile.shape()[1])};
}

absl::StatusOr<std::vector<uint8_t>> WeightTransform::Pack(absl::Span<const uint16_t> codes,
                                                           int64_t rows, int64_t columns) const {
  TILUS_ASSIGN_OR_RETURN(const Grid grid, TilesOf(rows, columns));
  if (static_cast<int64_t>(codes.size()) != rows * columns) {
    return TransformError(absl::StrCat("a matrix of ", rows, " x ", columns, " weights has not ",
                                       codes.size(), " codes"));
  }
  TILUS_RETURN_IF_ERROR(CheckCodes(codes));
  const std::optional<int64_t> size =
      CheckedProduct({grid.rows, grid.columns, descriptor_.tile_bytes()});
  if (!size.has_value() || *size > kMaxPackedBytes) {
    return TransformError(absl::StrCat(grid.rows, " x ", grid.columns, " tiles of ",
                                       descriptor_.tile_bytes(), " bytes exceed ", kMaxPackedBytes,
                                       " bytes"));
  }
  const absl::Span<const int64_t> shape = descriptor_.tile.shape();
  std::vector<uint8_t> packed(*size);
  std::vector<uint16_t> tile(element_.size());
  ForEachTile(grid, shape, rows, columns, [&](int64_t n, const Window& window) {
    if (window.rows < shape[0] || window.columns < shape[1]) std::fill(tile.begin(), tile.end(), 0);
    for (int64_t r = 0; r < window.rows; ++r) {
      const uint16_t* row = codes.data() + (window.row + r) * columns + window.column;
      std::copy_n(row, window.columns, tile.data() + r * shape[1]);
    }
    PackInto(tile, absl::MakeSpan(packed).subspan(n * place_.size(), place_.size()));
  });
  return packed;
}

absl::StatusOr<std::vector<uint16_t>> WeightTransform::Unpack(absl::Span<const uint8_t> bytes,
                                                              int64_t rows, int64_t columns) const {
  TILUS_ASSIGN_OR_RETURN(const Grid grid, TilesOf(rows, columns));
  const std::optional<int64_t> size =
      CheckedProduct({grid.rows, grid.columns, descriptor_.tile_bytes()});
  if (!size.has_value() || static_cast<int64_t>(bytes.size()) != *size) {
    return TransformError(absl::StrCat(bytes.size(), " bytes are not the ", grid.rows, " x ",
                                       grid.columns, " tiles of ", descriptor_.tile_bytes(),
                                       " bytes of a matrix of ", rows, " x ", columns));
  }
  const absl::Span<const int64_t> shape = descriptor_.tile.shape();
  std::vector<uint16_t> codes(rows * columns);
  std::vector<uint16_t> tile(element_.size());
  ForEachTile(grid, shape, rows, columns, [&](int64_t n, const Window& window) {
    UnpackInto(bytes.subspan(n * place_.size(), place_.size()), absl::MakeSpan(tile));
    for (int64_t r = 0; r < window.rows; ++r) {
      std::copy_n(tile.data() + r * shape[1], window.columns,
                  codes.data() + (window.row + r) * columns + window.column);
    }
  });
  return codes;
}

}  // namespace tilus

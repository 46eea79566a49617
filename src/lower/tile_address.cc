#include "lower/tile_address.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "base/checked.h"

namespace tilus::lower {
namespace {

using machine::ImmS32;
using machine::ImmU32;

constexpr int kAnyLog2 = 63;  // what 0 is a multiple of
// Larger constants are computed with at run time, so that no sum here overflows.
constexpr int64_t kMaxStride = int64_t{1} << 31;
constexpr int64_t kMaxOffset = int64_t{1} << 24;

int TrailingZeros(int64_t value) {
  return value == 0 ? kAnyLog2 : std::countr_zero(static_cast<uint64_t>(value));
}

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

bool FitsInt32(int64_t v) {
  return v >= std::numeric_limits<int32_t>::min() && v <= std::numeric_limits<int32_t>::max();
}

bool FitsInt32(const std::optional<ir::Range>& range) {
  return range && FitsInt32(range->min) && FitsInt32(range->max);
}

// Every bit that a number between 0 and `max`, a multiple of 2^log2, can have.
uint32_t PossibleBits(int log2, uint64_t max) {
  if (log2 >= 32) return 0;
  const uint32_t below =
      max >= (uint64_t{1} << 31) ? ~0u : (std::bit_ceil(static_cast<uint32_t>(max) + 1) - 1);
  return below & (~0u << log2);
}

}  // namespace

std::vector<ThreadCoordinate> ThreadCoordinatesOf(Context& ctx, const RegisterLayout& layout) {
  std::vector<ThreadCoordinate> coordinates(static_cast<size_t>(layout.rank()));
  const std::vector<Operand> values = ctx.ThreadCoordinates(layout);
  for (size_t d = 0; d < values.size(); ++d) coordinates[d].value = values[d];
  for (const RegisterLayout::Term& term : layout.SpatialTerms()) {
    coordinates[static_cast<size_t>(term.dim)].steps.push_back({term.extent, term.stride});
  }
  return coordinates;
}

std::vector<ThreadCoordinate> ThreadSteps(int rank, absl::Span<const RegisterLayout::Term> terms) {
  std::vector<ThreadCoordinate> coordinates(static_cast<size_t>(rank));
  for (const RegisterLayout::Term& term : terms) {
    coordinates[static_cast<size_t>(term.dim)].steps.push_back({term.extent, term.stride});
  }
  return coordinates;
}

std::vector<ThreadCoordinate> ThreadCoordinatesHere(Context& ctx, int rank,
                                                    absl::Span<const RegisterLayout::Term> terms) {
  machine::Builder& b = ctx.b();
  std::vector<ThreadCoordinate> coordinates = ThreadSteps(rank, terms);
  for (const RegisterLayout::Term& term : terms) {
    Operand digit = b.DivU32(ctx.ThreadIndex(), ImmU32(static_cast<uint32_t>(term.thread_divisor)));
    if (term.thread_divisor * term.extent < ctx.program().num_threads()) {
      digit = b.RemU32(digit, ImmU32(static_cast<uint32_t>(term.extent)));
    }
    Operand& value = coordinates[static_cast<size_t>(term.dim)].value;
    value = b.AddS32(value, b.MulLoS32(digit, ImmS32(static_cast<int32_t>(term.stride))));
  }
  return coordinates;
}

std::vector<std::vector<int64_t>> LocalParts(const RegisterLayout& layout) {
  std::vector<std::vector<int64_t>> parts;
  parts.reserve(static_cast<size_t>(layout.locals_per_thread()));
  for (int64_t i = 0; i < layout.locals_per_thread(); ++i) parts.push_back(layout.LocalPart(i));
  return parts;
}

TileAddress::TileAddress(Context* ctx, const ir::TensorOperand& tile,
                         const std::optional<std::vector<int>>& dims,
                         absl::Span<const int64_t> shape, std::vector<ThreadCoordinate> thread)
    : ctx_(*ctx), tile_(tile), tensor_(ctx->tensor(tile.tensor)), thread_(std::move(thread)) {
  dims_.resize(static_cast<size_t>(tensor_.rank()));
  for (size_t k = 0; k < shape.size(); ++k) {
    const size_t d = dims ? static_cast<size_t>((*dims)[k]) : dims_.size() - shape.size() + k;
    dims_[d].tile_dims.push_back(static_cast<int>(k));
  }
  FindStrides();
  for (size_t d = 0; d < dims_.size(); ++d) AddDim(tile, d, shape);
  FindVariablePart();
  base_log2_ = is_global() ? TrailingZeros(ctx_.GlobalBaseAlignment(tile.tensor)) + 3
                           : TrailingZeros(tensor_.shared_address) + 3;
  base_log2_ = std::min(base_log2_, kMaxAlignmentLog2);
}

void TileAddress::AddDim(const ir::TensorOperand& tile, size_t d, absl::Span<const int64_t> shape) {
  const ir::Facts& facts = ctx_.facts();
  Dim& dim = dims_[d];
  dim.extent = tensor_.shape[d].get();
  ir::ExprPtr offset = tile.has_offsets ? tile.offsets[d] : ir::IntLiteral(0);
  OffsetParts parts = SplitOffset(ctx_, offset);
  if (parts.constant > kMaxOffset || parts.constant < -kMaxOffset) parts = {offset, 0};
  dim.offset = std::move(parts.variable);
  dim.offset_constant = parts.constant;
  int64_t size = 1;
  for (int k : dim.tile_dims) size += shape[static_cast<size_t>(k)] - 1;
  dim.tested = !facts.Within(*offset, size, *dim.extent);
  dim.narrow = FitsInt32(facts.RangeOf(*dim.extent)) &&
               (!dim.offset || FitsInt32(facts.RangeOf(*dim.offset))) &&
               FitsInt32(dim.offset_constant);
  dim.block = facts.Divisor(*dim.extent);
  if (dim.offset) dim.block = std::gcd(dim.block, facts.Divisor(*dim.offset));
  for (int k : dim.tile_dims) {
    for (const auto& step : thread_[static_cast<size_t>(k)].steps) {
      dim.block = std::gcd(dim.block, step.stride);
    }
  }
}

void TileAddress::FindStrides() {
  const ir::Facts& facts = ctx_.facts();
  if (!is_global()) {
    swizzle_ = tensor_.shared_layout->swizzle();
    if (swizzle_ && swizzle_->bits == 0) swizzle_ = std::nullopt;
    const SharedLayout& layout = *tensor_.shared_layout;
    size_t next = 0;
    for (size_t d = 0; d < dims_.size(); ++d) {
      Dim& dim = dims_[d];
      int64_t extent = 1;
      while (next < layout.mode_shape().size() && extent < layout.shape()[d]) {
        const Mode mode{layout.mode_shape()[next], layout.mode_strides()[next]};
        extent *= mode.extent;
        if (mode.extent > 1) dim.modes.insert(dim.modes.begin(), mode);
        ++next;
      }
      while (next < layout.mode_shape().size() && layout.mode_shape()[next] == 1) ++next;
      bool one_stride = true;
      int64_t inner = 1;
      for (const Mode& mode : dim.modes) {
        one_stride = one_stride && mode.stride == dim.modes[0].stride * inner;
        inner *= mode.extent;
      }
      if (one_stride) {
        dim.stride = dim.modes.empty() ? 0 : dim.modes[0].stride;
        dim.stride_log2 = TrailingZeros(dim.stride);
        continue;
      }
      dim.kind = Dim::StrideKind::kModes;
      dim.stride_log2 = kAnyLog2;
      for (const Mode& mode : dim.modes) {
        dim.stride_log2 = std::min(dim.stride_log2, TrailingZeros(mode.stride));
      }
    }
    return;
  }
  std::optional<int64_t> row_major = 1;
  int row_major_log2 = 0;
  for (size_t d = dims_.size(); d-- > 0;) {
    Dim& dim = dims_[d];
    std::optional<int64_t> constant = row_major;
    dim.stride_log2 = row_major_log2;
    if (!tensor_.decl.strides.empty()) {
      constant = facts.Constant(*tensor_.decl.strides[d]);
      dim.stride_log2 = TrailingZeros(facts.Divisor(*tensor_.decl.strides[d]));
    }
    if (constant && *constant <= kMaxStride && *constant >= -kMaxStride) {
      dim.stride = *constant;
      dim.stride_log2 = TrailingZeros(*constant);
    } else {
      dim.kind = Dim::StrideKind::kRuntime;
    }
    const std::optional<int64_t> extent = facts.Constant(*tensor_.shape[d]);
    row_major = row_major && extent ? CheckedMul(*row_major, *extent) : std::nullopt;
    row_major_log2 =
        std::min(kAnyLog2, row_major_log2 + TrailingZeros(facts.Divisor(*tensor_.shape[d])));
  }
}

int TileAddress::StepsLog2(const Dim& dim) const {
  int log2 = kAnyLog2;
  for (int k : dim.tile_dims) {
    for (const auto& step : thread_[static_cast<size_t>(k)].steps) {
      log2 = std::min(log2, TrailingZeros(step.stride));
    }
  }
  return log2;
}

void TileAddress::FindVariablePart() {
  const ir::Facts& facts = ctx_.facts();
  element_log2_ = kAnyLog2;
  variable_is_disjoint_ = true;
  const auto add_term = [this](int log2, std::optional<uint64_t> max) {
    const uint32_t bits = max ? PossibleBits(log2, *max) : log2 >= 32 ? 0 : ~0u << log2;
    if ((variable_bits_ & bits) != 0) variable_is_disjoint_ = false;
    variable_bits_ |= bits;
  };
  bool whole_bytes = !swizzle_;
  for (const Dim& dim : dims_) {
    int log2 = StepsLog2(dim);
    if (dim.offset) log2 = std::min(log2, TrailingZeros(facts.Divisor(*dim.offset)));
    if (dim.kind == Dim::StrideKind::kModes) log2 = 0;
    element_log2_ = std::min(element_log2_, dim.stride_log2 + log2);
    const bool varies = dim.offset != nullptr || StepsLog2(dim) < kAnyLog2;
    if (varies || dim.kind == Dim::StrideKind::kModes) is_constant_ = false;
    if (dim.kind != Dim::StrideKind::kConstant) {
      variable_is_disjoint_ = false;
      whole_bytes = false;
      continue;
    }
    if (varies && dim.stride * bits() % 8 != 0) whole_bytes = false;
    for (int k : dim.tile_dims) {
      for (const auto& step : thread_[static_cast<size_t>(k)].steps) {
        const int64_t stride = step.stride * dim.stride;
        add_term(TrailingZeros(stride), static_cast<uint64_t>((step.extent - 1) * stride));
      }
    }
    if (dim.offset) {
      const std::optional<ir::Range> range = facts.RangeOf(*dim.offset);
      const bool bounded = range && range->min >= 0 && FitsInt32(range->max);
      add_term(dim.stride_log2 + TrailingZeros(facts.Divisor(*dim.offset)),
               bounded ? std::optional<uint64_t>(static_cast<uint64_t>(range->max) *
                                                 static_cast<uint64_t>(dim.stride))
                       : std::nullopt);
    }
  }
  element_log2_ = std::min(element_log2_, kAnyLog2);
  variable_log2_ = std::min(kAnyLog2, element_log2_ + TrailingZeros(bits()));
  unit_ = swizzle_ ? Unit::kElements : bits() % 8 == 0 || whole_bytes ? Unit::kBytes : Unit::kBits;
}

int64_t TileAddress::Constant(const Dim& dim, Local local) const {
  int64_t constant = dim.offset_constant;
  for (int k : dim.tile_dims) constant += local[static_cast<size_t>(k)];
  return constant;
}

int64_t TileAddress::StaticElements(Local local) const {
  int64_t elements = 0;
  for (const Dim& dim : dims_) {
    if (dim.kind == Dim::StrideKind::kConstant) elements += dim.stride * Constant(dim, local);
  }
  return elements;
}

std::vector<int64_t> TileAddress::RuntimeKey(Local local) const {
  std::vector<int64_t> key;
  for (const Dim& dim : dims_) {
    if (dim.kind != Dim::StrideKind::kConstant) key.push_back(Constant(dim, local));
  }
  return key;
}

int TileAddress::AlignmentLog2(Local local) const {
  int elements = std::min(element_log2_, TrailingZeros(StaticElements(local)));
  for (const Dim& dim : dims_) {
    if (dim.kind != Dim::StrideKind::kRuntime) continue;
    elements = std::min(elements, dim.stride_log2 + TrailingZeros(Constant(dim, local)));
  }
  if (swizzle_) elements = std::min(elements, swizzle_->base);
  return std::min({elements + TrailingZeros(bits()), base_log2_, kMaxAlignmentLog2});
}

bool TileAddress::RunIsUnbroken(Local first, int64_t count) const {
  if (!swizzle_ || count == 1) return true;
  const int log2 = TrailingZeros(count);
  return (int64_t{1} << log2) == count && log2 <= swizzle_->base &&
         std::min(element_log2_, TrailingZeros(StaticElements(first))) >= log2;
}

std::optional<int64_t> TileAddress::Distance(Local from, Local to) const {
  int64_t distance = 0;
  for (const Dim& dim : dims_) {
    const int64_t step = Constant(dim, to) - Constant(dim, from);
    if (dim.kind == Dim::StrideKind::kConstant) {
      distance += step * dim.stride;
    } else if (step != 0) {
      return std::nullopt;
    }
  }
  return distance;
}

bool TileAddress::SameRange(Local x, Local y) const {
  for (const Dim& dim : dims_) {
    if (!dim.tested) continue;
    const int64_t cx = Constant(dim, x), cy = Constant(dim, y);
    if (cx == cy || dim.block == 0) continue;
    if (FloorDiv(cx, dim.block) != FloorDiv(cy, dim.block)) return false;
  }
  return true;
}

bool TileAddress::AlwaysInRange() const {
  return std::none_of(dims_.begin(), dims_.end(), [](const Dim& dim) { return dim.tested; });
}

bool TileAddress::IsNonNegative(int tile_dim) const {
  for (const Dim& dim : dims_) {
    if (std::find(dim.tile_dims.begin(), dim.tile_dims.end(), tile_dim) == dim.tile_dims.end()) {
      continue;
    }
    if (!dim.offset) return dim.offset_constant >= 0;
    const std::optional<ir::Range> range = ctx_.facts().RangeOf(*dim.offset);
    return range && range->min >= 0 && dim.offset_constant >= 0;
  }
  return true;
}

}  // namespace tilus::lower

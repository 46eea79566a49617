// The code of TileAddress: bounds tests and addresses.
#include <algorithm>
#include <bit>
#include <limits>

#include "lower/tile_address.h"

namespace tilus::lower {

using machine::Compare;
using machine::ImmS32;
using machine::ImmS64;
using machine::ImmU32;
using machine::RegClass;
using machine::Type;

namespace {

bool FitsInt32(int64_t v) {
  return v >= std::numeric_limits<int32_t>::min() && v <= std::numeric_limits<int32_t>::max();
}

Operand Widen(machine::Builder& b, Operand value) {
  if (value.is_imm()) return ImmS64(static_cast<int32_t>(value.value));
  return b.Cvt(Type::kS64, Type::kS32, value);
}

int TrailingZeros(int64_t value) {
  return value == 0 ? 63 : std::countr_zero(static_cast<uint64_t>(value));
}

}  // namespace

machine::Guard And(machine::Builder& b, machine::Guard x, machine::Guard y) {
  if (x.always()) return y;
  if (y.always()) return x;
  const Operand px = x.negated ? b.NotPred(x.pred) : Operand(x.pred);
  const Operand py = y.negated ? b.NotPred(y.pred) : Operand(y.pred);
  return machine::When(b.Materialize(RegClass::kPred, b.AndPred(px, py)));
}

// ---- Bounds.

Operand TileAddress::Coordinate(Dim& dim) {
  if (dim.coordinate) return *dim.coordinate;
  machine::Builder& b = ctx_.b();
  Operand sum = ImmS32(0);
  for (int k : dim.tile_dims) sum = b.AddS32(sum, thread_[static_cast<size_t>(k)].value);
  if (dim.narrow) {
    if (dim.offset) sum = b.AddS32(sum, ctx_.Scalar32(*dim.offset));
  } else {
    sum = Widen(b, sum);
    if (dim.offset) sum = b.AddS64(sum, ctx_.Scalar64(*dim.offset));
  }
  dim.coordinate = sum;
  return sum;
}

Operand TileAddress::ExtentValue(Dim& dim) {
  if (dim.extent_value) return *dim.extent_value;
  machine::Builder& b = ctx_.b();
  // A negative extent is empty; compared as unsigned it would be everything.
  const std::optional<ir::Range> range = ctx_.facts().RangeOf(*dim.extent);
  const bool maybe_negative = range && range->min < 0;
  if (dim.narrow) {
    Operand extent = ctx_.Scalar32(*dim.extent);
    dim.extent_value = maybe_negative ? b.MaxS32(extent, ImmS32(0)) : extent;
  } else {
    Operand extent = ctx_.Scalar64(*dim.extent);
    dim.extent_value = maybe_negative ? b.MaxS64(extent, ImmS64(0)) : extent;
  }
  return *dim.extent_value;
}

// 0 <= coordinate < extent by one unsigned comparison. In 32 bits no coordinate wraps into the
// range: it is more than -2^31 and less than 2^32 - 1, and the extent less than 2^31.
Reg TileAddress::DimInRange(Dim& dim, int64_t constant) {
  const auto found = dim.in_range.find(constant);
  if (found != dim.in_range.end()) return found->second;
  machine::Builder& b = ctx_.b();
  Operand inside;
  if (dim.narrow) {
    const Operand x = b.AddS32(Coordinate(dim), ImmS32(static_cast<int32_t>(constant)));
    inside = b.SetpU32(Compare::kLt, x, ExtentValue(dim));
  } else {
    const Operand x = b.AddS64(Coordinate(dim), ImmS64(constant));
    inside = b.SetpU64(Compare::kLt, x, ExtentValue(dim));
  }
  const Reg reg = b.Materialize(RegClass::kPred, inside);
  dim.in_range.emplace(constant, reg);
  return reg;
}

machine::Guard TileAddress::TestsOf(Local local, int skipped_dim) {
  std::vector<std::pair<size_t, int64_t>> tests;
  for (size_t d = 0; d < dims_.size(); ++d) {
    const Dim& dim = dims_[d];
    const bool skipped =
        std::find(dim.tile_dims.begin(), dim.tile_dims.end(), skipped_dim) != dim.tile_dims.end();
    if (!dim.tested || skipped) continue;
    // Coordinates of one block share a test.
    int64_t constant = Constant(dim, local);
    if (dim.block > 1) {
      const int64_t rest = constant % dim.block;
      constant -= rest < 0 ? rest + dim.block : rest;
    }
    tests.push_back({d, constant});
  }
  if (tests.empty()) return {};
  const auto found = ranges_.find(tests);
  if (found != ranges_.end()) return machine::When(found->second);
  machine::Guard all;
  for (const auto& [d, constant] : tests) {
    all = And(ctx_.b(), all, machine::When(DimInRange(dims_[d], constant)));
  }
  ranges_.emplace(std::move(tests), all.pred);
  return all;
}

machine::Guard TileAddress::InRange(Local local) { return TestsOf(local, -1); }
machine::Guard TileAddress::InRangeBut(Local local, int dim) { return TestsOf(local, dim); }

Operand TileAddress::ElementsLeft(Local local, int tile_dim, int64_t count) {
  machine::Builder& b = ctx_.b();
  const Operand all = ImmU32(static_cast<uint32_t>(count));
  for (Dim& dim : dims_) {
    if (!dim.tested) continue;
    if (std::find(dim.tile_dims.begin(), dim.tile_dims.end(), tile_dim) == dim.tile_dims.end()) {
      continue;
    }
    const int64_t constant = Constant(dim, local);
    const Operand inside = DimInRange(dim, constant);
    Operand left;
    if (dim.narrow) {
      const Operand x = b.AddS32(Coordinate(dim), ImmS32(static_cast<int32_t>(constant)));
      left = b.MinU32(b.SubS32(ExtentValue(dim), x), all);
    } else {
      const Operand x = b.AddS64(Coordinate(dim), ImmS64(constant));
      left = b.Cvt(Type::kU32, Type::kU64, b.MinU64(b.SubS64(ExtentValue(dim), x), ImmS64(count)));
    }
    return b.SelpB32(left, ImmU32(0), inside);
  }
  return all;
}

// ---- Addresses.

Operand TileAddress::Add(Operand x, Operand y) {
  return is_global() ? ctx_.b().AddS64(x, y) : ctx_.b().AddS32(x, y);
}

Operand TileAddress::AddConstant(Operand x, int64_t c) {
  return Add(x, is_global() ? ImmS64(c) : ImmU32(static_cast<uint32_t>(c)));
}

Operand TileAddress::Base() {
  if (is_global()) return ctx_.GlobalBase(tile_.tensor);
  return ctx_.b().Materialize(RegClass::kB32,
                              Operand::SharedBase(static_cast<int32_t>(tensor_.shared_address)));
}

// In elements, 64 bits.
Operand TileAddress::StrideValue(size_t d) {
  Dim& dim = dims_[d];
  if (dim.stride_value) return *dim.stride_value;
  if (dim.kind == Dim::StrideKind::kConstant) {
    dim.stride_value = ImmS64(dim.stride);
  } else if (!tensor_.decl.strides.empty()) {
    dim.stride_value = ctx_.Scalar64(*tensor_.decl.strides[d]);
  } else {
    dim.stride_value = ctx_.b().MulLoS64(StrideValue(d + 1), ctx_.Scalar64(*tensor_.shape[d + 1]));
  }
  return *dim.stride_value;
}

int64_t TileAddress::InUnits(int64_t elements) const {
  switch (unit_) {
    case Unit::kElements:
      return elements;
    case Unit::kBytes:
      return elements * bits() / 8;
    case Unit::kBits:
      return elements * bits();
  }
  return elements;
}

// value * stride in units; `value` is s32.
Operand TileAddress::Scaled(size_t d, Operand value) {
  machine::Builder& b = ctx_.b();
  const Dim& dim = dims_[d];
  if (dim.kind == Dim::StrideKind::kRuntime) {
    if (value.is_imm(0)) return ImmS64(0);
    return b.MulLoS64(b.MulLoS64(StrideValue(d), ImmS64(InUnits(1))), Widen(b, value));
  }
  const int64_t scale = InUnits(dim.stride);
  if (!is_global()) return b.MulLoS32(value, ImmU32(static_cast<uint32_t>(scale)));
  if (value.is_imm()) {
    const uint64_t wide = static_cast<uint64_t>(int64_t{static_cast<int32_t>(value.value)});
    return ImmS64(static_cast<int64_t>(wide * static_cast<uint64_t>(scale)));
  }
  if (FitsInt32(scale)) return b.MulWideS32(value, ImmS32(static_cast<int32_t>(scale)));
  return b.MulLoS64(Widen(b, value), ImmS64(scale));
}

// The run-time offset along a dimension, in units.
Operand TileAddress::ScaledOffset(size_t d) {
  machine::Builder& b = ctx_.b();
  const Dim& dim = dims_[d];
  const std::optional<ir::Range> range = ctx_.facts().RangeOf(*dim.offset);
  const bool narrow = range && FitsInt32(range->min) && FitsInt32(range->max);
  if (!is_global() || narrow) return Scaled(d, ctx_.Scalar32(*dim.offset));
  const Operand offset = ctx_.Scalar64(*dim.offset);
  if (dim.kind == Dim::StrideKind::kConstant) {
    return b.MulLoS64(offset, ImmS64(InUnits(dim.stride)));
  }
  return b.MulLoS64(offset, b.MulLoS64(StrideValue(d), ImmS64(InUnits(1))));
}

// The digits of the whole coordinate times their strides, in units.
Operand TileAddress::ModesOffset(Dim& dim, int64_t constant) {
  machine::Builder& b = ctx_.b();
  Operand rest = ImmS32(0);
  for (int k : dim.tile_dims) rest = b.AddS32(rest, thread_[static_cast<size_t>(k)].value);
  if (dim.offset) rest = b.AddS32(rest, ctx_.Scalar32(*dim.offset));
  rest = b.AddS32(rest, ImmS32(static_cast<int32_t>(constant)));
  Operand offset = ImmU32(0);
  for (size_t m = 0; m < dim.modes.size(); ++m) {
    const Operand extent = ImmU32(static_cast<uint32_t>(dim.modes[m].extent));
    const Operand digit = m + 1 < dim.modes.size() ? b.RemU32(rest, extent) : rest;
    rest = b.DivU32(rest, extent);
    const int64_t scale = InUnits(dim.modes[m].stride);
    offset = b.AddS32(offset, b.MulLoS32(digit, ImmU32(static_cast<uint32_t>(scale))));
  }
  return offset;
}

// Thread parts come first: they do not change in loops.
Operand TileAddress::AddTerms(Operand start, const std::vector<int64_t>& key) {
  machine::Builder& b = ctx_.b();
  Operand sum = start;
  for (size_t d = 0; d < dims_.size(); ++d) {
    if (dims_[d].kind == Dim::StrideKind::kModes) continue;
    for (int k : dims_[d].tile_dims) {
      sum = Add(sum, Scaled(d, thread_[static_cast<size_t>(k)].value));
    }
  }
  size_t next = 0;
  for (size_t d = 0; d < dims_.size(); ++d) {
    Dim& dim = dims_[d];
    if (dim.kind == Dim::StrideKind::kModes) {
      sum = Add(sum, ModesOffset(dim, key[next++]));
      continue;
    }
    if (dim.offset) sum = Add(sum, ScaledOffset(d));
    if (dim.kind == Dim::StrideKind::kRuntime) {
      const int64_t constant = key[next++];
      if (constant != 0) {
        sum = Add(sum, b.MulLoS64(StrideValue(d), ImmS64(InUnits(constant))));
      }
    }
  }
  return sum;
}

Operand TileAddress::VariableOffset(const std::vector<int64_t>& key) {
  const auto found = offsets_.find(key);
  if (found != offsets_.end()) return found->second;
  const Operand offset = AddTerms(ImmU32(0), key);
  offsets_.emplace(key, offset);
  return offset;
}

// The base and the run-time part of the offset: a byte address. In shared memory an offset from
// the region's start where nothing is known at run time only.
Operand TileAddress::AddressRegister(const std::vector<int64_t>& key) {
  const auto found = registers_.find(key);
  if (found != registers_.end()) return found->second;
  machine::Builder& b = ctx_.b();
  Operand address;
  if (!is_global() && is_constant_) {
    address = Operand::SharedBase(static_cast<int32_t>(tensor_.shared_address));
  } else if (unit_ == Unit::kBytes) {
    address = AddTerms(Base(), key);
  } else if (is_global()) {
    address = b.AddS64(Base(), b.ShrS64(VariableOffset(key), ImmU32(3)));
  } else {
    address = b.AddS32(Base(), b.ShrS32(VariableOffset(key), ImmU32(3)));
  }
  registers_.emplace(key, address);
  return address;
}

Operand TileAddress::ByteAddress(Operand base, int64_t bytes) {
  constexpr int64_t kFarthest = 1 << 22;  // offsets that every target has room for
  if (bytes >= -kFarthest && bytes <= kFarthest) return base.Plus(static_cast<int32_t>(bytes));
  if (!base.is_reg()) return base.Plus(static_cast<int32_t>(bytes));
  return AddConstant(base, bytes);
}

Operand TileAddress::Address(Local local) {
  if (swizzle_) return SwizzledAddress(local);
  const int64_t bytes = StaticElements(local) * bits() / 8;
  return ByteAddress(AddressRegister(RuntimeKey(local)), bytes);
}

// ---- Swizzles.
//
// A swizzle is linear over exclusive or. Where the run-time part of an offset and the constant part
// have no bit in common their sum is their exclusive or, and the swizzled sum is that of the
// swizzled parts: one exclusive or with a constant, or a mere offset, instead of the whole
// computation for every element.

Operand TileAddress::SwizzledElement(Local local) {
  machine::Builder& b = ctx_.b();
  const int64_t constant = StaticElements(local);
  const Operand variable = VariableOffset(RuntimeKey(local));
  if (variable.is_imm() && constant >= 0) {
    return ImmU32(static_cast<uint32_t>(
        (*swizzle_)(static_cast<int64_t>(static_cast<uint32_t>(variable.value)) + constant)));
  }
  const Operand element = b.AddS32(variable, ImmU32(static_cast<uint32_t>(constant)));
  const uint32_t mask = ((1u << swizzle_->bits) - 1) << swizzle_->base;
  const Operand rows =
      b.AndB32(b.ShrU32(element, ImmU32(static_cast<uint32_t>(swizzle_->shift))), ImmU32(mask));
  return b.XorB32(element, rows);
}

Operand TileAddress::SwizzledAddress(Local local) {
  machine::Builder& b = ctx_.b();
  const int64_t constant = StaticElements(local);
  const bool linear = variable_is_disjoint_ && constant >= 0 &&
                      std::has_single_bit(static_cast<uint32_t>(bits())) && bits() >= 8 &&
                      (static_cast<uint32_t>(constant) & variable_bits_) == 0;
  const Operand variable = VariableOffset(RuntimeKey(local));
  if (variable.is_imm() || !linear) {
    const Operand element = SwizzledElement(local);
    if (element.is_imm()) {
      return Operand::SharedBase(static_cast<int32_t>(
          tensor_.shared_address + static_cast<int64_t>(element.value) * bits() / 8));
    }
    const Operand offset =
        bits() % 8 == 0
            ? b.MulLoS32(element, ImmU32(static_cast<uint32_t>(bits() / 8)))
            : b.ShrU32(b.MulLoS32(element, ImmU32(static_cast<uint32_t>(bits()))), ImmU32(3));
    return b.AddS32(Base(), offset);
  }
  const uint32_t targets = ((1u << swizzle_->bits) - 1) << swizzle_->base;
  const uint32_t swizzled = static_cast<uint32_t>((*swizzle_)(constant));
  const uint32_t exchanged = swizzled & (variable_bits_ | targets);
  const int64_t scale_log2 = std::countr_zero(static_cast<uint32_t>(bits() / 8));
  const auto [found, inserted] = swizzled_.try_emplace(exchanged);
  if (inserted) {
    const Operand rows = b.AndB32(
        b.ShrU32(variable, ImmU32(static_cast<uint32_t>(swizzle_->shift))), ImmU32(targets));
    const Operand bytes =
        b.ShlB32(b.XorB32(variable, rows), ImmU32(static_cast<uint32_t>(scale_log2)));
    found->second = b.AddS32(Base(), b.XorB32(bytes, ImmU32(exchanged << scale_log2)));
  }
  return ByteAddress(found->second, static_cast<int64_t>(swizzled - exchanged) << scale_log2);
}

// ---- Elements that do not begin at bytes.

TileAddress::Place TileAddress::PlaceOf(Local local, int granule_log2) {
  machine::Builder& b = ctx_.b();
  const int64_t granule_bits = int64_t{1} << granule_log2;
  if (swizzle_) {
    const Operand element = SwizzledElement(local);
    const Operand offset = b.MulLoS32(element, ImmU32(static_cast<uint32_t>(bits())));
    if (offset.is_imm()) {
      const int64_t bit = static_cast<int64_t>(offset.value) + tensor_.shared_address * 8;
      return {Operand::SharedBase(static_cast<int32_t>((bit >> granule_log2) * (granule_bits / 8))),
              ImmU32(static_cast<uint32_t>(bit & (granule_bits - 1))), granule_log2};
    }
    Place place = DynamicPlace(offset, granule_log2);
    place.step_log2 = std::min(AlignmentLog2(local), granule_log2);
    return place;
  }
  const std::vector<int64_t> key = RuntimeKey(local);
  const int64_t static_bits = StaticElements(local) * bits();
  int known_log2 = std::min(variable_log2_, base_log2_);
  for (const Dim& dim : dims_) {
    if (dim.kind != Dim::StrideKind::kRuntime) continue;
    known_log2 = std::min(
        known_log2, dim.stride_log2 + TrailingZeros(bits()) + TrailingZeros(Constant(dim, local)));
  }
  if (known_log2 >= granule_log2) {
    return {ByteAddress(AddressRegister(key), (static_bits >> granule_log2) * (granule_bits / 8)),
            ImmU32(static_cast<uint32_t>(static_bits & (granule_bits - 1))), granule_log2};
  }
  Operand offset = VariableOffset(key);
  if (unit_ == Unit::kBytes) {
    offset = is_global() ? b.ShlB64(offset, ImmU32(3)) : b.ShlB32(offset, ImmU32(3));
  }
  Place place = DynamicPlace(AddConstant(offset, static_bits), granule_log2);
  place.step_log2 = std::min(AlignmentLog2(local), granule_log2);
  return place;
}

TileAddress::Place TileAddress::DynamicPlace(Operand bit_offset, int granule_log2) {
  machine::Builder& b = ctx_.b();
  Place place;
  Operand low;
  if (is_global()) {
    place.address = b.AddS64(Base(), b.ShrS64(bit_offset, ImmU32(3)));
    low = b.Cvt(Type::kU32, Type::kU64, bit_offset);
  } else {
    place.address = b.AddS32(Base(), b.ShrS32(bit_offset, ImmU32(3)));
    low = bit_offset;
  }
  place.shift = b.AndB32(low, ImmU32(7));
  if (granule_log2 == 3) return place;
  Operand byte;
  if (is_global()) {
    byte = b.AndB32(b.Cvt(Type::kU32, Type::kU64, place.address), ImmU32(3));
    place.address = b.AndB64(place.address, ImmS64(~int64_t{3}));
  } else {
    byte = b.AndB32(place.address, ImmU32(3));
    place.address = b.AndB32(place.address, ImmU32(~3u));
  }
  place.shift = b.AddS32(b.ShlB32(byte, ImmU32(3)), place.shift);
  return place;
}

}  // namespace tilus::lower

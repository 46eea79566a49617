// Tiles of memory as one thread sees them: where the elements are, and which of them are in range.
//
// A coordinate in a tile is the sum of a part that depends on the thread (run time, computed once)
// and a local part that is known at compile time; so the address of an element is
//
//     base + sum_d stride_d * (offset_d + thread_d)     one register
//          + sum_d stride_d * local_d                   an immediate, where the stride is constant
//
// The class answers questions about alignment, distance and bounds without emitting anything, and
// emits each address, coordinate and comparison at most once. What it emits is straight-line code
// at the builder's position, never under a guard; an object serves one instruction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "ir/instruction.h"
#include "lower/context.h"
#include "lower/offset_parts.h"

namespace tilus::lower {

// What the thread adds to one coordinate of a tile: the sum of digits times strides, each digit a
// number from 0 to extent - 1.
struct ThreadCoordinate {
  struct Step {
    int64_t extent, stride;
  };
  Operand value = machine::ImmS32(0);  // s32
  std::vector<Step> steps;
};

// One coordinate a dimension of the layout, computed at the start of the kernel.
std::vector<ThreadCoordinate> ThreadCoordinatesOf(Context& ctx, const RegisterLayout& layout);
// The same of the terms' sums: for questions (without values), and computed at the builder's
// position.
std::vector<ThreadCoordinate> ThreadSteps(int rank, absl::Span<const RegisterLayout::Term> terms);
std::vector<ThreadCoordinate> ThreadCoordinatesHere(Context& ctx, int rank,
                                                    absl::Span<const RegisterLayout::Term> terms);

// The local part of every element of a thread.
std::vector<std::vector<int64_t>> LocalParts(const RegisterLayout& layout);

// Both conditions; either may be always.
machine::Guard And(machine::Builder& b, machine::Guard x, machine::Guard y);

class TileAddress {
 public:
  using Local = absl::Span<const int64_t>;

  // `dims` as in ir::Instruction; `shape` are the extents of the tile.
  TileAddress(Context* ctx, const ir::TensorOperand& tile,
              const std::optional<std::vector<int>>& dims, absl::Span<const int64_t> shape,
              std::vector<ThreadCoordinate> thread);

  ir::Scope scope() const { return tensor_.scope; }
  DataType dtype() const { return tensor_.dtype; }
  int bits() const { return tensor_.dtype.bits(); }

  // ---- Questions. They emit nothing.
  // The address of the element, in bits, is a multiple of 2^this (at most kMaxAlignmentLog2).
  static constexpr int kMaxAlignmentLog2 = 10;
  int AlignmentLog2(Local local) const;
  // Whether `count` elements in memory order, the first of them at `first`, are adjacent in spite
  // of a swizzle.
  bool RunIsUnbroken(Local first, int64_t count) const;
  // Elements from one to the other in memory order, where that is known and the same for all
  // threads. Holds of addresses only inside an unbroken run.
  std::optional<int64_t> Distance(Local from, Local to) const;
  // Whether either both elements are in range or both are not.
  bool SameRange(Local x, Local y) const;
  bool AlwaysInRange() const;
  // Whether the coordinate along `dim` cannot be negative.
  bool IsNonNegative(int dim) const;

  // ---- Code.
  // True where the element is in range; no predicate where it always is.
  machine::Guard InRange(Local local);
  // The same without the test of tile dimension `dim`.
  machine::Guard InRangeBut(Local local, int dim);
  // How many of the `count` elements from `local` on along tile dimension `dim` are before its end,
  // 0 to count (u32). @pre IsNonNegative(dim)
  Operand ElementsLeft(Local local, int dim, int64_t count);
  // The address of an element that begins at a byte. @pre AlignmentLog2(local) >= 3
  Operand Address(Local local);
  // Where an element begins: the address of the granule (of 2^granule_log2 bits: a byte or a 32-bit
  // word) that has its first bit, and that bit's place in it.
  struct Place {
    Operand address;
    Operand shift;      // b32; an immediate where it is known
    int step_log2 = 0;  // the shift is a multiple of 2^this
  };
  Place PlaceOf(Local local, int granule_log2);

 private:
  // What the run-time part of an offset counts: bytes where every term of it is whole bytes, else
  // bits; elements under a swizzle.
  enum class Unit : uint8_t { kElements, kBytes, kBits };
  struct Mode {
    int64_t extent, stride;
  };
  struct Dim {
    ir::ExprPtr offset;  // the run-time part; null for none
    int64_t offset_constant = 0;
    const ir::Expr* extent = nullptr;
    std::vector<int> tile_dims;
    // Elements from one coordinate to the next: a constant, a run-time value, or (shared memory)
    // digits with strides of their own.
    enum class StrideKind : uint8_t { kConstant, kRuntime, kModes } kind = StrideKind::kConstant;
    int64_t stride = 0;
    int stride_log2 = 0;      // a power of two that divides it
    std::vector<Mode> modes;  // innermost first
    bool tested = false;
    bool narrow = true;  // coordinates and extent fit 32 bits
    int64_t block = 1;   // coordinates come into range in whole blocks of this many; 0 = any
    // Emitted on demand.
    std::optional<Operand> coordinate, extent_value, stride_value;
    std::map<int64_t, Reg> in_range;
  };

  void AddDim(const ir::TensorOperand& tile, size_t d, absl::Span<const int64_t> shape);
  void FindStrides();
  void FindVariablePart();
  int StepsLog2(const Dim& dim) const;

  bool is_global() const { return tensor_.scope == ir::Scope::kGlobal; }
  // The constant part of a coordinate: offset and local.
  int64_t Constant(const Dim& dim, Local local) const;
  // Elements: the constant part of the offset over dimensions of constant stride.
  int64_t StaticElements(Local local) const;
  // The constants of the other dimensions, which select an address register.
  std::vector<int64_t> RuntimeKey(Local local) const;

  Operand Coordinate(Dim& dim);
  Operand ExtentValue(Dim& dim);
  Operand StrideValue(size_t d);
  Reg DimInRange(Dim& dim, int64_t constant);
  machine::Guard TestsOf(Local local, int skipped_dim);

  // Address arithmetic in the width of the space.
  Operand Add(Operand x, Operand y);
  Operand AddConstant(Operand x, int64_t c);
  int64_t InUnits(int64_t elements) const;
  Operand Scaled(size_t d, Operand value32);
  Operand ScaledOffset(size_t d);
  Operand Base();
  // `start` and the run-time terms of the offset, in the unit of the tensor.
  Operand AddTerms(Operand start, const std::vector<int64_t>& key);
  Operand VariableOffset(const std::vector<int64_t>& key);
  Operand ModesOffset(Dim& dim, int64_t constant);
  Operand AddressRegister(const std::vector<int64_t>& key);
  Operand SwizzledAddress(Local local);
  Operand SwizzledElement(Local local);
  Operand ByteAddress(Operand base, int64_t bytes);
  Place DynamicPlace(Operand bit_offset, int granule_log2);

  Context& ctx_;
  const ir::TensorOperand& tile_;
  const ir::Tensor& tensor_;
  std::vector<Dim> dims_;
  std::vector<ThreadCoordinate> thread_;
  std::optional<Swizzle> swizzle_;
  int base_log2_ = 0;      // alignment of the tensor's first bit
  int variable_log2_ = 0;  // of the run-time part of the offset, in bits, runtime strides aside
  int element_log2_ = 0;   // the same in elements
  uint32_t variable_bits_ = 0;         // bits that the run-time element offset can have
  bool variable_is_disjoint_ = false;  // whether no two terms of it share one
  bool is_constant_ = true;            // whether there is no run-time part
  Unit unit_ = Unit::kBytes;

  std::map<std::vector<int64_t>, Operand> registers_;  // by runtime key
  std::map<std::vector<int64_t>, Operand> offsets_;
  std::map<std::vector<std::pair<size_t, int64_t>>, Reg> ranges_;
  std::map<uint32_t, Operand> swizzled_;  // by what is exchanged
};

}  // namespace tilus::lower

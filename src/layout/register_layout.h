// Register layouts: which thread holds which element of a tile, and where.
//
// A tile of shape S lives in the registers of T threads, N elements in each. A register layout is
// the total function
//
//     f : (thread t < T, local i < N)  ->  index in S
//
// given by a 4-tuple. Each dimension of `shape` is factored into consecutive *modes* (dimension
// 0's first, most significant first), and two lists say where each mode comes from:
//
//     spatial_modes   these modes, row-major, make up t; an entry -k (k > 1) is *replication*:
//                     a coordinate of the thread that selects no data
//     local_modes     the other modes, row-major, make up i
//
// The B operand of mma.m16n8k16, `local(2,1).column_spatial(4,8).local(2,1)`, is
//
//     shape 16 x 8            modes  2  4  2 | 8          (16 = 2*4*2, 8 = 8)
//                             id     0  1  2   3
//     spatial [3, 1]          t = n * 4 + k1              32 threads
//     local   [0, 2]          i = k0 * 2 + k2             4 elements each
//     f(t, i) = (8 * (i / 2) + 2 * (t % 4) + i % 2,  t / 4)
//
// Why tuples and not tables or bit matrices: a tuple costs a few words whatever the size of the
// tile, every operation on it is list surgery, extents need not be powers of two, and the lists
// read off directly as the shifts and masks that a kernel computes. The library's other view of a
// layout, the one that operations work on, is the same lists with the modes spelled as digits:
//
//     coordinate[dim] += ((t / divisor) % extent) * stride        one Digit
//
// Both parts are additive, f(t, i) = SpatialPart(t) + LocalPart(i), which lowering relies on: the
// thread part is computed once, the local part is a compile-time constant.
//
// Equality. Two tuples may spell one function. Canonical() is unique: it has no modes of size 1,
// it fuses two modes that are adjacent, in the same order, in one dimension and in one list, and
// it merges adjacent replications. Proof sketch: read t from the bottom. The innermost digit's
// dimension and stride are f(1, 0) - f(0, 0) (zero for replication), and its extent is the first t
// at which f stops being linear, because after fusion the next digit never continues the line. The
// rest follows by induction, and the strides within a dimension order its modes. operator==
// compares canonical forms, hence functions.
//
// Bounds: rank at most kMaxLayoutRank; elements, threads and locals each at most
// kMaxLayoutElements, so products of two of these never overflow. No operation allocates in
// proportion to an extent, except those that say they return a table.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tilus {

inline constexpr int kMaxLayoutRank = 8;
inline constexpr int kMaxLayoutModes = 128;
inline constexpr int64_t kMaxLayoutElements = (int64_t{1} << 31) - 1;

// One factor of the thread or local index.
struct Digit {
  static constexpr int kReplicated = -1;

  int dim = kReplicated;  // the dimension it moves in, or kReplicated
  int64_t extent = 1;
  int64_t stride = 0;   // step in that dimension; 0 when replicated
  int64_t divisor = 1;  // product of the extents inner to it in its list; filled in by the layout

  bool replicated() const { return dim == kReplicated; }
  int64_t Of(int64_t index) const { return index / divisor % extent; }
};

class RegisterLayout {
 public:
  using Extents = absl::InlinedVector<int64_t, 6>;
  using Digits = absl::InlinedVector<Digit, 6>;

  // Rank 0: one thread holds one element.
  RegisterLayout() = default;

  // The tuple as given; modes of size 1 are allowed and kept.
  // @pre (checked) extents and modes are positive; modes factor the dimensions in order; each mode
  //      is in one list exactly once; replication entries are -k with k > 1; bounds above.
  // @post shape(), mode_shape(), spatial_modes(), local_modes() are the arguments.
  static absl::StatusOr<RegisterLayout> Create(std::vector<int64_t> shape,
                                               std::vector<int64_t> mode_shape,
                                               std::vector<int64_t> spatial_modes,
                                               std::vector<int64_t> local_modes);

  // The canonical layout of two digit lists, outermost first (divisors are ignored).
  // @pre (checked) the digits of each dimension tile it: sorted by stride, each stride is the
  //      product of the extents below it, and together they make the dimension's extent.
  // @post MapInto is the sum of the digits; the result is canonical.
  static absl::StatusOr<RegisterLayout> FromDigits(std::vector<int64_t> shape,
                                                   std::vector<Digit> thread,
                                                   std::vector<Digit> local);

  // Primitives. @post canonical; for extents n and x < Product(n), unravelled row-major (column_*:
  // first dimension fastest) to index u: Spatial maps (x, 0) to u, Local maps (0, x) to u.
  static absl::StatusOr<RegisterLayout> Spatial(absl::Span<const int64_t> extents);
  static absl::StatusOr<RegisterLayout> Local(absl::Span<const int64_t> extents);
  static absl::StatusOr<RegisterLayout> ColumnSpatial(absl::Span<const int64_t> extents);
  static absl::StatusOr<RegisterLayout> ColumnLocal(absl::Span<const int64_t> extents);
  // k threads that all hold the one element of shape (1, ..., 1).
  static absl::StatusOr<RegisterLayout> Replicated(int64_t k, int rank = 1);

  int rank() const { return static_cast<int>(shape_.size()); }
  absl::Span<const int64_t> shape() const { return shape_; }
  absl::Span<const int64_t> mode_shape() const { return mode_shape_; }
  absl::Span<const int64_t> spatial_modes() const { return spatial_modes_; }
  absl::Span<const int64_t> local_modes() const { return local_modes_; }

  int64_t num_threads() const { return num_threads_; }
  int64_t locals_per_thread() const { return locals_per_thread_; }
  int64_t size() const { return size_; }
  // @post num_threads() * locals_per_thread() == size() * replication()
  int64_t replication() const { return num_threads_ * locals_per_thread_ / size_; }

  // f. @pre 0 <= thread < num_threads(), 0 <= local < locals_per_thread(), index has rank() slots.
  void MapInto(int64_t thread, int64_t local, absl::Span<int64_t> index) const;
  std::vector<int64_t> Map(int64_t thread, int64_t local) const;
  // The row-major linear index of Map.
  int64_t MapLinear(int64_t thread, int64_t local) const;

  // @post Map(t, i) == SpatialPart(t) + LocalPart(i), componentwise.
  std::vector<int64_t> SpatialPart(int64_t thread) const;
  std::vector<int64_t> LocalPart(int64_t local) const;

  // The digits, outermost first, with divisors; size-1 modes do not occur, replication does.
  absl::Span<const Digit> thread_digits() const { return thread_digits_; }
  absl::Span<const Digit> local_digits() const { return local_digits_; }

  // The data-selecting digits of the thread, for generated code:
  // @post SpatialPart(t)[d] == sum over terms of dim d of ((t / thread_divisor) % extent) * stride
  struct Term {
    int dim;
    int64_t thread_divisor, extent, stride;
  };
  std::vector<Term> SpatialTerms() const;

  // The inverse of f. @pre index is inside shape().
  // @post Owners: every (t, i) with Map(t, i) == index, threads ascending, all with the same
  //       local; there are replication() of them. FirstOwner is the first.
  struct Owner {
    int64_t thread, local;
    bool operator==(const Owner&) const = default;
  };
  Owner FirstOwner(absl::Span<const int64_t> index) const;
  std::vector<Owner> Owners(absl::Span<const int64_t> index) const;

  // @post the same function; a == b exactly when a.Canonical() and b.Canonical() have equal tuples.
  RegisterLayout Canonical() const;
  // Equality of functions (and shapes).
  bool operator==(const RegisterLayout& other) const;

  // A product of primitives when one exists, else the canonical tuple. Equal layouts print alike.
  // @post ParseLayout(ToString()) == *this
  std::string ToString() const;
  // {shape=[16, 8], modes=[2, 4, 2, 8], spatial=[3, 1], local=[0, 2]}, as stored.
  // @post ParseLayout(TupleString()) has the same tuple.
  std::string TupleString() const;

  template <typename H>
  friend H AbslHashValue(H h, const RegisterLayout& layout) {
    const RegisterLayout c = layout.Canonical();
    return H::combine(std::move(h), c.shape_, c.mode_shape_, c.spatial_modes_, c.local_modes_);
  }

 private:
  // Fills the digits and counts from the tuple. @pre the tuple is valid.
  void IndexDigits();
  // Fills the tuple from canonical digit lists. @pre the digits tile the shape.
  void SpellModes();
  bool SameTuple(const RegisterLayout& other) const;

  Extents shape_, mode_shape_, spatial_modes_, local_modes_;
  Digits thread_digits_, local_digits_;
  int64_t num_threads_ = 1, locals_per_thread_ = 1, size_ = 1;
};

}  // namespace tilus

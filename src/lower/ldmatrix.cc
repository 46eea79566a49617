// Selection of ldmatrix.
//
// The instruction reads one, two or four matrices of 8 rows of 16 bytes; lane l gives the address
// of row l % 8 of matrix l / 8. Thread t receives the 4 bytes at place t % 4 of row t / 4 of each
// matrix (transposed, for 2-byte elements: two elements of column t / 4). So the tile's layout must
// be some layout times one of the fragment layouts below, and each row of a fragment must be 16
// aligned bytes of shared memory.
#include "lower/ldmatrix.h"

#include <array>
#include <bit>
#include <vector>

#include "layout/compose.h"
#include "layout/divide.h"
#include "lower/tile_address.h"

namespace tilus::lower {
namespace {

using machine::Op;

constexpr int64_t kRowBytes = 16;
constexpr int kRowLog2 = 7;  // 16 bytes, in bits
constexpr int64_t kRows = 8;

enum class Major { kRow, kColumn };           // spatial(8, 4) or column_spatial(4, 8)
enum class Rows { kAlongLast, kAlongFirst };  // of the fragment's two dimensions

struct Candidate {
  int element_bits;
  Major threads;
  Rows rows;  // the dimension whose elements are adjacent in memory
  bool transposed;
};

constexpr Candidate kCandidates[] = {
    {16, Major::kRow, Rows::kAlongLast, false},     {16, Major::kColumn, Rows::kAlongLast, true},
    {16, Major::kColumn, Rows::kAlongFirst, false}, {16, Major::kRow, Rows::kAlongFirst, true},
    {8, Major::kRow, Rows::kAlongLast, false},      {8, Major::kColumn, Rows::kAlongFirst, false},
    {32, Major::kRow, Rows::kAlongLast, false},     {32, Major::kColumn, Rows::kAlongFirst, false},
};

absl::StatusOr<RegisterLayout> FragmentLayout(const Candidate& candidate) {
  const int64_t elements = 32 / candidate.element_bits;
  const bool row = candidate.threads == Major::kRow;
  const auto threads =
      row ? RegisterLayout::Spatial({8, 4}) : RegisterLayout::ColumnSpatial({4, 8});
  const auto local =
      row ? RegisterLayout::Local({1, elements}) : RegisterLayout::Local({elements, 1});
  if (!threads.ok()) return threads.status();
  if (!local.ok()) return local.status();
  return Compose(*threads, *local);
}

Op OpOf(int64_t matrices, bool transposed) {
  if (transposed) {
    return matrices == 4   ? Op::kLdmatrixX4Trans
           : matrices == 2 ? Op::kLdmatrixX2Trans
                           : Op::kLdmatrixX1Trans;
  }
  return matrices == 4 ? Op::kLdmatrixX4 : matrices == 2 ? Op::kLdmatrixX2 : Op::kLdmatrixX1;
}

// The fragments of a tile under one candidate.
struct Fragments {
  RegisterLayout outer;        // which fragment: threads are warps, locals are registers
  std::vector<int64_t> shape;  // of a fragment, in the tile's rank
  size_t row_dim = 0;          // the dimension that rows are counted along
};

std::vector<int64_t> Scale(std::vector<int64_t> index, const std::vector<int64_t>& shape) {
  for (size_t d = 0; d < index.size(); ++d) index[d] *= shape[d];
  return index;
}

// Whether fragment x * g + m is at place(x * g) + place(m) for every g, and place(m) is a sum over
// the bits of m, so that lanes can compute it.
bool GroupsOf(const RegisterLayout& outer, int64_t matrices) {
  const int64_t count = outer.locals_per_thread();
  if (count % matrices != 0) return false;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t m = i % matrices;
    std::vector<int64_t> expected = outer.LocalPart(i - m);
    for (int64_t bit = 1; bit < matrices; bit *= 2) {
      if ((m & bit) == 0) continue;
      const std::vector<int64_t> part = outer.LocalPart(bit);
      for (size_t d = 0; d < part.size(); ++d) expected[d] += part[d];
    }
    if (expected != outer.LocalPart(i)) return false;
  }
  return true;
}

// The thread part of the row that a lane points to.
std::vector<RegisterLayout::Term> RowTerms(const Fragments& fragments, int64_t matrices) {
  std::vector<RegisterLayout::Term> terms;
  for (const RegisterLayout::Term& term : fragments.outer.SpatialTerms()) {
    terms.push_back({term.dim, term.thread_divisor * 32, term.extent,
                     term.stride * fragments.shape[static_cast<size_t>(term.dim)]});
  }
  for (int64_t bit = matrices / 2; bit >= 1; bit /= 2) {
    const std::vector<int64_t> part = Scale(fragments.outer.LocalPart(bit), fragments.shape);
    for (size_t d = 0; d < part.size(); ++d) {
      if (part[d] != 0) terms.push_back({static_cast<int>(d), kRows * bit, 2, part[d]});
    }
  }
  terms.push_back({static_cast<int>(fragments.row_dim), 1, kRows, 1});
  return terms;
}

// Whether the rows that a lane can point to are 16 adjacent aligned bytes in range.
bool RowsFit(const TileAddress& address, const Fragments& fragments, size_t along) {
  if (!address.AlwaysInRange()) return false;
  const int64_t elements = kRowBytes * 8 / address.bits();
  for (int64_t i = 0; i < fragments.outer.locals_per_thread(); ++i) {
    const std::vector<int64_t> first = Scale(fragments.outer.LocalPart(i), fragments.shape);
    if (address.AlignmentLog2(first) < kRowLog2) return false;
    if (!address.RunIsUnbroken(first, elements)) return false;
    for (int64_t j = 1; j < elements; ++j) {
      std::vector<int64_t> next = first;
      next[along] += j;
      if (address.Distance(first, next) != j) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<RegisterFile> LoadByLdmatrix(Context& ctx, const ir::Instruction& instruction,
                                           const RegisterFile& destination, int64_t other_cost) {
  const ir::Tensor& result = ctx.tensor(instruction.result);
  const RegisterLayout& layout = *result.layout;
  if (layout.rank() < 2 || layout.num_threads() % 32 != 0) return std::nullopt;
  const size_t last = static_cast<size_t>(layout.rank()) - 1;
  for (const Candidate& candidate : kCandidates) {
    if (candidate.element_bits != result.dtype.bits()) continue;
    const absl::StatusOr<RegisterLayout> fragment = FragmentLayout(candidate);
    if (!fragment.ok()) continue;
    absl::StatusOr<RegisterLayout> outer = Divide(layout, *fragment);
    if (!outer.ok()) continue;
    Fragments fragments{*std::move(outer), std::vector<int64_t>(last + 1, 1), last};
    fragments.shape[last - 1] = fragment->shape()[0];
    fragments.shape[last] = fragment->shape()[1];
    const size_t along = candidate.rows == Rows::kAlongLast ? last : last - 1;
    fragments.row_dim = along == last ? last - 1 : last;

    const int64_t count = fragments.outer.locals_per_thread();
    int64_t matrices = 4;
    while (matrices > 1 && !GroupsOf(fragments.outer, matrices)) matrices /= 2;
    if (count / matrices >= other_cost) continue;
    const auto& tile = std::get<ir::TensorOperand>(instruction.operands[0]);
    const std::vector<RegisterLayout::Term> terms = RowTerms(fragments, matrices);
    const TileAddress question(&ctx, tile, instruction.dims, layout.shape(),
                               ThreadSteps(layout.rank(), terms));
    if (!RowsFit(question, fragments, along)) continue;
    TileAddress address(&ctx, tile, instruction.dims, layout.shape(),
                        ThreadCoordinatesHere(ctx, layout.rank(), terms));
    for (int64_t first = 0; first < count; first += matrices) {
      const std::vector<int64_t> local = Scale(fragments.outer.LocalPart(first), fragments.shape);
      ctx.b().Ldmatrix(OpOf(matrices, candidate.transposed),
                       absl::MakeConstSpan(&destination.words[static_cast<size_t>(first)],
                                           static_cast<size_t>(matrices)),
                       address.Address(local));
    }
    return destination;
  }
  return std::nullopt;
}

}  // namespace tilus::lower

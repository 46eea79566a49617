// Slices: a box cut out of a tile, held where it was.
//
// The threads stay and each keeps the elements it has inside the box, in their order. That is a
// register layout only when every thread keeps equally many and the kept elements still follow
// the digits of a mixed-radix numeral. Within one dimension, from the outermost mode inwards with
// B the extent of everything below, that leaves three ways to cut a range:
//
//   whole rows    offset and extent are multiples of B; a spatial mode keeps all its rows
//   inside a row  the mode, which must be local, is fixed and disappears; cut the row
//   two half rows the end of one row and an equally long start of the next, cut alike: the mode
//                 keeps two rows (a spatial mode has only two)
//
// For products of primitives that is all. A layout that is none, whose locals run through a
// dimension's modes out of order, may keep elements that line up by coincidence (locals at 2, 3, 4
// of modes 2 x 2 x 2); such slices are refused.
#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "layout/register_layout.h"

namespace tilus {

// The elements x with offset <= x < offset + shape, renumbered from 0.
// @pre (checked) the box lies in f's tile and has extents of at least 1
// @post threads = T_f; for each t, Slice(t, 0), Slice(t, 1), ... are f(t, i) - offset for the
//       locals i, ascending, whose element is in the box
// @post an error (kLayoutInexpressible) when that is no register layout, and for a product of
//       primitives only then
absl::StatusOr<RegisterLayout> Slice(const RegisterLayout& f, absl::Span<const int64_t> offset,
                                     absl::Span<const int64_t> shape);

}  // namespace tilus

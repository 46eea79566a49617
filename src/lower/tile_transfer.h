// Moving a tile between memory and registers, element for element: the path that every load and
// store can take. Wide accesses where vectorize.h finds them; where elements begin inside bytes,
// bytes and shifts for loads, and read-modify-write of 32-bit words for stores.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "lower/context.h"
#include "lower/tile_address.h"

namespace tilus::lower {

// The elements of a thread, in the order of its locals. Elements out of range are 0. Whole words
// are loaded straight into `destination`, which has the words of the result; other results are in
// fresh registers.
RegisterFile LoadTile(Context& ctx, TileAddress& address,
                      absl::Span<const std::vector<int64_t>> locals,
                      const RegisterFile& destination, machine::Builder::Hint hint);

// Writes the elements that are in range, in threads where `owner` holds. Words of memory that
// others may have bits in are changed atomically.
void StoreTile(Context& ctx, TileAddress& address, absl::Span<const std::vector<int64_t>> locals,
               const RegisterFile& source, machine::Guard owner, machine::Builder::Hint hint);

// Where several threads hold an element, true in the last of them (the one whose value the
// interpreter keeps); always where none do.
machine::Guard OwnerOf(Context& ctx, const RegisterLayout& layout);

// The words to load a result into: those of the tensor where it is overwritten in place.
RegisterFile DestinationWords(Context& ctx, const ir::Instruction& instruction);

machine::Builder::Hint HintOf(ir::CacheHint hint);

}  // namespace tilus::lower

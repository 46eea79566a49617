// Bank conflicts: how many turns of shared memory an access takes.
//
// The model, as measured and documented for sm_70 and later: 32 banks, each 4 bytes wide, word w of
// the address space in bank w mod 32. One access of a warp is served in phases, by the width that
// a thread takes at once: up to 4 bytes all 32 lanes, 8 bytes half a warp, 16 bytes (and a row of
// ldmatrix or stmatrix) a quarter. Within a phase a bank delivers one word in a turn ("wavefront"),
// to every lane that wants it; different words of one bank take turns. So a phase takes as many
// turns as the busiest bank has different words, and a conflict-free phase takes one.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "layout/register_layout.h"
#include "layout/shared_layout.h"

namespace tilus {

// Turns of one phase.
// @pre byte addresses, multiples of the power of two `bytes` <= 16; no more lanes than a phase has
// @post 0 for no lanes; at least 1 else
int64_t WavefrontsOfPhase(absl::Span<const int64_t> addresses, int bytes);

struct BankConflicts {
  int64_t accesses = 0;    // instructions, counted once for each warp
  int64_t phases = 0;      // turns if there were no conflicts
  int64_t wavefronts = 0;  // turns
  int64_t extra() const { return wavefronts - phases; }
  bool operator==(const BankConflicts&) const = default;
};

// The cost of moving a tile between registers of layout `f` and shared memory of layout `shared`,
// each thread taking `vector_bytes` at once (consecutive locals). The tile starts at a multiple of
// 128 bytes.
// @pre (checked) equal shapes; element_bits 1 to 64; vector_bytes 1, 2, 4, 8 or 16, a whole number
//      of elements that divides each thread's share; each such run of locals is adjacent and
//      aligned in shared memory (kLayoutOperand names the first that is not); at most
//      kMaxCountedElements elements over all threads, because they are walked one by one
inline constexpr int64_t kMaxCountedElements = int64_t{1} << 22;
absl::StatusOr<BankConflicts> CountBankConflicts(const SharedLayout& shared, int element_bits,
                                                 const RegisterLayout& f, int vector_bytes);

}  // namespace tilus

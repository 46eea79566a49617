// The selection table of mma.sync.
//
// Each row is one instruction for a 16 x 8 tile of c. Its operands have layouts of one family: with
// e elements in a 32-bit register and h halves of the k extent,
//
//     a   column_local(2, h) . spatial(8, 4) . local(1, e)        16 x 4he
//     b   local(h, 1) . column_spatial(4, 8) . local(e, 1)        4he x 8
//     c   local(2, 1) . spatial(8, 4) . local(1, 2)               16 x 8
//
// A product does not depend on the order of k, so a and b may both have v * e elements in place of
// e: that is v instructions, the j-th of which takes every v-th register. A thread then holds
// longer runs along k, which packed weights and wide loads want.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "layout/register_layout.h"
#include "machine/op.h"
#include "types/data_type.h"

namespace tilus::lower {

struct MmaRow {
  machine::Op op;
  DataType a, b, c;
  int halves;  // of k: registers of b, and half those of a

  int elements_per_register() const { return 32 / a.bits(); }
  int k() const { return 4 * halves * elements_per_register(); }
};

// The fewest instructions first.
absl::Span<const MmaRow> MmaRows();
inline constexpr int kMmaVectors[] = {1, 2, 4};  // the values of v

absl::StatusOr<RegisterLayout> MmaLayoutA(const MmaRow& row, int vectors);
absl::StatusOr<RegisterLayout> MmaLayoutB(const MmaRow& row, int vectors);
absl::StatusOr<RegisterLayout> MmaLayoutC();

}  // namespace tilus::lower

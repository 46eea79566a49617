#include "lower/mma.h"

#include "base/status_macros.h"
#include "layout/compose.h"

namespace tilus::lower {
namespace {

using machine::Op;

constexpr MmaRow kRows[] = {
    {Op::kMmaM16N8K16F32F16, kF16, kF16, kF32, 2},
    {Op::kMmaM16N8K16F16F16, kF16, kF16, kF16, 2},
    {Op::kMmaM16N8K16F32BF16, kBF16, kBF16, kF32, 2},
    {Op::kMmaM16N8K8F32TF32, kTF32, kTF32, kF32, 2},
    {Op::kMmaM16N8K32S32S8S8, kI8, kI8, kI32, 2},
    {Op::kMmaM16N8K32S32S8U8, kI8, kU8, kI32, 2},
    {Op::kMmaM16N8K32S32U8S8, kU8, kI8, kI32, 2},
    {Op::kMmaM16N8K32S32U8U8, kU8, kU8, kI32, 2},
    {Op::kMmaM16N8K8F32F16, kF16, kF16, kF32, 1},
    {Op::kMmaM16N8K8F16F16, kF16, kF16, kF16, 1},
    {Op::kMmaM16N8K8F32BF16, kBF16, kBF16, kF32, 1},
    {Op::kMmaM16N8K4F32TF32, kTF32, kTF32, kF32, 1},
    {Op::kMmaM16N8K16S32S8S8, kI8, kI8, kI32, 1},
};

absl::StatusOr<RegisterLayout> Product(absl::StatusOr<RegisterLayout> outer,
                                       absl::StatusOr<RegisterLayout> middle,
                                       absl::StatusOr<RegisterLayout> inner) {
  TILUS_RETURN_IF_ERROR(outer.status());
  TILUS_RETURN_IF_ERROR(middle.status());
  TILUS_RETURN_IF_ERROR(inner.status());
  TILUS_ASSIGN_OR_RETURN(const RegisterLayout product, Compose(*outer, *middle));
  return Compose(product, *inner);
}

}  // namespace

absl::Span<const MmaRow> MmaRows() { return kRows; }

absl::StatusOr<RegisterLayout> MmaLayoutA(const MmaRow& row, int vectors) {
  return Product(RegisterLayout::ColumnLocal({2, row.halves}), RegisterLayout::Spatial({8, 4}),
                 RegisterLayout::Local({1, row.elements_per_register() * vectors}));
}

absl::StatusOr<RegisterLayout> MmaLayoutB(const MmaRow& row, int vectors) {
  return Product(RegisterLayout::Local({row.halves, 1}), RegisterLayout::ColumnSpatial({4, 8}),
                 RegisterLayout::Local({row.elements_per_register() * vectors, 1}));
}

absl::StatusOr<RegisterLayout> MmaLayoutC() {
  return Product(RegisterLayout::Local({2, 1}), RegisterLayout::Spatial({8, 4}),
                 RegisterLayout::Local({1, 2}));
}

}  // namespace tilus::lower

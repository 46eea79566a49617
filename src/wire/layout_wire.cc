#include "wire/layout_wire.h"

#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "wire/names.h"
#include "wire/scan.h"
#include "wire/serialize.h"
#include "wire/wire.h"

namespace tilus::wire {
namespace {

template <typename Repeated>
std::vector<int64_t> ToVector(const Repeated& values) {
  return std::vector<int64_t>(values.begin(), values.end());
}

template <typename Span, typename Repeated>
void Append(const Span& values, Repeated* repeated) {
  for (int64_t value : values) repeated->Add(value);
}

}  // namespace

absl::StatusOr<LayoutExpression> LayoutFromWire(const v1::Layout& wire) {
  LayoutExpression layout;
  switch (wire.form_case()) {
    case v1::Layout::kProduct:
      for (const v1::LayoutFactor& factor : wire.product().factors()) {
        const auto kind = FromWire(kFactorKinds, factor.kind());
        if (!kind) return MakeError(DiagId::kWireMissing, "a layout factor has no kind");
        layout.factors.push_back({*kind, ToVector(factor.extents())});
      }
      if (layout.factors.empty()) {
        return MakeError(DiagId::kWireMissing, "a layout product has no factors",
                         "a layout has at least one factor, such as local(1)");
      }
      return layout;
    case v1::Layout::kTuple: {
      const v1::LayoutTuple& tuple = wire.tuple();
      TILUS_ASSIGN_OR_RETURN(
          layout.tuple,
          RegisterLayout::Create(ToVector(tuple.shape()), ToVector(tuple.mode_shape()),
                                 ToVector(tuple.spatial_modes()), ToVector(tuple.local_modes())));
      return layout;
    }
    case v1::Layout::kName:
      return MakeError(DiagId::kWireValue, "a layout outside a program is given by name",
                       "names are only known inside the program that defines them");
    case v1::Layout::FORM_NOT_SET:
      break;
  }
  return MakeError(DiagId::kWireMissing, "a layout message is empty",
                   "set one of product, tuple and name");
}

void LayoutToWire(const LayoutExpression& layout, v1::Layout* wire) {
  if (layout.tuple) {
    v1::LayoutTuple* tuple = wire->mutable_tuple();
    Append(layout.tuple->shape(), tuple->mutable_shape());
    Append(layout.tuple->mode_shape(), tuple->mutable_mode_shape());
    Append(layout.tuple->spatial_modes(), tuple->mutable_spatial_modes());
    Append(layout.tuple->local_modes(), tuple->mutable_local_modes());
    return;
  }
  v1::LayoutProduct* product = wire->mutable_product();
  for (const LayoutFactor& factor : layout.factors) {
    v1::LayoutFactor* out = product->add_factors();
    out->set_kind(ToWire(kFactorKinds, factor.kind));
    Append(factor.extents, out->mutable_extents());
  }
}

absl::StatusOr<LayoutExpression> DecodeLayout(absl::string_view bytes, const ir::Limits& limits) {
  TILUS_RETURN_IF_ERROR(Scan(bytes, MessageId::kLayoutFile, limits));
  v1::LayoutFile file;
  TILUS_RETURN_IF_ERROR(ParseMessage(bytes, &file));
  if (!file.has_layout()) return MakeError(DiagId::kWireMissing, "the layout is missing");
  TILUS_ASSIGN_OR_RETURN(LayoutExpression layout, LayoutFromWire(file.layout()));
  TILUS_RETURN_IF_ERROR(layout.Evaluate().status());
  return layout;
}

std::string EncodeLayout(const LayoutExpression& layout) {
  v1::LayoutFile file;
  file.set_version(kVersion);
  LayoutToWire(layout, file.mutable_layout());
  return SerializeMessage(file);
}

}  // namespace tilus::wire

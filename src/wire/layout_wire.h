// The layout messages inside other messages.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "layout/layout_expression.h"
#include "tilus/v1/layout.pb.h"

namespace tilus::wire {

// A product or tuple; a `name` is an error here (the program decoder resolves those itself).
absl::StatusOr<LayoutExpression> LayoutFromWire(const v1::Layout& wire);
void LayoutToWire(const LayoutExpression& layout, v1::Layout* wire);

}  // namespace tilus::wire

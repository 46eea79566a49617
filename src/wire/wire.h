// Serialized programs and layouts: protobuf bytes <-> ir.
//
// Bytes come from outside and may be hostile. Before protobuf allocates anything a scan of the
// bytes against the schema (scan.h) applies the limits and refuses unknown fields and enum values,
// so the parse that follows costs memory in proportion to what the limits allow.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/program.h"
#include "layout/layout_expression.h"

namespace tilus::wire {

// The version that Encode() writes, and the newest that Decode() reads.
inline constexpr uint32_t kVersion = 1;

// The programs of a serialized tilus.v1.Module. They are well-formed (ids in range, expressions
// typed) but not verified. Errors: 10-12 limits, 400-499.
absl::StatusOr<ir::Module> Decode(absl::string_view bytes, const ir::Limits& limits);

// The serialized form: the same bytes for the same module.
std::string Encode(const ir::Module& module);

// A serialized tilus.v1.LayoutFile.
absl::StatusOr<LayoutExpression> DecodeLayout(absl::string_view bytes, const ir::Limits& limits);
std::string EncodeLayout(const LayoutExpression& layout);

// Whether the bytes look like a serialized module or layout file rather than text: their first
// field is the version.
bool LooksSerialized(absl::string_view bytes);

}  // namespace tilus::wire

// A walk over serialized bytes against the schema, before they are parsed.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/program.h"

namespace tilus::wire {

enum class MessageId : uint8_t {
  kModule, kProgram, kVar, kLayoutAlias, kExpr, kLiteral, kCast, kOperation, kTensor, kShape,
  kBlock, kStatement, kFor, kIf, kWhile, kDefine, kAssign, kBreak, kContinue, kOperand, kTile,
  kDims, kInstruction, kLayoutFile, kLayout, kLayoutProduct, kLayoutFactor, kLayoutTuple,
  kSharedLayout, kSwizzle,
};

enum class FieldKind : uint8_t { kVarint, kEnum, kString, kPacked, kMessage };

struct FieldInfo {
  MessageId message;
  int number;
  const char* name;
  FieldKind kind;
  MessageId type;              // of kMessage fields
  bool (*enum_is_valid)(int);  // of kEnum fields
};

// One row for each field of the schema, in the order of MessageId.
absl::Span<const FieldInfo> Schema();
const char* MessageName(MessageId id);

// Checks `bytes` as a serialized `root`: well-formed, version known, no unknown field or enum
// value, within max_bytes, max_depth and max_nodes. Allocates nothing in proportion to the bytes.
absl::Status Scan(absl::string_view bytes, MessageId root, const ir::Limits& limits);

}  // namespace tilus::wire

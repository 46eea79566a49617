#include "wire/scan.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "tilus/v1/layout.pb.h"
#include "tilus/v1/program.pb.h"
#include "wire/wire.h"

namespace tilus::wire {
namespace {

using M = MessageId;
using K = FieldKind;

constexpr FieldInfo Varint(M m, int n, const char* name) {
  return {m, n, name, K::kVarint, M::kModule, nullptr};
}
constexpr FieldInfo String(M m, int n, const char* name) {
  return {m, n, name, K::kString, M::kModule, nullptr};
}
constexpr FieldInfo Packed(M m, int n, const char* name) {
  return {m, n, name, K::kPacked, M::kModule, nullptr};
}
constexpr FieldInfo Message(M m, int n, const char* name, M type) {
  return {m, n, name, K::kMessage, type, nullptr};
}
constexpr FieldInfo Enum(M m, int n, const char* name, bool (*valid)(int)) {
  return {m, n, name, K::kEnum, M::kModule, valid};
}

constexpr FieldInfo kSchema[] = {
    Varint(M::kModule, 1, "version"),
    Message(M::kModule, 2, "programs", M::kProgram),
    String(M::kProgram, 1, "name"),
    Varint(M::kProgram, 2, "warps"),
    String(M::kProgram, 3, "target"),
    Varint(M::kProgram, 4, "contract"),
    Varint(M::kProgram, 5, "fast"),
    Message(M::kProgram, 6, "vars", M::kVar),
    Message(M::kProgram, 7, "layouts", M::kLayoutAlias),
    Message(M::kProgram, 8, "grid", M::kExpr),
    Message(M::kProgram, 9, "tensors", M::kTensor),
    Message(M::kProgram, 10, "body", M::kBlock),
    String(M::kVar, 1, "name"),
    Enum(M::kVar, 2, "kind", &v1::Var_Kind_IsValid),
    String(M::kVar, 3, "type"),
    Varint(M::kVar, 4, "pointer"),
    Varint(M::kVar, 5, "align"),
    Varint(M::kVar, 6, "divisible"),
    Message(M::kVar, 7, "value", M::kExpr),
    String(M::kLayoutAlias, 1, "name"),
    Message(M::kLayoutAlias, 2, "layout", M::kLayout),
    Message(M::kExpr, 1, "literal", M::kLiteral),
    Varint(M::kExpr, 2, "var"),
    Varint(M::kExpr, 3, "index"),
    Message(M::kExpr, 4, "cast", M::kCast),
    Message(M::kExpr, 5, "operation", M::kOperation),
    String(M::kLiteral, 1, "type"),
    Varint(M::kLiteral, 2, "code"),
    String(M::kCast, 1, "type"),
    Message(M::kCast, 2, "arg", M::kExpr),
    Enum(M::kOperation, 1, "op", &v1::Operation_Op_IsValid),
    Message(M::kOperation, 2, "args", M::kExpr),
    String(M::kTensor, 1, "name"),
    Enum(M::kTensor, 2, "scope", &v1::Tensor_Scope_IsValid),
    String(M::kTensor, 3, "dtype"),
    Message(M::kTensor, 4, "shape", M::kShape),
    Message(M::kTensor, 5, "layout", M::kLayout),
    Message(M::kTensor, 6, "shared_layout", M::kSharedLayout),
    Message(M::kTensor, 7, "strides", M::kExpr),
    Varint(M::kTensor, 8, "clean"),
    Message(M::kShape, 1, "extents", M::kExpr),
    Message(M::kBlock, 1, "statements", M::kStatement),
    Message(M::kStatement, 1, "instruction", M::kInstruction),
    Message(M::kStatement, 2, "for_loop", M::kFor),
    Message(M::kStatement, 3, "if_else", M::kIf),
    Message(M::kStatement, 4, "while_loop", M::kWhile),
    Message(M::kStatement, 5, "define", M::kDefine),
    Message(M::kStatement, 6, "assign", M::kAssign),
    Message(M::kStatement, 7, "break_loop", M::kBreak),
    Message(M::kStatement, 8, "continue_loop", M::kContinue),
    Varint(M::kFor, 1, "var"),
    Message(M::kFor, 2, "begin", M::kExpr),
    Message(M::kFor, 3, "end", M::kExpr),
    Message(M::kFor, 4, "step", M::kExpr),
    Varint(M::kFor, 5, "unroll"),
    Message(M::kFor, 6, "body", M::kBlock),
    Message(M::kIf, 1, "condition", M::kExpr),
    Message(M::kIf, 2, "then_body", M::kBlock),
    Message(M::kIf, 3, "else_body", M::kBlock),
    Message(M::kWhile, 1, "condition", M::kExpr),
    Message(M::kWhile, 2, "body", M::kBlock),
    Varint(M::kDefine, 1, "var"),
    Message(M::kDefine, 2, "value", M::kExpr),
    Varint(M::kAssign, 1, "var"),
    Message(M::kAssign, 2, "value", M::kExpr),
    Varint(M::kOperand, 1, "tensor"),
    Message(M::kOperand, 2, "tile", M::kTile),
    Message(M::kOperand, 3, "scalar", M::kExpr),
    Varint(M::kTile, 1, "tensor"),
    Message(M::kTile, 2, "offsets", M::kExpr),
    Packed(M::kDims, 1, "dims"),
    Enum(M::kInstruction, 1, "opcode", &v1::Opcode_IsValid),
    Message(M::kInstruction, 2, "operands", M::kOperand),
    Varint(M::kInstruction, 3, "result"),
    Packed(M::kInstruction, 4, "index_results"),
    Varint(M::kInstruction, 5, "in_place"),
    Message(M::kInstruction, 6, "dims", M::kDims),
    Enum(M::kInstruction, 7, "cache", &v1::Instruction_Cache_IsValid),
    String(M::kInstruction, 8, "tile_dtype"),
    Message(M::kInstruction, 9, "tile_shape", M::kShape),
    Varint(M::kInstruction, 10, "bits"),
    String(M::kInstruction, 11, "label"),
    Varint(M::kLayoutFile, 1, "version"),
    Message(M::kLayoutFile, 2, "layout", M::kLayout),
    Message(M::kLayout, 1, "product", M::kLayoutProduct),
    Message(M::kLayout, 2, "tuple", M::kLayoutTuple),
    String(M::kLayout, 3, "name"),
    Message(M::kLayoutProduct, 1, "factors", M::kLayoutFactor),
    Enum(M::kLayoutFactor, 1, "kind", &v1::LayoutFactor_Kind_IsValid),
    Packed(M::kLayoutFactor, 2, "extents"),
    Packed(M::kLayoutTuple, 1, "shape"),
    Packed(M::kLayoutTuple, 2, "mode_shape"),
    Packed(M::kLayoutTuple, 3, "spatial_modes"),
    Packed(M::kLayoutTuple, 4, "local_modes"),
    Packed(M::kSharedLayout, 1, "strides"),
    Message(M::kSharedLayout, 2, "swizzle", M::kSwizzle),
    Varint(M::kSwizzle, 1, "bits"),
    Varint(M::kSwizzle, 2, "base"),
    Varint(M::kSwizzle, 3, "shift"),
};

constexpr const char* kMessageNames[] = {
    "Module", "Program", "Var", "LayoutAlias", "Expr", "Literal", "Cast", "Operation", "Tensor",
    "Shape", "Block", "Statement", "For", "If", "While", "Define", "Assign", "Break", "Continue",
    "Operand", "Tile", "Dims", "Instruction", "LayoutFile", "Layout", "LayoutProduct",
    "LayoutFactor", "LayoutTuple", "SharedLayout", "Swizzle",
};

constexpr int kMaxFieldNumber = 11;
constexpr int kMessageCount = static_cast<int>(sizeof(kMessageNames) / sizeof(kMessageNames[0]));

// Rows by (message, number), so that a hostile blob does not pay for a search per field.
struct FieldIndex {
  int16_t row[kMessageCount][kMaxFieldNumber + 1];
};

constexpr FieldIndex MakeIndex() {
  FieldIndex index{};
  for (auto& message : index.row) {
    for (int16_t& row : message) row = -1;
  }
  int16_t i = 0;
  for (const FieldInfo& field : kSchema) index.row[static_cast<int>(field.message)][field.number] = i++;
  return index;
}
constexpr FieldIndex kIndex = MakeIndex();

const FieldInfo* FindField(MessageId message, uint64_t number) {
  if (number == 0 || number > kMaxFieldNumber) return nullptr;
  const int row = kIndex.row[static_cast<int>(message)][number];
  return row < 0 ? nullptr : &kSchema[row];
}

constexpr int kVarintWire = 0;
constexpr int kFixed64Wire = 1;
constexpr int kBytesWire = 2;
constexpr int kFixed32Wire = 5;

// A bounded cursor over the bytes.
class Cursor {
 public:
  Cursor(const char* begin, const char* end) : at_(begin), end_(end) {}
  bool done() const { return at_ == end_; }
  const char* at() const { return at_; }

  std::optional<uint64_t> Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70 && at_ != end_; shift += 7) {
      const uint8_t byte = static_cast<uint8_t>(*at_++);
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::optional<absl::string_view> Bytes() {
    const std::optional<uint64_t> size = Varint();
    if (!size || *size > static_cast<uint64_t>(end_ - at_)) return std::nullopt;
    const absl::string_view bytes(at_, static_cast<size_t>(*size));
    at_ += *size;
    return bytes;
  }

  bool Skip(int wire) {
    if (wire == kVarintWire) return Varint().has_value();
    if (wire == kBytesWire) return Bytes().has_value();
    const int size = wire == kFixed64Wire ? 8 : wire == kFixed32Wire ? 4 : -1;
    if (size < 0 || end_ - at_ < size) return false;
    at_ += size;
    return true;
  }

 private:
  const char* at_;
  const char* end_;
};

class Scanner {
 public:
  Scanner(absl::string_view bytes, const ir::Limits& limits) : bytes_(bytes), limits_(limits) {}

  absl::Status Message(absl::string_view body, MessageId id, int statement_depth, int expr_depth) {
    if (++nodes_ > limits_.max_nodes) {
      return MakeError(DiagId::kLimitNodes,
                       absl::StrCat("the input has more than ", limits_.max_nodes, " nodes"),
                       "raise the context's node limit if the program is trusted", Path());
    }
    statement_depth += id == MessageId::kBlock;
    expr_depth += id == MessageId::kExpr;
    // The grammar nests messages without end only through blocks and expressions.
    if (statement_depth > limits_.max_depth || expr_depth > limits_.max_depth) {
      return MakeError(DiagId::kLimitDepth,
                       absl::StrCat(id == MessageId::kExpr ? "an expression" : "a statement",
                                    " is nested deeper than ", limits_.max_depth),
                       "split the expression with `let`, or raise the context's depth limit",
                       Path());
    }
    Cursor cursor(body.data(), body.data() + body.size());
    int repeats[kMaxFieldNumber + 1] = {};
    while (!cursor.done()) {
      const std::optional<uint64_t> tag = cursor.Varint();
      if (!tag) return Malformed(cursor, "a truncated field tag");
      const int wire = static_cast<int>(*tag & 7);
      const FieldInfo* field = FindField(id, *tag >> 3);
      if (field == nullptr) {
        return MakeError(DiagId::kWireUnknownField,
                         absl::StrCat("message tilus.v1.", MessageName(id), " has the unknown field ",
                                      *tag >> 3),
                         "the program was made for a newer libtilus, or is not a tilus program",
                         Path());
      }
      path_.push_back({field, repeats[field->number]++});
      TILUS_RETURN_IF_ERROR(Field(*field, wire, cursor, statement_depth, expr_depth));
      path_.pop_back();
    }
    return absl::OkStatus();
  }

  absl::Status Malformed(const Cursor& cursor, absl::string_view what) const {
    return MakeError(DiagId::kWireMalformed,
                     absl::StrCat("byte ", cursor.at() - bytes_.data(), " of ", bytes_.size(), ": ",
                                  what),
                     "the bytes are truncated or not a serialized tilus program", Path());
  }

 private:
  absl::Status Field(const FieldInfo& field, int wire, Cursor& cursor, int statement_depth,
                     int expr_depth) {
    switch (field.kind) {
      case FieldKind::kVarint:
      case FieldKind::kEnum: {
        if (wire != kVarintWire) return WrongWire(cursor, field);
        const std::optional<uint64_t> value = cursor.Varint();
        if (!value) return Malformed(cursor, "a truncated number");
        if (field.kind == FieldKind::kEnum && !KnownEnum(field, *value)) {
          return MakeError(DiagId::kWireUnknownEnum,
                           absl::StrCat("field ", field.name, " of tilus.v1.",
                                        MessageName(field.message), " has the unknown value ",
                                        static_cast<int64_t>(*value)),
                           "the program was made for a newer libtilus", Path());
        }
        return absl::OkStatus();
      }
      case FieldKind::kPacked:
        if (wire == kVarintWire) {
          ++nodes_;
          return cursor.Varint() ? absl::OkStatus() : Malformed(cursor, "a truncated number");
        }
        [[fallthrough]];
      case FieldKind::kString:
      case FieldKind::kMessage: {
        if (wire != kBytesWire) return WrongWire(cursor, field);
        const std::optional<absl::string_view> bytes = cursor.Bytes();
        if (!bytes) return Malformed(cursor, "a length that goes past the end");
        if (field.kind == FieldKind::kString) return absl::OkStatus();
        if (field.kind == FieldKind::kMessage) {
          return Message(*bytes, field.type, statement_depth, expr_depth);
        }
        Cursor values(bytes->data(), bytes->data() + bytes->size());
        while (!values.done()) {
          ++nodes_;
          if (!values.Varint()) return Malformed(values, "a truncated number");
        }
        return absl::OkStatus();
      }
    }
    return absl::OkStatus();
  }

  static bool KnownEnum(const FieldInfo& field, uint64_t value) {
    // Negative enum values travel as ten bytes; none is valid.
    return value <= 0x7fffffff && field.enum_is_valid(static_cast<int>(value));
  }

  absl::Status WrongWire(const Cursor& cursor, const FieldInfo& field) const {
    return Malformed(cursor, absl::StrCat("field ", field.name, " of tilus.v1.",
                                          MessageName(field.message), " has the wrong wire type"));
  }

  // "programs[0].body.statements[3].for_loop"
  std::string Path() const {
    std::string path;
    for (const Step& step : path_) {
      absl::StrAppend(&path, path.empty() ? "" : ".", step.field->name);
      if (step.repeat > 0) absl::StrAppend(&path, "[", step.repeat, "]");
    }
    return path;
  }

  struct Step {
    const FieldInfo* field;
    int repeat;
  };
  absl::string_view bytes_;
  const ir::Limits& limits_;
  int64_t nodes_ = 0;
  std::vector<Step> path_;
};

// The version is looked for before anything else is judged: a newer program gets that answer.
absl::Status CheckVersion(absl::string_view bytes) {
  Cursor cursor(bytes.data(), bytes.data() + bytes.size());
  std::optional<uint64_t> version;
  while (!cursor.done()) {
    const std::optional<uint64_t> tag = cursor.Varint();
    if (!tag) break;
    if (*tag == (1u << 3 | kVarintWire)) {
      version = cursor.Varint();
      if (version) break;
    }
    if (!cursor.Skip(static_cast<int>(*tag & 7))) break;
  }
  if (!version) {
    return MakeError(DiagId::kWireNoVersion, "the input has no version field",
                     "set `version` to 1, or check that these bytes are a serialized tilus program");
  }
  if (*version == 0 || *version > kVersion) {
    return MakeError(DiagId::kWireVersion,
                     absl::StrCat("the program has version ", *version,
                                  " of the schema, this library reads up to ", kVersion),
                     "use a newer libtilus, or serialize for this one");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const FieldInfo> Schema() { return kSchema; }
const char* MessageName(MessageId id) { return kMessageNames[static_cast<int>(id)]; }

absl::Status Scan(absl::string_view bytes, MessageId root, const ir::Limits& limits) {
  if (static_cast<int64_t>(bytes.size()) > limits.max_bytes) {
    return MakeError(DiagId::kLimitBytes,
                     absl::StrCat("the input has ", bytes.size(), " bytes, the limit is ",
                                  limits.max_bytes),
                     "raise the context's byte limit if the program is trusted");
  }
  TILUS_RETURN_IF_ERROR(CheckVersion(bytes));
  return Scanner(bytes, limits).Message(bytes, root, 0, 0);
}

}  // namespace tilus::wire

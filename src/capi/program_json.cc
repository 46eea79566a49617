#include "capi/program_json.h"

#include <cstdint>
#include <iterator>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "tilus/v1/layout.pb.h"
#include "tilus/v1/program.pb.h"
#include "wire/scan.h"

namespace tilus::capi {
namespace {

using wire::FieldInfo;
using wire::FieldKind;
using wire::MessageId;

// What the schema's table of the scan does not say: which fields are lists of messages, which
// numbers are bools or wider than a JSON number, and the names of enum values.
struct FieldPlace {
  MessageId message;
  int number;
};

constexpr FieldPlace kRepeated[] = {
    {MessageId::kModule, 2},     {MessageId::kProgram, 6},       {MessageId::kProgram, 7},
    {MessageId::kProgram, 8},    {MessageId::kProgram, 9},       {MessageId::kOperation, 2},
    {MessageId::kTensor, 7},     {MessageId::kShape, 1},         {MessageId::kBlock, 1},
    {MessageId::kTile, 2},       {MessageId::kInstruction, 2},   {MessageId::kLayoutProduct, 1},
};
constexpr FieldPlace kBools[] = {
    {MessageId::kProgram, 4}, {MessageId::kProgram, 5},     {MessageId::kVar, 4},
    {MessageId::kTensor, 8},  {MessageId::kInstruction, 5},
};
constexpr FieldPlace kUnsigned64[] = {{MessageId::kLiteral, 2}};

struct EnumNames {
  FieldPlace field;
  const std::string& (*name)(int);
};
#define TILUS_ENUM_NAMES(message, number, name) \
  {{MessageId::message, number}, [](int value) -> const std::string& { return v1::name(value); }}
constexpr EnumNames kEnums[] = {
    TILUS_ENUM_NAMES(kVar, 2, Var_Kind_Name),
    TILUS_ENUM_NAMES(kOperation, 1, Operation_Op_Name),
    TILUS_ENUM_NAMES(kTensor, 2, Tensor_Scope_Name),
    TILUS_ENUM_NAMES(kInstruction, 1, Opcode_Name),
    TILUS_ENUM_NAMES(kInstruction, 7, Instruction_Cache_Name),
    TILUS_ENUM_NAMES(kLayoutFactor, 1, LayoutFactor_Kind_Name),
};
#undef TILUS_ENUM_NAMES

bool Is(const FieldPlace& place, const FieldInfo& field) {
  return place.message == field.message && place.number == field.number;
}

template <size_t kCount>
bool IsOneOf(const FieldPlace (&places)[kCount], const FieldInfo& field) {
  for (const FieldPlace& place : places) {
    if (Is(place, field)) return true;
  }
  return false;
}

const FieldInfo* FindField(MessageId message, uint64_t number) {
  for (const FieldInfo& field : wire::Schema()) {
    if (field.message == message && static_cast<uint64_t>(field.number) == number) return &field;
  }
  return nullptr;
}

std::optional<uint64_t> ReadVarint(absl::string_view* bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes->front());
    bytes->remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

void AppendQuoted(absl::string_view text, std::string* out) {
  *out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      absl::StrAppend(out, "\\", absl::string_view(&c, 1));
    } else if (static_cast<uint8_t>(c) < 0x20) {
      absl::StrAppendFormat(out, "\\u%04x", static_cast<uint8_t>(c));
    } else {
      *out += c;
    }
  }
  *out += '"';
}

void AppendNumber(const FieldInfo& field, uint64_t value, std::string* out) {
  for (const EnumNames& names : kEnums) {
    if (Is(names.field, field)) return AppendQuoted(names.name(static_cast<int>(value)), out);
  }
  if (IsOneOf(kBools, field)) {
    *out += value != 0 ? "true" : "false";
  } else if (IsOneOf(kUnsigned64, field)) {
    absl::StrAppend(out, "\"", value, "\"");
  } else {
    absl::StrAppend(out, static_cast<int64_t>(value));
  }
}

class Writer {
 public:
  explicit Writer(std::string* out) : out_(*out) {}

  // False when the bytes are not what the schema says.
  bool Message(MessageId id, absl::string_view bytes) {
    const FieldInfo* previous = nullptr;
    out_ += '{';
    ++depth_;
    while (!bytes.empty()) {
      const auto tag = ReadVarint(&bytes);
      const FieldInfo* field = tag ? FindField(id, *tag >> 3) : nullptr;
      if (field == nullptr || !Field(*field, previous, &bytes)) return false;
      previous = field;
    }
    if (previous != nullptr && IsOneOf(kRepeated, *previous)) CloseList();
    --depth_;
    if (previous != nullptr) NewLine();
    out_ += '}';
    return true;
  }

 private:
  // The entries of a list of messages follow each other on the wire.
  bool Field(const FieldInfo& field, const FieldInfo* previous, absl::string_view* bytes) {
    const bool list = IsOneOf(kRepeated, field);
    const bool goes_on = list && previous == &field;
    if (previous != nullptr && !goes_on && IsOneOf(kRepeated, *previous)) CloseList();
    if (previous != nullptr) out_ += ',';
    NewLine();
    if (!goes_on) {
      AppendQuoted(field.name, &out_);
      out_ += ": ";
      if (list) {
        out_ += '[';
        ++depth_;
        NewLine();
      }
    }
    return Value(field, bytes);
  }

  bool Value(const FieldInfo& field, absl::string_view* bytes) {
    const auto number = ReadVarint(bytes);
    if (!number) return false;
    if (field.kind == FieldKind::kVarint || field.kind == FieldKind::kEnum) {
      AppendNumber(field, *number, &out_);
      return true;
    }
    if (*number > bytes->size()) return false;
    absl::string_view inner = bytes->substr(0, *number);
    bytes->remove_prefix(*number);
    if (field.kind == FieldKind::kMessage) return Message(field.type, inner);
    if (field.kind == FieldKind::kString) {
      AppendQuoted(inner, &out_);
      return true;
    }
    return Packed(inner);
  }

  bool Packed(absl::string_view bytes) {
    out_ += '[';
    for (bool first = true; !bytes.empty(); first = false) {
      const auto value = ReadVarint(&bytes);
      if (!value) return false;
      absl::StrAppend(&out_, first ? "" : ", ", static_cast<int64_t>(*value));
    }
    out_ += ']';
    return true;
  }

  void CloseList() {
    --depth_;
    NewLine();
    out_ += ']';
  }

  void NewLine() {
    out_ += '\n';
    out_.append(2 * depth_, ' ');
  }

  std::string& out_;
  size_t depth_ = 0;
};

}  // namespace

absl::StatusOr<std::string> ProgramJson(absl::string_view bytes) {
  std::string json;
  if (!Writer(&json).Message(MessageId::kModule, bytes)) {
    return MakeError(DiagId::kInternal, "a serialized program does not follow its own schema");
  }
  json += '\n';
  return json;
}

}  // namespace tilus::capi

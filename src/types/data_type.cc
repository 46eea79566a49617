#include "types/data_type.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"

namespace tilus {
namespace {

constexpr absl::string_view kIntegerHint =
    "integers are u1 to u16, u32, u64 and i1 to i16, i32, i64";
constexpr absl::string_view kFloatHint =
    "floats are f16, bf16, tf32, f32, f64, and fXeYmZ of X = 1 + Y + Z bits, 3 <= X <= 8, "
    "Y >= 1 (f4e2m1, f6e3m2, f8e4m3, f8e5m2, ...); f8e8m0 is the scale type";
constexpr absl::string_view kTypesHint =
    "types are bool, u1 to u16, u32, u64, i1 to i16, i32, i64, f16, bf16, tf32, f32, f64, "
    "f8e8m0, and fXeYmZ of X = 1 + Y + Z bits, 3 <= X <= 8, Y >= 1";

struct NamedFloat {
  absl::string_view name;
  DataType type;
};
constexpr NamedFloat kNamedFloats[] = {
    {"f16", kF16}, {"bf16", kBF16}, {"tf32", kTF32}, {"f32", kF32}, {"f64", kF64},
};

// Spellings of other systems, answered with the name that is meant.
struct Alias {
  absl::string_view spelling;
  absl::string_view name;
};
constexpr Alias kAliases[] = {
    {"half", "f16"},     {"fp16", "f16"},      {"bfloat16", "bf16"}, {"float", "f32"},
    {"double", "f64"},   {"fp32", "f32"},      {"fp64", "f64"},      {"fp8", "f8e4m3"},
    {"f8", "f8e4m3"},    {"fp4", "f4e2m1"},    {"f4", "f4e2m1"},     {"int", "i32"},
    {"boolean", "bool"}, {"e4m3", "f8e4m3"},
    {"e5m2", "f8e5m2"},  {"ue8m0", "f8e8m0"},  {"e8m0", "f8e8m0"},   {"f6", "f6e3m2"},
    {"float16", "f16"},  {"float32", "f32"},   {"float64", "f64"},   {"byte", "u8"},
    {"int8", "i8"},      {"int16", "i16"},     {"int32", "i32"},     {"int64", "i64"},
    {"uint8", "u8"},     {"uint16", "u16"},    {"uint32", "u32"},    {"uint64", "u64"},
    {"int4", "i4"},      {"uint4", "u4"},
};

constexpr bool IsIntegerWidth(int bits) {
  return (bits >= 1 && bits <= 16) || bits == 32 || bits == 64;
}

constexpr bool IsSmallFloat(int bits, int exponent_bits) {
  return bits >= 3 && bits <= 8 && exponent_bits >= 1 && exponent_bits < bits;
}

// The name as it may stand in a message: short and printable.
std::string Quoted(absl::string_view name) {
  constexpr size_t kLongest = 32;
  const bool cut = name.size() > kLongest;
  return absl::StrCat("\"", absl::CHexEscape(name.substr(0, kLongest)), cut ? "..." : "", "\"");
}

// Takes a decimal number without sign or leading zeros off the front of `text`. Numbers of more
// than four digits are all "too large" alike and come back as 10000.
std::optional<int> ConsumeNumber(absl::string_view* text) {
  size_t digits = 0;
  while (digits < text->size() && absl::ascii_isdigit((*text)[digits])) ++digits;
  if (digits == 0 || (digits > 1 && text->front() == '0')) return std::nullopt;
  int value = 0;
  for (size_t i = 0; i < digits; ++i) value = std::min(value * 10 + ((*text)[i] - '0'), 10000);
  text->remove_prefix(digits);
  return value;
}

std::optional<int> ConsumeField(char letter, absl::string_view* text) {
  if (text->empty() || text->front() != letter) return std::nullopt;
  text->remove_prefix(1);
  return ConsumeNumber(text);
}

std::string NumberText(int value) {
  return value >= 10000 ? "more than 9999" : absl::StrCat(value);
}

absl::Status UnknownType(absl::string_view name) {
  std::string hint(kTypesHint);
  const std::string spelling = absl::AsciiStrToLower(name.substr(0, 16));
  for (const Alias& alias : kAliases) {
    if (spelling == alias.spelling) {
      hint = absl::StrCat("did you mean ", alias.name, "? ", kTypesHint);
    }
  }
  return MakeError(DiagId::kUnknownType, absl::StrCat(Quoted(name), " is not a data type"), hint);
}

absl::StatusOr<DataType> ParseInteger(absl::string_view name) {
  absl::string_view rest = name.substr(1);
  const std::optional<int> bits = ConsumeNumber(&rest);
  if (!bits || !rest.empty()) return UnknownType(name);
  if (!IsIntegerWidth(*bits)) {
    return MakeError(DiagId::kTypeWidth,
                     absl::StrCat(Quoted(name), " is not a data type: no integer has ",
                                  NumberText(*bits), " bits"),
                     kIntegerHint);
  }
  return name[0] == 'u' ? DataType::UInt(*bits) : DataType::Int(*bits);
}

// Of the form fXeYmZ; plain fX has been looked up already.
absl::StatusOr<DataType> ParseFloat(absl::string_view name) {
  absl::string_view rest = name.substr(1);
  const std::optional<int> bits = ConsumeNumber(&rest);
  if (!bits) return UnknownType(name);
  if (rest.empty()) {
    if (*bits >= 3 && *bits <= 8) return UnknownType(name);
    return MakeError(DiagId::kTypeWidth,
                     absl::StrCat(Quoted(name), " is not a data type: no float has ",
                                  NumberText(*bits), " bits"),
                     kFloatHint);
  }
  const std::optional<int> exponent = ConsumeField('e', &rest);
  if (!exponent) return UnknownType(name);
  const std::optional<int> mantissa = ConsumeField('m', &rest);
  if (!mantissa || !rest.empty()) return UnknownType(name);

  if (*bits == 8 && *exponent == 8 && *mantissa == 0) return kF8E8M0;
  std::string reason;
  if (*bits < 3 || *bits > 8) {
    reason = absl::StrCat("floats of this form have 3 to 8 bits, not ", NumberText(*bits));
  } else if (*exponent < 1) {
    reason = "the exponent needs at least 1 bit";
  } else if (*bits != 1 + *exponent + *mantissa) {
    reason = absl::StrCat("1 sign + ", NumberText(*exponent), " exponent + ",
                          NumberText(*mantissa), " mantissa bits do not make ", *bits);
  } else {
    return DataType::Float(*exponent, *mantissa);
  }
  return MakeError(DiagId::kTypeFloatFormat,
                   absl::StrCat(Quoted(name), " is not a data type: ", reason), kFloatHint);
}

}  // namespace

bool DataType::is_supported() const {
  switch (kind_) {
    case TypeKind::kBool:
      return *this == kBool;
    case TypeKind::kUInt:
    case TypeKind::kInt:
      return IsIntegerWidth(bits_);
    case TypeKind::kScale:
      return *this == kF8E8M0;
    case TypeKind::kFloat:
      for (const NamedFloat& named : kNamedFloats) {
        if (*this == named.type) return true;
      }
      return IsSmallFloat(bits_, exponent_bits_);
  }
  return false;
}

std::string DataType::name() const {
  switch (kind_) {
    case TypeKind::kBool:
      return "bool";
    case TypeKind::kUInt:
      return absl::StrCat("u", bits_);
    case TypeKind::kInt:
      return absl::StrCat("i", bits_);
    case TypeKind::kScale:
    case TypeKind::kFloat:
      break;
  }
  for (const NamedFloat& named : kNamedFloats) {
    if (*this == named.type) return std::string(named.name);
  }
  return absl::StrCat("f", bits_, "e", exponent_bits_, "m", mantissa_bits_);
}

absl::StatusOr<DataType> ParseDataType(absl::string_view name) {
  if (name == "bool") return kBool;
  for (const NamedFloat& named : kNamedFloats) {
    if (name == named.name) return named.type;
  }
  if (name.size() < 2 || !absl::ascii_isdigit(name[1])) return UnknownType(name);
  switch (name[0]) {
    case 'u':
    case 'i':
      return ParseInteger(name);
    case 'f':
      return ParseFloat(name);
    default:
      return UnknownType(name);
  }
}

std::vector<DataType> AllDataTypes() {
  std::vector<DataType> types = {kBool};
  for (int bits = 1; bits <= 64; ++bits) {
    if (IsIntegerWidth(bits)) types.push_back(DataType::UInt(bits));
  }
  for (int bits = 1; bits <= 64; ++bits) {
    if (IsIntegerWidth(bits)) types.push_back(DataType::Int(bits));
  }
  for (int bits = 3; bits <= 8; ++bits) {
    for (int exponent = 1; exponent < bits; ++exponent) {
      types.push_back(DataType::Float(exponent, bits - 1 - exponent));
    }
  }
  types.push_back(kF8E8M0);
  for (const NamedFloat& named : kNamedFloats) types.push_back(named.type);
  return types;
}

}  // namespace tilus

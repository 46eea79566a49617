#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/checked.h"
#include "capi/guard.h"
#include "capi/type_code.h"
#include "types/codec.h"
#include "types/packing.h"

namespace tilus::capi {
namespace {

std::optional<DataType> FindType(tilus_type code) {
  const int bits = code >> 16 & 255;
  const int exponent = code >> 8 & 255;
  const int mantissa = code & 255;
  DataType type;
  switch (code >> 24) {
    case TILUS_CLASS_UNSIGNED: type = DataType::UInt(bits); break;
    case TILUS_CLASS_SIGNED: type = DataType::Int(bits); break;
    case TILUS_CLASS_BOOL: type = DataType::Bool(); break;
    case TILUS_CLASS_FLOAT:
      type = code == TILUS_TYPE_F8E8M0 ? DataType::Scale() : DataType::Float(exponent, mantissa);
      break;
    default: return std::nullopt;
  }
  // Encoding it again shows what of the number was not the type's.
  if (!type.is_supported() || TypeCode(type) != code) return std::nullopt;
  return type;
}

// The names of all types, so that they can be given out without an owner. Filled once; nothing in
// it needs to be destroyed when the library is unloaded.
struct NameTable {
  struct Row {
    tilus_type code;
    char name[12];
  };
  std::array<Row, 128> rows;
  size_t count = 0;

  NameTable() {
    for (DataType type : AllDataTypes()) {
      const std::string name = type.name();
      if (count == rows.size() || name.size() >= sizeof(Row::name)) continue;
      Row& row = rows[count++];
      row.code = TypeCode(type);
      std::memcpy(row.name, name.c_str(), name.size() + 1);
    }
  }
};

const NameTable& Names() {
  static const NameTable table;
  return table;
}

// A list of `count` values of the caller: NULL only when there are none.
absl::Status HasList(const void* data, size_t count, absl::string_view name) {
  return count == 0 ? absl::OkStatus() : NotNull(data, name);
}

absl::StatusOr<int64_t> DenseBytes(DataType type, size_t count) {
  const auto bits = count > INT64_MAX ? std::nullopt
                                      : CheckedMul(static_cast<int64_t>(count), type.bits());
  if (!bits) return OutOfRange("count", absl::StrCat(count, " elements are too many"));
  return PackedBytes(static_cast<int64_t>(count), type.bits());
}

uint64_t LoadCode(const void* codes, uint32_t code_bytes, size_t index) {
  uint64_t code = 0;  // little-endian, as every target of the library is
  std::memcpy(&code, static_cast<const char*>(codes) + index * code_bytes, code_bytes);
  return code;
}

void StoreCode(void* codes, uint32_t code_bytes, size_t index, uint64_t code) {
  std::memcpy(static_cast<char*>(codes) + index * code_bytes, &code, code_bytes);
}

absl::Status CheckCodeBytes(DataType type, uint32_t code_bytes) {
  if (code_bytes != 1 && code_bytes != 2 && code_bytes != 4 && code_bytes != 8) {
    return BadArgument("code_bytes", absl::StrCat(code_bytes, " is not 1, 2, 4 or 8"));
  }
  if (type.bits() > static_cast<int>(code_bytes) * 8) {
    return BadArgument("code_bytes", absl::StrCat(code_bytes, " bytes do not hold a code of ",
                                                  type.name()));
  }
  return absl::OkStatus();
}

absl::Status CheckCodes(DataType type, const void* codes, uint32_t code_bytes, size_t count) {
  const uint64_t mask = CodeMask(type);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t code = LoadCode(codes, code_bytes, i);
    if ((code & ~mask) != 0) {
      return OutOfRange("codes", absl::StrFormat("code %#x at index %d is wider than %s", code, i,
                                                 type.name()));
    }
  }
  return absl::OkStatus();
}

// Codes are packed and unpacked this many at a time; a multiple of 8 fills whole bytes.
constexpr size_t kChunk = 512;

}  // namespace

tilus_type TypeCode(DataType type) {
  uint32_t kind = 0;
  switch (type.kind()) {
    case TypeKind::kBool: kind = TILUS_CLASS_BOOL; break;
    case TypeKind::kUInt: kind = TILUS_CLASS_UNSIGNED; break;
    case TypeKind::kInt: kind = TILUS_CLASS_SIGNED; break;
    case TypeKind::kFloat:
    case TypeKind::kScale: kind = TILUS_CLASS_FLOAT; break;
  }
  return kind << 24 | static_cast<uint32_t>(type.bits()) << 16 |
         static_cast<uint32_t>(type.exponent_bits()) << 8 |
         static_cast<uint32_t>(type.mantissa_bits());
}

absl::StatusOr<DataType> TypeOf(tilus_type code, absl::string_view name) {
  if (const auto type = FindType(code)) return *type;
  return BadArgument(name, absl::StrFormat("%#010x is not the number of a type", code),
                     "tilus_type_parse gives the number of a name");
}

}  // namespace tilus::capi

using namespace tilus::capi;  // the entries below are in the global namespace

tilus_error* tilus_type_parse(tilus_string name, tilus_type* out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(name.data, "name"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const absl::string_view text, TextOf(name, "name"));
    TILUS_ASSIGN_OR_RETURN(const tilus::DataType type, tilus::ParseDataType(text));
    *out = TypeCode(type);
    return absl::OkStatus();
  });
}

tilus_string tilus_type_name(tilus_type type) {
  try {
    const NameTable& names = Names();
    for (size_t i = 0; i < names.count; ++i) {
      if (names.rows[i].code == type) return tilus_string_of(names.rows[i].name);
    }
  } catch (...) {  // no memory to make the table with
  }
  return tilus_string_of("");
}

uint32_t tilus_type_bits(tilus_type type) {
  const auto found = FindType(type);
  return found ? static_cast<uint32_t>(found->bits()) : 0;
}

tilus_error* tilus_type_storage(tilus_type type, uint64_t count, uint64_t* out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const tilus::DataType t, TypeOf(type, "type"));
    TILUS_ASSIGN_OR_RETURN(const int64_t bytes, DenseBytes(t, count));
    *out = static_cast<uint64_t>(t.is_subbyte() ? tilus::RoundUp(bytes, 4) : bytes);
    return absl::OkStatus();
  });
}

tilus_error* tilus_type_encode(tilus_type type, const float* values, size_t count,
                               uint64_t* codes) {
  return Guard([&]() -> absl::Status {
    TILUS_ASSIGN_OR_RETURN(const tilus::DataType t, TypeOf(type, "type"));
    TILUS_RETURN_IF_ERROR(HasList(values, count, "values"));
    TILUS_RETURN_IF_ERROR(HasList(codes, count, "codes"));
    for (size_t i = 0; i < count; ++i) codes[i] = tilus::EncodeFromFloat(t, values[i]);
    return absl::OkStatus();
  });
}

tilus_error* tilus_type_decode(tilus_type type, const uint64_t* codes, size_t count,
                               float* values) {
  return Guard([&]() -> absl::Status {
    TILUS_ASSIGN_OR_RETURN(const tilus::DataType t, TypeOf(type, "type"));
    TILUS_RETURN_IF_ERROR(HasList(codes, count, "codes"));
    TILUS_RETURN_IF_ERROR(HasList(values, count, "values"));
    for (size_t i = 0; i < count; ++i) {
      const uint32_t bits = tilus::DecodeToF32Bits(t, codes[i]);
      std::memcpy(&values[i], &bits, sizeof bits);
    }
    return absl::OkStatus();
  });
}

tilus_error* tilus_type_convert(tilus_type from, tilus_type to, const uint64_t* codes,
                                size_t count, uint64_t* results) {
  return Guard([&]() -> absl::Status {
    TILUS_ASSIGN_OR_RETURN(const tilus::DataType source, TypeOf(from, "from"));
    TILUS_ASSIGN_OR_RETURN(const tilus::DataType target, TypeOf(to, "to"));
    TILUS_RETURN_IF_ERROR(HasList(codes, count, "codes"));
    TILUS_RETURN_IF_ERROR(HasList(results, count, "results"));
    if (count < 65536) {  // making the converter's table costs up to as many conversions
      for (size_t i = 0; i < count; ++i) {
        results[i] = tilus::ConvertCode(source, target, codes[i]);
      }
    } else {
      tilus::Converter(source, target).Convert({codes, count}, {results, count});
    }
    return absl::OkStatus();
  });
}

tilus_error* tilus_type_pack(tilus_type type, const void* codes, uint32_t code_bytes, size_t count,
                             void* out, size_t out_size) {
  return Guard([&]() -> absl::Status {
    TILUS_ASSIGN_OR_RETURN(const tilus::DataType t, TypeOf(type, "type"));
    TILUS_RETURN_IF_ERROR(CheckCodeBytes(t, code_bytes));
    TILUS_RETURN_IF_ERROR(HasList(codes, count, "codes"));
    TILUS_RETURN_IF_ERROR(HasList(out, count, "out"));
    TILUS_ASSIGN_OR_RETURN(const int64_t bytes, DenseBytes(t, count));
    if (out_size < static_cast<uint64_t>(bytes)) {
      return OutOfRange("out_size", absl::StrCat(count, " elements of ", t.name(), " need ", bytes,
                                                 " bytes, not ", out_size));
    }
    TILUS_RETURN_IF_ERROR(CheckCodes(t, codes, code_bytes, count));
    uint64_t chunk[kChunk];
    auto* target = static_cast<uint8_t*>(out);
    for (size_t first = 0; first < count; first += kChunk) {
      const size_t n = std::min(kChunk, count - first);
      for (size_t i = 0; i < n; ++i) chunk[i] = LoadCode(codes, code_bytes, first + i);
      const int64_t size = tilus::PackedBytes(static_cast<int64_t>(n), t.bits());
      tilus::PackBits({chunk, n}, t.bits(), {target, static_cast<size_t>(size)});
      target += size;
    }
    return absl::OkStatus();
  });
}

tilus_error* tilus_type_unpack(tilus_type type, tilus_buffer bytes, size_t count, void* codes,
                               uint32_t code_bytes) {
  return Guard([&]() -> absl::Status {
    TILUS_ASSIGN_OR_RETURN(const tilus::DataType t, TypeOf(type, "type"));
    TILUS_RETURN_IF_ERROR(CheckCodeBytes(t, code_bytes));
    TILUS_ASSIGN_OR_RETURN(const absl::string_view data, BytesOf(bytes, "bytes"));
    TILUS_RETURN_IF_ERROR(HasList(codes, count, "codes"));
    TILUS_ASSIGN_OR_RETURN(const int64_t needed, DenseBytes(t, count));
    if (data.size() < static_cast<uint64_t>(needed)) {
      return OutOfRange("bytes", absl::StrCat(count, " elements of ", t.name(), " are ", needed,
                                              " bytes, not ", data.size()));
    }
    uint64_t chunk[kChunk];
    const auto* source = reinterpret_cast<const uint8_t*>(data.data());
    for (size_t first = 0; first < count; first += kChunk) {
      const size_t n = std::min(kChunk, count - first);
      const int64_t size = tilus::PackedBytes(static_cast<int64_t>(n), t.bits());
      tilus::UnpackBits({source, static_cast<size_t>(size)}, t.bits(), {chunk, n});
      for (size_t i = 0; i < n; ++i) StoreCode(codes, code_bytes, first + i, chunk[i]);
      source += size;
    }
    return absl::OkStatus();
  });
}

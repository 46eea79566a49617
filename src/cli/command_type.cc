// tilusc type codes | encode | list
#include <charconv>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/api.h"
#include "cli/cat.h"
#include "cli/tool.h"

namespace tilus::cli {
namespace {

constexpr uint32_t kMaxListedBits = 16;

tilus_type_class ClassOf(tilus_type type) { return static_cast<tilus_type_class>(type >> 24); }
bool IsFloat(tilus_type type) { return ClassOf(type) == TILUS_CLASS_FLOAT; }

std::string Hex(uint32_t value, int digits) {
  char text[16];
  std::snprintf(text, sizeof text, "%0*x", digits, value);
  return text;
}

uint32_t BitsOf(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float FloatOf(uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

struct CodesOptions {
  std::string type;
};

// The value of every code, in order.
std::vector<float> AllValues(tilus_type type) {
  const uint32_t bits = tilus_type_bits(type);
  if (bits > kMaxListedBits) {
    Fail(Exit::kInput, Id::kTooLargeToPrint,
         Cat(View(tilus_type_name(type)), " has 2^", bits, " codes, and at most 2^", kMaxListedBits,
             " are printed"));
  }
  // A bool is stored in 8 bits, and has two codes.
  const size_t count = ClassOf(type) == TILUS_CLASS_BOOL ? 2 : size_t{1} << bits;
  std::vector<uint64_t> codes(count);
  for (size_t code = 0; code < count; ++code) codes[code] = code;
  std::vector<float> values(count);
  Check(tilus_type_decode(type, codes.data(), count, values.data()));
  return values;
}

void Codes(const CodesOptions& options, Tool& tool) {
  const tilus_type type = ParseType(options.type);
  const std::vector<float> values = AllValues(type);
  Json codes = Json::array();
  for (const float value : values) {
    // Integers of at most 16 bits are exact as floats.
    codes.push_back(IsFloat(type) ? Json(Hex(BitsOf(value), 8))
                                  : Json(static_cast<int64_t>(value)));
  }
  if (tool.json) {
    PrintJson({{"type", View(tilus_type_name(type))}, {"codes", std::move(codes)}});
    return;
  }
  const int digits = static_cast<int>((tilus_type_bits(type) + 3) / 4);
  for (size_t code = 0; code < values.size(); ++code) {
    char value[32];
    std::snprintf(value, sizeof value, "%.9g", static_cast<double>(values[code]));
    const std::string pattern = IsFloat(type) ? Cat(Hex(BitsOf(values[code]), 8), "  ") : "";
    PrintLine(Cat(Hex(static_cast<uint32_t>(code), digits), "  ", pattern, value));
  }
}

struct EncodeOptions {
  std::string type;
  std::vector<std::string> values;
};

float ParsePattern(const std::string& text) {
  std::string_view digits = text;
  if (digits.substr(0, 2) == "0x" || digits.substr(0, 2) == "0X") digits.remove_prefix(2);
  uint32_t bits = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    Fail(Exit::kUsage, Id::kUsage,
         Cat("\"", text, "\" is not the bit pattern of an f32 in hexadecimal"),
         "write 1.0 as 3f800000");
  }
  return FloatOf(bits);
}

void Encode(const EncodeOptions& options, Tool& tool) {
  std::vector<float> values;
  for (const std::string& text : options.values) values.push_back(ParsePattern(text));
  const tilus_type type = ParseType(options.type);
  std::vector<uint64_t> codes(values.size());
  Check(tilus_type_encode(type, values.data(), values.size(), codes.data()));
  if (tool.json) {
    PrintJson({{"type", View(tilus_type_name(type))}, {"codes", codes}});
    return;
  }
  for (const uint64_t code : codes) PrintLine(std::to_string(code));
}

struct ListOptions {};

const char* ClassName(tilus_type_class type_class) {
  switch (type_class) {
    case TILUS_CLASS_UNSIGNED: return "unsigned";
    case TILUS_CLASS_SIGNED: return "signed";
    case TILUS_CLASS_FLOAT: return "float";
    default: return "bool";
  }
}

// Every number of the form class, bits, exponent bits, mantissa bits that is a type. The library
// is asked, so the list cannot differ from what it takes.
std::vector<tilus_type> AllTypes() {
  constexpr uint32_t kMaxBits = 64, kMaxExponent = 11, kMaxMantissa = 52;
  std::vector<tilus_type> types;
  for (const tilus_type_class type_class :
       {TILUS_CLASS_BOOL, TILUS_CLASS_UNSIGNED, TILUS_CLASS_SIGNED, TILUS_CLASS_FLOAT}) {
    const bool is_float = type_class == TILUS_CLASS_FLOAT;
    for (uint32_t bits = 1; bits <= kMaxBits; ++bits) {
      for (uint32_t exponent = 0; exponent <= (is_float ? kMaxExponent : 0); ++exponent) {
        for (uint32_t mantissa = 0; mantissa <= (is_float ? kMaxMantissa : 0); ++mantissa) {
          const tilus_type type = static_cast<tilus_type>(type_class) << 24 | bits << 16 |
                                  exponent << 8 | mantissa;
          if (tilus_type_bits(type) != 0) types.push_back(type);
        }
      }
    }
  }
  return types;
}

void ListTypes(const ListOptions&, Tool& tool) {
  Json list = Json::array();
  for (const tilus_type type : AllTypes()) {
    const tilus_type_class type_class = ClassOf(type);
    Json row = {{"name", View(tilus_type_name(type))},
                {"class", ClassName(type_class)},
                {"bits", tilus_type_bits(type)}};
    if (IsFloat(type)) {
      row["exponent_bits"] = type >> 8 & 0xff;
      row["mantissa_bits"] = type & 0xff;
    }
    list.push_back(std::move(row));
  }
  if (tool.json) {
    PrintJson({{"types", std::move(list)}});
    return;
  }
  for (const Json& row : list) {
    char line[96];
    std::snprintf(line, sizeof line, "%-8s %-8s %2d bits", row["name"].get<std::string>().c_str(),
                  row["class"].get<std::string>().c_str(), row["bits"].get<int>());
    std::string text = line;
    if (row.contains("exponent_bits")) {
      text += Cat(": ", row["exponent_bits"].get<int>(), " exponent, ",
                  row["mantissa_bits"].get<int>(), " mantissa");
    }
    PrintLine(text);
  }
}

}  // namespace

void AddTypeCommands(CLI::App* type, Tool* tool) {
  auto codes = std::make_shared<CodesOptions>();
  CLI::App* app = AddCommand(type, "codes",
                             "Print the value of each code of a type of at most 16 bits; with "
                             "--json floats as f32 bit patterns",
                             "  tilusc type codes f6e3m2\n  tilusc type codes i4 --json");
  app->add_option("TYPE", codes->type, "An element type")->required();
  RunWith(tool, app, codes, Codes);

  auto encode = std::make_shared<EncodeOptions>();
  app = AddCommand(type, "encode", "Print the code of each value, given as f32 bit patterns",
                   "  tilusc type encode f8e4m3 --json 3f800000 7fc00000");
  app->add_option("TYPE", encode->type, "An element type")->required();
  app->add_option("HEX", encode->values, "f32 bit patterns in hexadecimal")
      ->option_text("...")
      ->required();
  RunWith(tool, app, encode, Encode);

  app = AddCommand(type, "list", "List every element type", "  tilusc type list --json");
  RunWith(tool, app, std::make_shared<ListOptions>(), ListTypes);
}

}  // namespace tilus::cli

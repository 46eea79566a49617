#include "run_spec.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/checked.h"
#include "base/status_macros.h"
#include "types/codec.h"
#include "types/packing.h"

namespace tilus::testing {
namespace {

constexpr char kMarker[] = "; run:";
constexpr uint8_t kPoisonByte = 0xcd;

// Splits at spaces that are outside brackets.
std::vector<std::string> Words(absl::string_view line) {
  std::vector<std::string> words;
  std::string word;
  int depth = 0;
  for (char c : line) {
    depth += (c == '[') - (c == ']');
    if (c == ' ' && depth == 0) {
      if (!word.empty()) words.push_back(word);
      word.clear();
    } else {
      word.push_back(c);
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

absl::StatusOr<ArgumentSpec> ParseArgument(const std::string& name, absl::string_view value) {
  ArgumentSpec spec;
  spec.name = name;
  if (absl::SimpleAtod(value, &spec.number)) return spec;
  spec.fill = Fill::kRandom;
  if (absl::StartsWith(value, "out:")) spec.fill = Fill::kPoison;
  if (absl::StartsWith(value, "zero:")) spec.fill = Fill::kZero;
  if (const size_t colon = value.find(':'); colon != absl::string_view::npos) {
    value.remove_prefix(colon + 1);
  }
  const size_t bracket = value.find('[');
  if (bracket == absl::string_view::npos || !absl::EndsWith(value, "]")) {
    return absl::InvalidArgumentError(absl::StrCat("argument ", name, " = ", value));
  }
  TILUS_ASSIGN_OR_RETURN(spec.type, ParseDataType(value.substr(0, bracket)));
  for (absl::string_view extent :
       absl::StrSplit(value.substr(bracket + 1, value.size() - bracket - 2), ',')) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(extent), &number)) {
      return absl::InvalidArgumentError(absl::StrCat("argument ", name, ": extent ", extent));
    }
    spec.dims.push_back(number);
  }
  return spec;
}

}  // namespace

int64_t ArgumentSpec::elements() const { return Product(dims); }

absl::StatusOr<std::vector<RunSpec>> ParseRunSpecs(absl::string_view text) {
  std::vector<RunSpec> specs;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, kMarker)) continue;
    RunSpec& spec = specs.emplace_back();
    for (const std::string& word : Words(line.substr(sizeof kMarker - 1))) {
      const size_t equals = word.find('=');
      if (equals == std::string::npos) {
        return absl::InvalidArgumentError(absl::StrCat("run line: ", word));
      }
      const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
      if (name == "kernel") {
        spec.kernel = value;
      } else if (name == "tol") {
        if (!absl::SimpleAtod(value, &spec.tolerance)) {
          return absl::InvalidArgumentError(absl::StrCat("tolerance ", value));
        }
      } else {
        TILUS_ASSIGN_OR_RETURN(ArgumentSpec argument, ParseArgument(name, value));
        spec.arguments.push_back(std::move(argument));
      }
    }
  }
  return specs;
}

std::vector<uint8_t> MakeBuffer(const ArgumentSpec& spec, uint64_t seed) {
  const int bits = spec.type.bits();
  std::vector<uint8_t> bytes(
      static_cast<size_t>(RoundUp(PackedBytes(spec.elements(), bits), 4)),
      spec.fill == Fill::kPoison ? kPoisonByte : uint8_t{0});
  if (spec.fill != Fill::kRandom) return bytes;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < spec.elements(); ++i) {
    uint64_t code = random() & CodeMask(spec.type);
    if (spec.type.is_bool()) code &= 1;
    if (spec.type.is_float()) {
      // Small types: every code but NaN and infinity; others: around 1.
      if (spec.type.bits() > 8) code = EncodeFromDouble(spec.type, normal(random));
      if (!std::isfinite(DecodeToDouble(spec.type, code))) code = 0;
    }
    WriteBits(bytes.data(), i * bits, bits, code);
  }
  return bytes;
}

absl::Status CompareBuffers(const ArgumentSpec& spec, const std::vector<uint8_t>& expected,
                            const std::vector<uint8_t>& actual, double tolerance) {
  const int bits = spec.type.bits();
  double scale = 0;
  if (tolerance > 0) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < spec.elements(); ++i) {
      const double value = DecodeToDouble(spec.type, ReadBits(expected.data(), i * bits, bits));
      if (!std::isfinite(value)) continue;
      sum += value * value;
      ++count;
    }
    scale = count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0;
  }
  int64_t differences = 0, first = -1;
  for (int64_t i = 0; i < spec.elements(); ++i) {
    const uint64_t e = ReadBits(expected.data(), i * bits, bits);
    const uint64_t a = ReadBits(actual.data(), i * bits, bits);
    if (e == a) continue;
    if (spec.type.is_float()) {
      if (IsNan(spec.type, e) && IsNan(spec.type, a)) continue;
      const double x = DecodeToDouble(spec.type, e), y = DecodeToDouble(spec.type, a);
      if (std::fabs(x - y) <= tolerance * (std::fabs(x) + scale)) continue;
    }
    if (differences++ == 0) first = i;
  }
  if (differences == 0) return absl::OkStatus();
  const uint64_t e = ReadBits(expected.data(), first * bits, bits);
  const uint64_t a = ReadBits(actual.data(), first * bits, bits);
  return absl::DataLossError(absl::StrCat(
      spec.name, ": ", differences, " of ", spec.elements(), " elements differ, first at ", first,
      ": expected ", DecodeToDouble(spec.type, e), " (code ", absl::Hex(e), "), got ",
      DecodeToDouble(spec.type, a), " (code ", absl::Hex(a), ")"));
}

}  // namespace tilus::testing

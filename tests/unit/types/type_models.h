// Independent models of the types: values by definition with ldexp, conversions by searching the
// nearest of all values. Slow and plain; nothing here shares code with src/types.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "types/data_type.h"

namespace tilus {

// The fields of a float format, written out here again from the format's definition.
struct ModelFormat {
  explicit ModelFormat(DataType type)
      : e(type.exponent_bits()),
        m(type.mantissa_bits()),
        shift(type == kTF32 ? 13 : 0),
        bias(static_cast<int>(std::ldexp(1.0, e - 1)) - 1) {
    const std::string name = type.name();
    ieee = name == "f16" || name == "bf16" || name == "tf32" || name == "f32" || name == "f8e5m2";
    e4m3 = name == "f8e4m3";
    saturates = type.bits() <= 8;
  }
  int e, m, shift, bias;
  bool ieee = false, e4m3 = false, saturates = false;

  // The value of an unsigned code without storage shift.
  double Magnitude(uint64_t code) const {
    const int field = static_cast<int>(code >> m);
    const double fraction = std::ldexp(static_cast<double>(code % (uint64_t{1} << m)), -m);
    const int ones = (1 << e) - 1;
    if (ieee && field == ones) {
      return fraction == 0 ? std::numeric_limits<double>::infinity()
                           : std::numeric_limits<double>::quiet_NaN();
    }
    if (e4m3 && code == 0x7f) return std::numeric_limits<double>::quiet_NaN();
    return field == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, field - bias);
  }
};

inline double ModelValue(DataType type, uint64_t code) {
  if (type == kF8E8M0) {
    return code == 0xff ? std::numeric_limits<double>::quiet_NaN()
                        : std::ldexp(1.0, static_cast<int>(code) - 127);
  }
  const ModelFormat format(type);
  code >>= format.shift;
  const uint64_t sign = uint64_t{1} << (format.e + format.m);
  const double magnitude = format.Magnitude(code % sign);
  return code & sign ? -magnitude : magnitude;
}

// Conversion to a float type of at most 2^18 values by search among the midpoints of neighbours.
// X is a type that holds the source exactly: double, long double, __float128.
class NearestModel {
 public:
  explicit NearestModel(DataType type) : type_(type), format_(type) {
    const uint64_t codes = type == kF8E8M0 ? 255 : uint64_t{1} << (format_.e + format_.m);
    for (uint64_t code = 0; code < codes; ++code) {
      const double value = type == kF8E8M0 ? ModelValue(type, code) : format_.Magnitude(code);
      if (!std::isfinite(value)) break;
      values_.push_back(value);
    }
    for (size_t i = 0; i + 1 < values_.size(); ++i) {
      midpoints_.push_back((values_[i] + values_[i + 1]) / 2);
    }
    if (!format_.saturates) {  // the value after the largest, were the exponent not at its end
      midpoints_.push_back((values_.back() + std::ldexp(1.0, (1 << format_.e) - 1 - format_.bias)) /
                           2);
    }
  }

  const std::vector<double>& values() const { return values_; }
  const std::vector<double>& midpoints() const { return midpoints_; }

  template <typename X>
  uint64_t Encode(X x) const {
    if (x != x) return Nan();
    const bool negative = x < 0 || (x == 0 && std::signbit(static_cast<double>(x)));
    if (type_ == kF8E8M0) return negative || x == 0 ? 0 : Search(x);
    const uint64_t sign = negative ? uint64_t{1} << (format_.e + format_.m) : 0;
    return (sign | Search(negative ? -x : x)) << format_.shift;
  }

 private:
  template <typename X>
  uint64_t Search(X x) const {
    // The first midpoint that is not below x: x lies in the cell of the value before it, or on it.
    const auto at = std::lower_bound(midpoints_.begin(), midpoints_.end(), x,
                                     [](double midpoint, X value) { return X(midpoint) < value; });
    const uint64_t code = static_cast<uint64_t>(at - midpoints_.begin());
    if (at != midpoints_.end() && X(*at) == x && code % 2 == 1) return code + 1;
    return code;
  }

  uint64_t Nan() const {
    const std::string name = type_.name();
    if (name == "f16") return 0x7e00;
    if (name == "bf16") return 0x7fc0;
    if (name == "tf32") return 0x7fc00000;
    if (name == "f8e8m0") return 0xff;
    return (uint64_t{1} << (type_.bits() - 1)) - 1;  // f8e4m3, f8e5m2: 7f; the others: largest
  }

  DataType type_;
  ModelFormat format_;
  std::vector<double> values_;     // by code, ascending
  std::vector<double> midpoints_;  // [i] between values i and i + 1
};

// Float types whose values can all be listed.
inline std::vector<DataType> ListableFloatTypes() {
  std::vector<DataType> types;
  for (DataType type : AllDataTypes()) {
    if (type.is_float() && type != kF32 && type != kF64) types.push_back(type);
  }
  return types;
}

inline std::vector<DataType> IntegerTypes() {
  std::vector<DataType> types;
  for (DataType type : AllDataTypes()) {
    if (type.is_integer()) types.push_back(type);
  }
  return types;
}

}  // namespace tilus

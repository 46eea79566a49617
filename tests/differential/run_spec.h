// How a test program is run: arguments made from a line of the program's comments.
//
//     ; run: m=13 a=f16[13, 576] w=u8[36, 192, 64] c=out:f16[13, 1536] tol=1e-3
//
// In parameter order of the (single, or named by `kernel=`) program: a number for a scalar,
// TYPE[dims] for a buffer of random elements, zero:TYPE[dims] for zeros, out:TYPE[dims] for a
// buffer that is only written (poisoned first). Buffers are dense. tol is the allowed difference
// relative to the size of the results; absent: bit for bit, any NaN equal to any other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "types/data_type.h"

namespace tilus::testing {

enum class Fill : uint8_t { kScalar, kRandom, kZero, kPoison };

struct ArgumentSpec {
  std::string name;
  Fill fill = Fill::kScalar;
  DataType type = kI32;       // of a buffer
  std::vector<int64_t> dims;  // of a buffer
  double number = 0;          // of a scalar

  bool is_buffer() const { return fill != Fill::kScalar; }
  int64_t elements() const;
};

struct RunSpec {
  std::string kernel;  // empty: the file's only program
  std::vector<ArgumentSpec> arguments;
  double tolerance = 0;
};

// The run lines of a program's text, in order.
absl::StatusOr<std::vector<RunSpec>> ParseRunSpecs(absl::string_view text);

// The dense bytes of a buffer, rounded up to whole 32-bit words. Random floats are finite and of
// moderate size; equal seeds give equal bytes.
std::vector<uint8_t> MakeBuffer(const ArgumentSpec& spec, uint64_t seed);

// Compares two dense buffers of a spec. The message names the first difference.
absl::Status CompareBuffers(const ArgumentSpec& spec, const std::vector<uint8_t>& expected,
                            const std::vector<uint8_t>& actual, double tolerance);

}  // namespace tilus::testing

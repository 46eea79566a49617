// For tests of lowering: text in, both executions out.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/program.h"
#include "lower/lower.h"
#include "machine/kernel.h"
#include "simulate/simulate.h"

namespace tilus::lower {

struct Compiled {
  ir::Program program;     // after the passes
  machine::Kernel kernel;  // verified; simplified where asked
  std::string code;        // the kernel, printed
  // How many instructions there are of the opcodes whose rows are named `op`... ("LdGlobal"), and
  // that print with `text` in them.
  int Count(absl::string_view op, absl::string_view text = "") const;
};

enum class Simplify { kNo, kYes };

// Reads one program, runs the passes, lowers, and verifies the code.
absl::StatusOr<Compiled> Compile(absl::string_view text, Simplify simplify = Simplify::kYes,
                                 const LowerOptions& options = {});

// An argument: the code of a scalar, or a buffer.
struct Argument {
  static Argument Scalar(uint64_t code) { return {false, code, {}}; }
  static Argument Buffer(std::vector<uint8_t> bytes) { return {true, 0, std::move(bytes)}; }
  bool is_buffer = false;
  uint64_t code = 0;
  std::vector<uint8_t> bytes;
};

struct Outcome {
  std::vector<std::vector<uint8_t>> buffers;  // one an argument; empty for scalars
  std::string printed;
  simulate::Report report;  // of the simulator
};
absl::StatusOr<Outcome> Interpret(const Compiled& compiled, const std::vector<Argument>& arguments);
absl::StatusOr<Outcome> Simulate(const Compiled& compiled, const std::vector<Argument>& arguments);

// Compiles with and without simplification, runs all of it, and expects equal buffers and text, and
// a clean report. Gives what the simplified code is.
Compiled ExpectExecutionsAgree(absl::string_view text, const std::vector<Argument>& arguments);

// `count` bytes, reproducible.
std::vector<uint8_t> RandomBytes(std::mt19937* random, size_t count);
std::vector<uint8_t> Zeros(size_t count);
// f16 or f32 numbers that are small integers: sums of their products are exact.
std::vector<uint8_t> SmallHalves(std::mt19937* random, size_t count);
std::vector<uint8_t> SmallFloats(std::mt19937* random, size_t count);

}  // namespace tilus::lower

// The elements of a register file: fields of a bit string in 32-bit words.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "lower/arithmetic.h"
#include "lower/context.h"

namespace tilus::lower {

// Reads elements of `bits` bits: element i is bits [i * bits, (i + 1) * bits) of the words.
class ElementReader {
 public:
  ElementReader(machine::Builder& b, const RegisterFile& file, DataType type)
      : b_(b), file_(file), type_(type) {}

  // Zero-extended in 32 bits (in 64 for wider types).
  Operand Code(int64_t i) const;
  // In compute form.
  Operand Compute(const ArithmeticOptions& options, int64_t i) const;
  // A register that has element i at bits [align, align + bits), and anything around it.
  // @pre align + bits <= 32
  Operand FieldAt(int64_t i, int align) const;

 private:
  Operand Word(int64_t w) const { return file_.words[static_cast<size_t>(w)]; }

  machine::Builder& b_;
  const RegisterFile& file_;
  DataType type_;
};

// The words of elements given by their codes (zero-extended; 64-bit registers for wider types).
RegisterFile PackElements(machine::Builder& b, DataType type, absl::Span<const Operand> codes);

}  // namespace tilus::lower

// Scalar arithmetic and conversions in compute form (context.h), with the semantics of
// types/arithmetic.h and types/codec.h. Scalars and the elements of tensors share it.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "lower/context.h"
#include "machine/builder.h"
#include "types/arithmetic.h"
#include "types/data_type.h"

namespace tilus::lower {

// What of the target and the program decides how an operation is done.
struct ArithmeticOptions {
  int sm = 80;
  bool fast = false;  // hardware approximations of transcendentals, division and sqrt of f32
};

// The immediate that holds a code in compute form.
Operand ComputeImmediate(DataType type, uint64_t code);

// `op` on values of `type`: the result in the compute form of ScalarOpResultType(op, type). One
// correctly rounded operation for f16 and bf16; integers wrap at the type's own width.
Operand EmitOp(machine::Builder& b, const ArithmeticOptions& options, ScalarOp op, DataType type,
               absl::Span<const Operand> args);
// A comparison as a predicate.
Operand EmitCompare(machine::Builder& b, ScalarOp op, DataType type, Operand x, Operand y);
// A bool in compute form as a predicate, and back.
Operand ToPredicate(machine::Builder& b, Operand value);
Operand FromPredicate(machine::Builder& b, Operand predicate);
Operand Select(machine::Builder& b, DataType type, Operand predicate, Operand yes, Operand no);

// The conversion table of semantics.md.
Operand EmitConvert(machine::Builder& b, const ArithmeticOptions& options, DataType from,
                    DataType to, Operand value);

// A code, zero-extended in a 32-bit register (64-bit for types of more than 32 bits), to compute
// form, and back. The code of a value has no bits above the type's width.
Operand CodeToCompute(machine::Builder& b, const ArithmeticOptions& options, DataType type,
                      Operand code);
Operand ComputeToCode(machine::Builder& b, const ArithmeticOptions& options, DataType type,
                      Operand value);

}  // namespace tilus::lower

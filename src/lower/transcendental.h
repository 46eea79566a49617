// Transcendental functions. The accurate ones are computed in f64 and rounded once to f32; the
// fast ones are the hardware's approximations.
#pragma once

#include "lower/context.h"
#include "machine/builder.h"
#include "types/arithmetic.h"

namespace tilus::lower {

// exp, exp2, log, log2, rsqrt, sin, cos, tanh of an f32: within one ulp of the correctly rounded
// result (sin, cos for |x| <= 2^15). Sources of the method: argument reduction and Taylor or
// inverse hyperbolic tangent series, long enough that the truncation is below 2^-32.
Operand EmitTranscendental(machine::Builder& b, ScalarOp op, Operand x);
// The same of an f64, with a relative error below 2^-30.
Operand EmitTranscendentalF64(machine::Builder& b, ScalarOp op, Operand x);
// ex2.approx and its kin: some 2^-22 relative error, less near the ends of the range; sin and cos
// have 2^-20 absolute error for |x| <= pi.
Operand EmitFastTranscendental(machine::Builder& b, ScalarOp op, Operand x);

}  // namespace tilus::lower

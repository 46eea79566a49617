// Type resolution: from what a program says of its tensors to what they are.
//
// Fills the derived fields of every Tensor (dtype, shape, extents, and layouts where spelled) from
// its TensorDecl and the instruction that defines it, in program order:
//
//   global_view        the declared type, or what the pointer points to; the declared shape
//   alloc_*            as declared
//   register           as declared; shape from the layout when only that is given
//   load_*             the memory tensor's type; the declared shape, or the layout's, or the whole
//                      tensor's
//   elementwise        the operands' type (bool of comparisons); shapes broadcast over extents of 1
//   cast               the declared type, the operand's shape
//   view               the declared type and shape (the layout's, or the operand's, if not given)
//   dot                a[M, K], b[K, N], c[M, N]: c's
//
// and retypes literal operands to the type of the tensors beside them. Layouts that are not spelled
// stay unset: layout inference (src/passes) propagates them.
#pragma once

#include "base/diagnostic.h"
#include "ir/program.h"

namespace tilus::ir {

// Resolves every tensor that can be. Tensor::resolved stays false for one whose type cannot be
// told; exactly the causes are reported, not what follows from them. Running it again changes
// nothing. @pre ids are in range (parser, builder and wire see to that).
void ResolveTypes(Program* program, const Limits& limits, DiagnosticList* diagnostics);

// Evaluates layout aliases and specs, a part of ResolveTypes: LayoutAlias::layout and
// LayoutSpec::layout of every spec (an unknown alias or a bad expression is an error).
void ResolveLayouts(Program* program, DiagnosticList* diagnostics);

// The extents of a shape: the value where constant, else -1.
std::vector<int64_t> ConstantExtents(const Program& program, const std::vector<ExprPtr>& shape);

}  // namespace tilus::ir

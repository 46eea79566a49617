// Elementwise instructions and register initialisers.
//
// Each thread works on its own elements: element i of the result needs one element of each operand,
// which LocalMap finds (broadcast and local reordering included). Pairs of f16 and bf16 go two at a
// time where the machine has the operation; everything else goes element by element in compute form.
#include <numeric>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "ir/local_map.h"
#include "lower/arithmetic.h"
#include "lower/context.h"
#include "lower/elements.h"
#include "lower/families.h"
#include "types/codec.h"

namespace tilus::lower {
namespace {

using machine::Builder;
using machine::ImmU32;
using machine::Op;
using machine::RegClass;

// One operand of an elementwise instruction: the elements of a tensor, or one scalar for all.
struct Source {
  DataType type = kU8;
  const RegisterFile* file = nullptr;  // null for a scalar
  std::vector<int> map;                // result local -> operand local
  bool identity = true;
  Operand scalar;                      // in compute form
};

absl::StatusOr<Source> MakeSource(Context& ctx, const ir::Operand& operand,
                                  const ir::Tensor& result, DataType scalar_type) {
  Source source;
  const ArithmeticOptions options{ctx.options().sm, ctx.program().fast};
  if (const ir::ExprPtr& scalar = ir::ScalarOf(operand)) {
    source.type = scalar_type;
    source.scalar =
        EmitConvert(ctx.b(), options, scalar->type, scalar_type, ctx.Scalar(*scalar));
    return source;
  }
  const ir::TensorId id = ir::TensorOf(operand);
  const ir::Tensor& tensor = ctx.tensor(id);
  source.type = tensor.dtype;
  source.file = &ctx.Words(id);
  std::optional<std::vector<int>> map = ir::LocalMap(*result.layout, *tensor.layout);
  if (!map) {
    return ctx.Error(DiagId::kInternal,
                     absl::StrCat("tensor ", tensor.name, " lacks elements of the result"), "");
  }
  source.map = *std::move(map);
  source.identity = static_cast<int64_t>(source.map.size()) == tensor.layout->locals_per_thread();
  for (size_t i = 0; i < source.map.size(); ++i) {
    source.identity = source.identity && source.map[i] == static_cast<int>(i);
  }
  return source;
}

// The operation on two halves at once, or nullopt.
struct PairRow {
  ScalarOp op;
  Op f16x2, bf16x2;
};
constexpr PairRow kPairRows[] = {
    {ScalarOp::kAdd, Op::kAddF16x2, Op::kAddBF16x2},
    {ScalarOp::kSub, Op::kSubF16x2, Op::kSubBF16x2},
    {ScalarOp::kMul, Op::kMulF16x2, Op::kMulBF16x2},
    {ScalarOp::kFma, Op::kFmaF16x2, Op::kFmaBF16x2},
    {ScalarOp::kMin, Op::kMinF16x2, Op::kMinBF16x2},
    {ScalarOp::kMax, Op::kMaxF16x2, Op::kMaxBF16x2},
    {ScalarOp::kNeg, Op::kNegF16x2, Op::kNegBF16x2},
    {ScalarOp::kAbs, Op::kAbsF16x2, Op::kAbsBF16x2},
};

std::optional<Op> PairOp(ScalarOp op, DataType type) {
  for (const PairRow& row : kPairRows) {
    if (row.op != op) continue;
    if (type == kF16) return row.f16x2;
    if (type == kBF16) return row.bf16x2;
  }
  return std::nullopt;
}

// The word of a source that holds elements 2w and 2w + 1 of the result.
Operand PairWord(Builder& b, const Source& source, size_t w, size_t locals) {
  if (source.file == nullptr) {
    const Operand code = ComputeToCode(b, {}, source.type, source.scalar);
    return b.PrmtB32(code, code, ImmU32(0x1010));
  }
  if (source.identity) return source.file->words[w];
  const ElementReader reader(b, *source.file, source.type);
  const Operand low = reader.Code(source.map[2 * w]);
  if (2 * w + 1 >= locals) return low;
  return b.PrmtB32(low, reader.Code(source.map[2 * w + 1]), ImmU32(0x5410));
}

RegisterFile EmitPairs(Builder& b, Op op, absl::Span<const Source> sources, size_t locals) {
  RegisterFile file;
  for (size_t w = 0; w < (locals + 1) / 2; ++w) {
    const Reg result = b.NewReg(RegClass::kB32);
    std::vector<Operand> words;
    for (const Source& source : sources) {
      words.push_back(b.Materialize(RegClass::kB32, PairWord(b, source, w, locals)));
    }
    b.Emit(op, {Operand(result)}, words);
    file.words.push_back(result);
  }
  return file;
}

Operand ElementOf(Builder& b, const ArithmeticOptions& options, const Source& source, size_t i) {
  if (source.file == nullptr) return source.scalar;
  return ElementReader(b, *source.file, source.type).Compute(options, source.map[i]);
}

}  // namespace

absl::Status LowerElementwise(Context& ctx, const ir::Instruction& instruction) {
  Builder& b = ctx.b();
  const ArithmeticOptions options{ctx.options().sm, ctx.program().fast};
  const ir::Tensor& result = ctx.tensor(instruction.result);
  const bool is_where = instruction.opcode == ir::Opcode::kWhere;
  DataType type = result.dtype;
  for (size_t k = is_where ? 1 : 0; k < instruction.operands.size(); ++k) {
    const ir::TensorId id = ir::TensorOf(instruction.operands[k]);
    if (id == ir::kNoTensor) continue;
    type = ctx.tensor(id).dtype;
    break;
  }
  std::vector<Source> sources;
  for (const ir::Operand& operand : instruction.operands) {
    TILUS_ASSIGN_OR_RETURN(Source source, MakeSource(ctx, operand, result, type));
    sources.push_back(std::move(source));
  }
  const size_t locals = static_cast<size_t>(result.layout->locals_per_thread());
  const std::optional<ScalarOp> op =
      ir::ScalarOpOf(instruction.opcode);  // none for `where`
  if (op) {
    if (const std::optional<Op> pair = PairOp(*op, type)) {
      ctx.CommitResult(instruction, EmitPairs(b, *pair, sources, locals));
      return absl::OkStatus();
    }
  }
  std::vector<Operand> codes;
  for (size_t i = 0; i < locals; ++i) {
    std::vector<Operand> args;
    for (const Source& source : sources) args.push_back(ElementOf(b, options, source, i));
    const Operand value = is_where ? Select(b, type, ToPredicate(b, args[0]), args[1], args[2])
                                   : EmitOp(b, options, *op, type, args);
    codes.push_back(ComputeToCode(b, options, result.dtype, value));
  }
  ctx.CommitResult(instruction, PackElements(b, result.dtype, codes));
  return absl::OkStatus();
}

absl::Status LowerRegister(Context& ctx, const ir::Instruction& instruction) {
  Builder& b = ctx.b();
  const ArithmeticOptions options{ctx.options().sm, ctx.program().fast};
  const ir::Tensor& result = ctx.tensor(instruction.result);
  if (instruction.operands.empty()) {
    // Uninitialised is zero, as in the interpreter; what is never read costs nothing.
    const RegisterFile file = ctx.NewWords(result);
    for (Reg word : file.words) b.Mov(word, machine::ImmU32(0));
    ctx.CommitResult(instruction, file);
    return absl::OkStatus();
  }
  const ir::Expr& init = *ir::ScalarOf(instruction.operands[0]);
  const std::vector<Operand> thread = ctx.ThreadCoordinates(*result.layout);
  bool uses_index = false;
  ir::WalkNodes(init, [&uses_index](const ir::Expr& node) {
    uses_index = uses_index || node.kind == ir::ExprKind::kIndex;
  });
  std::vector<Operand> codes;
  for (int64_t i = 0; i < result.layout->locals_per_thread(); ++i) {
    if (uses_index) {
      std::vector<Operand> coordinates;
      const std::vector<int64_t> local = result.layout->LocalPart(i);
      for (size_t d = 0; d < local.size(); ++d) {
        coordinates.push_back(
            b.AddS32(thread[d], machine::ImmS32(static_cast<int32_t>(local[d]))));
      }
      ctx.SetIndexValues(coordinates);
    } else if (i > 0) {
      codes.push_back(codes[0]);
      continue;
    }
    const Operand value = EmitConvert(b, options, init.type, result.dtype, ctx.Scalar(init));
    codes.push_back(ComputeToCode(b, options, result.dtype, value));
  }
  ctx.CommitResult(instruction, PackElements(b, result.dtype, codes));
  return absl::OkStatus();
}

}  // namespace tilus::lower

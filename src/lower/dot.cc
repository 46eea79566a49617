// dot: c[M, N] + a[M, K] . b[K, N], by mma.sync where the layouts are made of its fragments, else
// by multiply-adds in each thread, where a thread holds what its part of c needs.
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "ir/text.h"
#include "layout/divide.h"
#include "lower/arithmetic.h"
#include "lower/context.h"
#include "lower/dot_match.h"
#include "lower/elements.h"
#include "lower/families.h"
#include "lower/mma.h"

namespace tilus::lower {
namespace {

using machine::Builder;
using machine::RegClass;

// The instruction and its fragments for one dot.
struct MmaPlan {
  MmaRow row;
  int vectors = 1;
  DotMatch match;  // of fragments
};

class DotLowering {
 public:
  DotLowering(Context* ctx, const ir::Instruction& instruction)
      : ctx_(*ctx),
        b_(ctx->b()),
        arithmetic_{ctx->options().sm, ctx->program().fast},
        instruction_(instruction),
        a_id_(ir::TensorOf(instruction.operands[0])),
        b_id_(ir::TensorOf(instruction.operands[1])),
        c_id_(ir::TensorOf(instruction.operands[2])),
        a_(ctx->tensor(a_id_)),
        b_tensor_(ctx->tensor(b_id_)),
        c_(ctx->tensor(c_id_)),
        result_(ctx->tensor(instruction.result)) {}

  absl::Status Lower() {
    if (!(*result_.layout == *c_.layout)) {
      return ctx_.Error(DiagId::kDotLayout,
                        absl::StrCat("the result ", Describe(result_),
                                     " has another layout than the operand ", Describe(c_)),
                        "give both the same layout");
    }
    if (const std::optional<MmaPlan> plan = PlanMma()) {
      EmitMma(*plan);
      return absl::OkStatus();
    }
    absl::StatusOr<DotMatch> match = MatchDot(*a_.layout, *b_tensor_.layout, *c_.layout);
    if (!match.ok()) return NoInstruction(match.status());
    EmitMultiplyAdds(*match);
    return absl::OkStatus();
  }

 private:
  // ---- mma.sync.

  std::optional<MmaPlan> PlanMma() {
    for (const MmaRow& row : MmaRows()) {
      if (!(row.a == a_.dtype && row.b == b_tensor_.dtype && row.c == c_.dtype &&
            row.c == result_.dtype)) {
        continue;
      }
      for (int vectors : kMmaVectors) {
        absl::StatusOr<DotMatch> match = MatchFragments(row, vectors);
        if (match.ok()) return MmaPlan{row, vectors, *std::move(match)};
        if (vectors == 1 && mma_reason_.empty()) {
          mma_row_ = &row;
          mma_reason_ = std::string(match.status().message());
        }
      }
    }
    return std::nullopt;
  }

  absl::StatusOr<DotMatch> MatchFragments(const MmaRow& row, int vectors) const {
    TILUS_ASSIGN_OR_RETURN(const RegisterLayout a, MmaLayoutA(row, vectors));
    TILUS_ASSIGN_OR_RETURN(const RegisterLayout b, MmaLayoutB(row, vectors));
    TILUS_ASSIGN_OR_RETURN(const RegisterLayout c, MmaLayoutC());
    TILUS_ASSIGN_OR_RETURN(const RegisterLayout outer_a, Divide(*a_.layout, a));
    TILUS_ASSIGN_OR_RETURN(const RegisterLayout outer_b, Divide(*b_tensor_.layout, b));
    TILUS_ASSIGN_OR_RETURN(const RegisterLayout outer_c, Divide(*c_.layout, c));
    return MatchDot(outer_a, outer_b, outer_c);
  }

  // Fragments are whole registers, one after the other: the fragment's locals are the inner ones.
  void EmitMma(const MmaPlan& plan) {
    const size_t a_words = static_cast<size_t>(2 * plan.row.halves);
    const size_t b_words = static_cast<size_t>(plan.row.halves);
    const size_t c_words = static_cast<size_t>(plan.row.c.bits() / 8);
    const RegisterFile a = ctx_.Words(a_id_), b = ctx_.Words(b_id_), c = ctx_.Words(c_id_);
    const RegisterFile d = Destination();
    const size_t vectors = static_cast<size_t>(plan.vectors);
    const size_t fragments = plan.match.a.size() / static_cast<size_t>(plan.match.k);
    bool first = true;
    for (size_t k = 0; k < static_cast<size_t>(plan.match.k); ++k) {
      for (size_t v = 0; v < vectors; ++v) {
        for (size_t j = 0; j < fragments; ++j) {
          const size_t at = j * static_cast<size_t>(plan.match.k) + k;
          const std::vector<Reg> a_regs = Strided(
              a, static_cast<size_t>(plan.match.a[at]) * a_words * vectors + v, a_words, vectors);
          const std::vector<Reg> b_regs = Strided(
              b, static_cast<size_t>(plan.match.b[at]) * b_words * vectors + v, b_words, vectors);
          b_.Mma(plan.row.op, Strided(d, j * c_words, c_words, 1), a_regs, b_regs,
                 Strided(first ? c : d, j * c_words, c_words, 1));
        }
        first = false;
      }
    }
    ctx_.CommitResult(instruction_, d);
  }

  static std::vector<Reg> Strided(const RegisterFile& file, size_t first, size_t count,
                                  size_t stride) {
    std::vector<Reg> regs;
    for (size_t i = 0; i < count; ++i) regs.push_back(file.words[first + i * stride]);
    return regs;
  }

  // An accumulator that is overwritten stays in its registers, unless they are factors too.
  RegisterFile Destination() {
    const bool accumulates =
        instruction_.in_place && instruction_.result == c_id_ && c_id_ != a_id_ && c_id_ != b_id_;
    return accumulates ? ctx_.Words(c_id_) : ctx_.NewWords(result_);
  }

  // ---- Multiply-adds.

  // What sums are kept in: f32 for narrower floats, 32 bits for narrower integers.
  static DataType AccumulatorOf(DataType type) {
    if (type.is_float()) return type == kF64 ? kF64 : kF32;
    return type.bits() > 32 ? kI64 : kI32;
  }

  std::vector<Operand> Factors(ir::TensorId id, DataType accumulator) {
    const ir::Tensor& tensor = ctx_.tensor(id);
    const ElementReader reader(b_, ctx_.Words(id), tensor.dtype);
    std::vector<Operand> factors;
    for (int64_t i = 0; i < tensor.layout->locals_per_thread(); ++i) {
      factors.push_back(
          EmitConvert(b_, arithmetic_, tensor.dtype, accumulator, reader.Compute(arithmetic_, i)));
    }
    return factors;
  }

  void MultiplyAdd(DataType accumulator, Reg sum, Operand x, Operand y, Operand before) {
    if (accumulator == kF32) {
      b_.FmaF32(sum, x, y, before);
    } else if (accumulator == kF64) {
      b_.FmaF64(sum, x, y, before);
    } else if (accumulator == kI32) {
      b_.MadLoS32(sum, x, y, before);
    } else {
      b_.MadLoS64(sum, x, y, before);
    }
  }

  void EmitMultiplyAdds(const DotMatch& match) {
    const DataType accumulator = AccumulatorOf(c_.dtype);
    const std::vector<Operand> a = Factors(a_id_, accumulator), b = Factors(b_id_, accumulator);
    const size_t depth = static_cast<size_t>(match.k);
    const size_t count = match.a.size() / depth;
    // 32-bit accumulators are the words themselves.
    const bool in_words = c_.dtype.bits() == 32 && c_.dtype == result_.dtype &&
                          (c_.dtype == kF32 || c_.dtype.is_integer());
    const RegisterFile file = in_words ? Destination() : RegisterFile{};
    const RegisterFile start = ctx_.Words(c_id_);
    std::vector<Reg> sums;
    for (size_t j = 0; j < count; ++j) {
      if (in_words) {
        sums.push_back(file.words[j]);
        continue;
      }
      const Operand before =
          ElementReader(b_, start, c_.dtype).Compute(arithmetic_, static_cast<int64_t>(j));
      sums.push_back(b_.Copy(ClassOf(ComputeTypeOf(accumulator)),
                             EmitConvert(b_, arithmetic_, c_.dtype, accumulator, before)));
    }
    for (size_t k = 0; k < depth; ++k) {
      for (size_t j = 0; j < count; ++j) {
        const Operand before = in_words && k == 0 ? Operand(start.words[j]) : Operand(sums[j]);
        MultiplyAdd(accumulator, sums[j], a[static_cast<size_t>(match.a[j * depth + k])],
                    b[static_cast<size_t>(match.b[j * depth + k])], before);
      }
    }
    if (in_words) {
      ctx_.CommitResult(instruction_, file);
      return;
    }
    std::vector<Operand> codes;
    for (Reg sum : sums) {
      const Operand value = EmitConvert(b_, arithmetic_, accumulator, result_.dtype, sum);
      codes.push_back(ComputeToCode(b_, arithmetic_, result_.dtype, value));
    }
    ctx_.CommitResult(instruction_, PackElements(b_, result_.dtype, codes));
  }

  // ---- Errors.

  std::string Describe(const ir::Tensor& tensor) const {
    return absl::StrCat(tensor.name, ": ", ir::PrintTensorType(ctx_.program(), tensor));
  }

  absl::Status NoInstruction(const absl::Status& why) const {
    std::string message = absl::StrCat("nothing computes this dot of ", Describe(a_), " and ",
                                       Describe(b_tensor_), " into ", Describe(c_));
    if (mma_row_ == nullptr) {
      absl::StrAppend(&message, ": no mma has these types, and for multiply-adds ", why.message());
      return ctx_.Error(DiagId::kDotLayout, message,
                        "give each thread the rows of a and the columns of b that its part of c "
                        "needs, or leave the layouts out");
    }
    absl::StrAppend(&message, ": as mma fragments, ", mma_reason_, "; as multiply-adds, ",
                    why.message());
    const auto a = MmaLayoutA(*mma_row_, 1), b = MmaLayoutB(*mma_row_, 1), c = MmaLayoutC();
    std::string hint = "leave the layouts out and they are chosen";
    if (a.ok() && b.ok() && c.ok()) {
      hint = absl::StrCat("let a end in ", a->ToString(), ", b in ", b->ToString(), ", c in ",
                          c->ToString(),
                          ", with each warp holding the rows of a and the columns of b that its "
                          "part of c needs; or leave the layouts out");
    }
    return ctx_.Error(DiagId::kDotLayout, message, hint);
  }

  Context& ctx_;
  Builder& b_;
  const ArithmeticOptions arithmetic_;
  const ir::Instruction& instruction_;
  const ir::TensorId a_id_, b_id_, c_id_;
  const ir::Tensor &a_, &b_tensor_, &c_, &result_;
  // Why the first mma of these types does not fit.
  const MmaRow* mma_row_ = nullptr;
  std::string mma_reason_;
};

}  // namespace

absl::Status LowerDot(Context& ctx, const ir::Instruction& instruction) {
  return DotLowering(&ctx, instruction).Lower();
}

}  // namespace tilus::lower

// Asynchronous copies from global to shared memory: cp.async.
//
// The tile is cut into vectors of 16, 8 or 4 bytes along its last dimension, the widest that are
// adjacent and aligned on both sides. (Where elements are not a power of two bits wide, into runs
// of several vectors that are whole elements.) The runs are spread over all threads of the block.
// What is out of range in global memory is filled with zero by the instruction: it reads fewer
// bytes than it writes.
//
// A tile without four adjacent bytes is loaded into registers and stored, which means the same: its
// wait has nothing to wait for, and the barrier that makes the copy visible to other threads is
// there all the same.
#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "layout/auto_layout.h"
#include "lower/context.h"
#include "lower/families.h"
#include "lower/tile_transfer.h"

namespace tilus::lower {
namespace {

using machine::Builder;
using machine::Compare;
using machine::Guard;
using machine::GuardScope;
using machine::ImmS32;
using machine::ImmU32;
using machine::RegClass;

// How the end of the range can cut a vector.
enum class Cut {
  kNever,  // in range as a whole, or not at all
  kAtEnd,  // the first elements of it may be in range
};

struct CopyPlan {
  int bytes = 0;         // of a vector
  int64_t elements = 0;  // of a run
  int64_t run_bytes = 0;
  Cut cut = Cut::kNever;
  // The runs of the tile, and which thread takes which: those of a layout, or (without one) runs
  // t, t + threads, ... for thread t.
  int64_t runs = 0;
  std::optional<RegisterLayout> layout;
};

class CopyLowering {
 public:
  CopyLowering(Context* ctx, const ir::Instruction& instruction, std::vector<int64_t> shape)
      : ctx_(*ctx),
        b_(ctx->b()),
        instruction_(instruction),
        source_(std::get<ir::TensorOperand>(instruction.operands[0])),
        target_(std::get<ir::TensorOperand>(instruction.operands[1])),
        shape_(std::move(shape)),
        last_(static_cast<int>(shape_.size()) - 1),
        threads_(ctx->program().num_threads()) {}

  absl::Status Lower() {
    for (int bytes : {16, 8, 4}) {
      if (const std::optional<CopyPlan> plan = Plan(bytes)) {
        Emit(*plan);
        return absl::OkStatus();
      }
    }
    return CopyThroughRegisters();
  }

 private:
  std::optional<CopyPlan> Plan(int bytes) const {
    const int bits = ctx_.tensor(source_.tensor).dtype.bits();
    CopyPlan plan;
    plan.bytes = bytes;
    plan.elements = std::lcm(bytes * 8, bits) / bits;
    plan.run_bytes = plan.elements * bits / 8;
    if (shape_.empty()) return std::nullopt;
    if (shape_.back() % plan.elements != 0) return std::nullopt;
    std::vector<int64_t> grid = shape_;
    grid.back() /= plan.elements;
    plan.runs = Product(grid);
    absl::StatusOr<RegisterLayout> layout = AutoLayout(grid, threads_);
    if (layout.ok() && layout->replication() == 1) plan.layout = *std::move(layout);
    const std::vector<ThreadCoordinate> steps = Steps(plan);
    const TileAddress from(&ctx_, source_, instruction_.dims, shape_, steps);
    const TileAddress to(&ctx_, target_, std::nullopt, shape_, steps);
    for (const std::vector<int64_t>& local : RunLocals(plan)) {
      if (!Adjacent(from, local, plan) || !Adjacent(to, local, plan)) return std::nullopt;
      const std::vector<int64_t> end = Shifted(local, plan.elements - 1);
      if (!to.SameRange(local, end)) return std::nullopt;
      if (from.SameRange(local, end)) continue;
      // Bytes are read from the front only, and the bounds of the other dimensions are the same.
      if (bits % 8 != 0 || !from.IsNonNegative(last_)) return std::nullopt;
      plan.cut = Cut::kAtEnd;
    }
    return plan;
  }

  bool Adjacent(const TileAddress& address, const std::vector<int64_t>& local,
                const CopyPlan& plan) const {
    return address.AlignmentLog2(local) >=
               std::countr_zero(static_cast<unsigned>(plan.bytes)) + 3 &&
           address.RunIsUnbroken(local, plan.elements) &&
           (plan.elements == 1 || address.Distance(local, Shifted(local, 1)) == 1);
  }

  std::vector<int64_t> Shifted(std::vector<int64_t> local, int64_t by) const {
    local.back() += by;
    return local;
  }

  // The local part of the runs of a thread; without a layout all of a coordinate is the thread's.
  std::vector<std::vector<int64_t>> RunLocals(const CopyPlan& plan) const {
    if (!plan.layout) return {std::vector<int64_t>(shape_.size(), 0)};
    std::vector<std::vector<int64_t>> locals = LocalParts(*plan.layout);
    for (std::vector<int64_t>& local : locals) local.back() *= plan.elements;
    return locals;
  }

  std::vector<RegisterLayout::Term> Terms(const CopyPlan& plan) const {
    std::vector<RegisterLayout::Term> terms = plan.layout->SpatialTerms();
    for (RegisterLayout::Term& term : terms) {
      if (term.dim == last_) term.stride *= plan.elements;
    }
    return terms;
  }

  std::vector<ThreadCoordinate> Steps(const CopyPlan& plan) const {
    if (plan.layout) return ThreadSteps(last_ + 1, Terms(plan));
    std::vector<ThreadCoordinate> steps(shape_.size());
    for (size_t d = 0; d < shape_.size(); ++d) {
      const int64_t stride = static_cast<int>(d) == last_ ? plan.elements : 1;
      if (shape_[d] > stride) steps[d].steps.push_back({shape_[d] / stride, stride});
    }
    return steps;
  }

  void Emit(const CopyPlan& plan) {
    if (plan.layout) {
      const std::vector<ThreadCoordinate> thread =
          ThreadCoordinatesHere(ctx_, last_ + 1, Terms(plan));
      TileAddress from(&ctx_, source_, instruction_.dims, shape_, thread);
      TileAddress to(&ctx_, target_, std::nullopt, shape_, thread);
      for (const std::vector<int64_t>& local : RunLocals(plan)) {
        EmitRun(plan, from, to, local, {});
      }
      return;
    }
    const std::vector<int64_t> origin(shape_.size(), 0);
    for (int64_t first = 0; first < plan.runs; first += threads_) {
      const Operand run = b_.AddS32(ctx_.ThreadIndex(), ImmS32(static_cast<int32_t>(first)));
      Guard exists;
      if (first + threads_ > plan.runs) {
        exists = machine::When(b_.Materialize(
            RegClass::kPred,
            b_.SetpU32(Compare::kLt, run, ImmU32(static_cast<uint32_t>(plan.runs)))));
      }
      std::vector<ThreadCoordinate> thread = Steps(plan);
      Operand rest = run;
      for (size_t d = shape_.size(); d-- > 0;) {
        const int64_t stride = static_cast<int>(d) == last_ ? plan.elements : 1;
        const Operand extent = ImmU32(static_cast<uint32_t>(shape_[d] / stride));
        const Operand digit = d > 0 ? b_.RemU32(rest, extent) : rest;
        thread[d].value = b_.MulLoS32(digit, ImmS32(static_cast<int32_t>(stride)));
        rest = b_.DivU32(rest, extent);
      }
      TileAddress from(&ctx_, source_, instruction_.dims, shape_, thread);
      TileAddress to(&ctx_, target_, std::nullopt, shape_, thread);
      EmitRun(plan, from, to, origin, exists);
    }
  }

  void EmitRun(const CopyPlan& plan, TileAddress& from, TileAddress& to,
               const std::vector<int64_t>& local, Guard exists) {
    const Operand all = ImmU32(static_cast<uint32_t>(plan.bytes));
    Operand size = all;
    Guard in_range = from.InRange(local);
    if (plan.cut == Cut::kAtEnd) {
      const int64_t element_bytes = plan.bytes / plan.elements;
      size = b_.MulLoS32(from.ElementsLeft(local, last_, plan.elements),
                         ImmU32(static_cast<uint32_t>(element_bytes)));
      in_range = from.InRangeBut(local, last_);
    }
    if (!in_range.always()) size = b_.SelpB32(size, ImmU32(0), in_range.pred);
    const Operand source = from.Address(local);
    const Operand target = to.Address(local);
    const Guard guard = And(b_, exists, to.InRange(local));
    GuardScope scoped(&b_, guard);
    for (int64_t at = 0; at < plan.run_bytes; at += plan.bytes) {
      b_.CpAsync(target.Plus(static_cast<int32_t>(at)), source.Plus(static_cast<int32_t>(at)),
                 plan.bytes, size,
                 plan.bytes == 16 ? Builder::CopyPath::kBypassL1 : Builder::CopyPath::kThroughL1);
    }
  }

  // A few elements at a time, so that the registers of a large tile do not run out.
  absl::Status CopyThroughRegisters() {
    constexpr size_t kBatch = 64;
    absl::StatusOr<RegisterLayout> layout = AutoLayout(shape_, threads_);
    if (!layout.ok()) {
      return ctx_.Error(DiagId::kCopyLayout,
                        absl::StrCat("no layout spreads the tile [", absl::StrJoin(shape_, ", "),
                                     "] over ", threads_, " threads"),
                        "copy a smaller tile");
    }
    const DataType dtype = ctx_.tensor(source_.tensor).dtype;
    const std::vector<ThreadCoordinate> thread =
        ThreadCoordinatesHere(ctx_, last_ + 1, layout->SpatialTerms());
    TileAddress from(&ctx_, source_, instruction_.dims, shape_, thread);
    TileAddress to(&ctx_, target_, std::nullopt, shape_, thread);
    const Guard owner = OwnerOf(ctx_, *layout);
    const std::vector<std::vector<int64_t>> locals = LocalParts(*layout);
    for (size_t first = 0; first < locals.size(); first += kBatch) {
      const auto batch = absl::MakeConstSpan(locals).subspan(first, kBatch);
      RegisterFile words;
      for (int64_t w = 0; w < CeilDiv(static_cast<int64_t>(batch.size()) * dtype.bits(), 32); ++w) {
        words.words.push_back(b_.NewReg(RegClass::kB32));
      }
      const Builder::Hint hint = HintOf(instruction_.cache);
      StoreTile(ctx_, to, batch, LoadTile(ctx_, from, batch, words, hint), owner, {});
    }
    return absl::OkStatus();
  }

  Context& ctx_;
  Builder& b_;
  const ir::Instruction& instruction_;
  const ir::TensorOperand& source_;
  const ir::TensorOperand& target_;
  std::vector<int64_t> shape_;
  int last_;
  int64_t threads_;
};

}  // namespace

absl::Status LowerCopyAsync(Context& ctx, const ir::Instruction& instruction) {
  std::vector<int64_t> shape;
  for (const ir::ExprPtr& extent : instruction.tile_shape) {
    shape.push_back(ctx.facts().Constant(*extent).value_or(1));
  }
  if (shape.empty()) shape = ctx.tensor(ir::TensorOf(instruction.operands[1])).extents;
  return CopyLowering(&ctx, instruction, std::move(shape)).Lower();
}

absl::Status LowerCommitGroup(Context& ctx, const ir::Instruction&) {
  ctx.b().CpAsyncCommitGroup();
  return absl::OkStatus();
}

absl::Status LowerWaitGroup(Context& ctx, const ir::Instruction& instruction) {
  const ir::ExprPtr& pending = ir::ScalarOf(instruction.operands[0]);
  ctx.b().CpAsyncWaitGroup(static_cast<int>(ctx.facts().Constant(*pending).value_or(0)));
  return absl::OkStatus();
}

absl::Status LowerWaitAll(Context& ctx, const ir::Instruction&) {
  ctx.b().CpAsyncWaitAll();
  return absl::OkStatus();
}

}  // namespace tilus::lower

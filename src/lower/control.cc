#include "lower/control.h"

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "lower/arithmetic.h"
#include "lower/dispatch.h"
#include "lower/families.h"

namespace tilus::lower {
namespace {

using machine::Unless;
using machine::When;

// What is generated for one instruction is at least this many bytes of PTX; a cheap early bound.
constexpr int64_t kBytesPerInstruction = 16;

// Whether a break or continue of this loop stands in the block.
bool HasLoopExit(const ir::Block& block) {
  for (const ir::Stmt& stmt : block.stmts) {
    if (std::holds_alternative<ir::BreakStmt>(stmt.node) ||
        std::holds_alternative<ir::ContinueStmt>(stmt.node)) {
      return true;
    }
    if (const auto* branch = std::get_if<ir::IfStmt>(&stmt.node)) {
      if (HasLoopExit(branch->then_body) || HasLoopExit(branch->else_body)) return true;
    }
  }
  return false;
}

class StatementLowering {
 public:
  explicit StatementLowering(Context& ctx)
      : ctx_(ctx), arithmetic_{ctx.options().sm, ctx.program().fast} {}

  absl::Status LowerBlock(const ir::Block& block, const ir::StmtPath* parent, const char* owner,
                          const char* name) {
    ir::StmtPath path{parent, owner, name, 0};
    for (const ir::Stmt& stmt : block.stmts) {
      ctx_.EnterStatement(stmt, path);
      if (const std::atomic<bool>* cancelled = ctx_.options().cancelled;
          cancelled != nullptr && cancelled->load(std::memory_order_relaxed)) {
        return MakeError(DiagId::kCancelled, "the compile was cancelled");
      }
      if (static_cast<int64_t>(ctx_.b().kernel().instrs.size()) * kBytesPerInstruction >
          ctx_.options().limits.max_code_bytes) {
        return ctx_.Error(DiagId::kLimitCode,
                          absl::StrCat("the generated code is larger than ",
                                       ctx_.options().limits.max_code_bytes, " bytes"),
                          "unroll less, or raise the context's code limit");
      }
      TILUS_RETURN_IF_ERROR(std::visit([&](const auto& s) { return Lower(s, path); }, stmt.node));
      ++path.index;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Lower(const ir::Instruction& instruction, const ir::StmtPath&) {
    return LowerInstruction(ctx_, instruction);
  }

  absl::Status Lower(const ir::IfStmt& branch, const ir::StmtPath& path) {
    ctx_.b().BeginIf(When(ctx_.Condition(*branch.condition)));
    TILUS_RETURN_IF_ERROR(LowerBlock(branch.then_body, &path, "if", "then"));
    if (!branch.else_body.stmts.empty()) {
      ctx_.b().BeginElse();
      TILUS_RETURN_IF_ERROR(LowerBlock(branch.else_body, &path, "if", "else"));
    }
    ctx_.b().EndIf();
    return absl::OkStatus();
  }

  absl::Status Lower(const ir::WhileStmt& loop, const ir::StmtPath& path) {
    ctx_.b().BeginLoop();
    ctx_.b().Break(Unless(ctx_.Condition(*loop.condition)));
    TILUS_RETURN_IF_ERROR(LowerBlock(loop.body, &path, "while", "body"));
    ctx_.b().EndLoop();
    return absl::OkStatus();
  }

  absl::Status Lower(const ir::ForStmt& loop, const ir::StmtPath& path) {
    const std::optional<int64_t> step = ctx_.facts().Constant(*loop.step);
    const std::optional<int64_t> trips = TripCount(loop);
    int64_t copies = loop.unroll == ir::kUnrollFull ? trips.value_or(1) : loop.unroll;
    if (trips) copies = std::min(copies, *trips);
    if (!step || copies <= 1 || HasLoopExit(loop.body)) return LowerRolled(loop, path);
    if (trips && copies == *trips) {
      const std::optional<int64_t> begin = ctx_.facts().Constant(*loop.begin);
      for (int64_t i = 0; i < *trips; ++i) {
        ctx_.Define(loop.var, ComputeImmediate(TypeOf(loop), static_cast<uint64_t>(*begin + i * *step)));
        TILUS_RETURN_IF_ERROR(LowerBlock(loop.body, &path, "for", "body"));
      }
      return absl::OkStatus();
    }
    return LowerUnrolled(loop, path, *step, copies, trips);
  }

  DataType TypeOf(const ir::ForStmt& loop) const {
    return ctx_.program().vars[static_cast<size_t>(loop.var)].type;
  }

  // The number of rounds, when it is known and the loop variable does not overflow on the way.
  std::optional<int64_t> TripCount(const ir::ForStmt& loop) const {
    const std::optional<int64_t> begin = ctx_.facts().Constant(*loop.begin);
    const std::optional<int64_t> end = ctx_.facts().Constant(*loop.end);
    const std::optional<int64_t> step = ctx_.facts().Constant(*loop.step);
    if (!begin || !end || !step || *step == 0) return std::nullopt;
    constexpr int64_t kFar = int64_t{1} << 31;
    for (int64_t v : {*begin, *end, *step}) {
      if (v <= -kFar || v >= kFar) return std::nullopt;
    }
    const int64_t distance = *step > 0 ? *end - *begin : *begin - *end;
    const int64_t size = *step > 0 ? *step : -*step;
    return distance <= 0 ? 0 : (distance + size - 1) / size;
  }

  Operand Add(const ir::ForStmt& loop, Operand x, Operand y) {
    return EmitOp(ctx_.b(), arithmetic_, ScalarOp::kAdd, TypeOf(loop), {x, y});
  }

  // Leaves the loop unless `value` is before `end` in the direction of the step.
  void BreakUnlessBefore(const ir::ForStmt& loop, Operand value, Operand end, Operand step) {
    const DataType type = TypeOf(loop);
    machine::Builder& b = ctx_.b();
    const std::optional<int64_t> constant = ctx_.facts().Constant(*loop.step);
    Operand before;
    if (constant) {
      before = EmitCompare(b, *constant > 0 ? ScalarOp::kLt : ScalarOp::kGt, type, value, end);
    } else {
      const Operand up = EmitCompare(b, ScalarOp::kGt, type, step, ComputeImmediate(type, 0));
      const Operand below = EmitCompare(b, ScalarOp::kLt, type, value, end);
      const Operand above = EmitCompare(b, ScalarOp::kGt, type, value, end);
      before = b.OrPred(b.AndPred(up, below), b.AndPred(b.NotPred(up), above));
    }
    b.Break(Unless(b.Materialize(machine::RegClass::kPred, before)));
  }

  // Bounds are evaluated once, before the first round.
  absl::Status LowerRolled(const ir::ForStmt& loop, const ir::StmtPath& path) {
    machine::Builder& b = ctx_.b();
    const Operand end = ctx_.Snapshot(*loop.end, ctx_.Scalar(*loop.end));
    const Operand step = ctx_.Snapshot(*loop.step, ctx_.Scalar(*loop.step));
    const Reg i = ctx_.DefineVariable(loop.var, ctx_.Scalar(*loop.begin));
    b.BeginLoop();
    BreakUnlessBefore(loop, i, end, step);
    TILUS_RETURN_IF_ERROR(LowerBlock(loop.body, &path, "for", "body"));
    b.BeginLatch();
    b.Mov(i, Add(loop, i, step));
    b.EndLoop();
    return absl::OkStatus();
  }

  // `copies` rounds at a time while that many are left, then the rest one by one.
  absl::Status LowerUnrolled(const ir::ForStmt& loop, const ir::StmtPath& path, int64_t step,
                             int64_t copies, std::optional<int64_t> trips) {
    machine::Builder& b = ctx_.b();
    const DataType type = TypeOf(loop);
    const Operand end = ctx_.Snapshot(*loop.end, ctx_.Scalar(*loop.end));
    const Operand step_value = ComputeImmediate(type, static_cast<uint64_t>(step));
    const Reg i = ctx_.DefineVariable(loop.var, ctx_.Scalar(*loop.begin));
    b.BeginLoop();
    // The last of the copies must be in range. For constant bounds the sum cannot overflow; for
    // others the distance is compared, which cannot either once i is before end.
    const Operand last = Operand(ComputeImmediate(type, static_cast<uint64_t>((copies - 1) * step)));
    if (!trips) BreakUnlessBefore(loop, i, end, step_value);
    const ScalarOp before = step > 0 ? ScalarOp::kGt : ScalarOp::kLt;
    const Operand distance = EmitOp(b, arithmetic_, ScalarOp::kSub, type, {end, i});
    b.Break(Unless(b.Materialize(machine::RegClass::kPred,
                                 EmitCompare(b, before, type, distance, last))));
    for (int64_t c = 0; c < copies; ++c) {
      ctx_.Define(loop.var, Add(loop, i, ComputeImmediate(type, static_cast<uint64_t>(c * step))));
      TILUS_RETURN_IF_ERROR(LowerBlock(loop.body, &path, "for", "body"));
    }
    b.BeginLatch();
    b.Mov(i, Add(loop, i, ComputeImmediate(type, static_cast<uint64_t>(copies * step))));
    b.EndLoop();
    if (trips && *trips % copies == 0) return absl::OkStatus();
    ctx_.Define(loop.var, i);
    b.BeginLoop();
    BreakUnlessBefore(loop, i, end, step_value);
    TILUS_RETURN_IF_ERROR(LowerBlock(loop.body, &path, "for", "body"));
    b.BeginLatch();
    b.Mov(i, Add(loop, i, step_value));
    b.EndLoop();
    return absl::OkStatus();
  }

  absl::Status Lower(const ir::DefineStmt& define, const ir::StmtPath&) {
    const Operand value = ctx_.Scalar(*define.value);
    if (ctx_.program().vars[static_cast<size_t>(define.var)].kind == ir::VarKind::kMutable) {
      ctx_.DefineVariable(define.var, value);
    } else {
      ctx_.Define(define.var, ctx_.Snapshot(*define.value, value));
    }
    return absl::OkStatus();
  }

  absl::Status Lower(const ir::AssignStmt& assign, const ir::StmtPath&) {
    ctx_.b().Mov(ctx_.VariableRegister(assign.var), ctx_.Scalar(*assign.value));
    return absl::OkStatus();
  }

  absl::Status Lower(const ir::BreakStmt&, const ir::StmtPath&) {
    ctx_.b().Break();
    return absl::OkStatus();
  }

  absl::Status Lower(const ir::ContinueStmt&, const ir::StmtPath&) {
    ctx_.b().Continue();
    return absl::OkStatus();
  }

  Context& ctx_;
  ArithmeticOptions arithmetic_;
};

}  // namespace

absl::Status LowerBody(Context& ctx) {
  return StatementLowering(ctx).LowerBlock(ctx.program().body, nullptr, "", "body");
}

absl::Status LowerSynchronize(Context& ctx, const ir::Instruction&) {
  ctx.b().SyncThreads();
  return absl::OkStatus();
}

absl::Status LowerExit(Context& ctx, const ir::Instruction&) {
  ctx.b().Exit();
  return absl::OkStatus();
}

}  // namespace tilus::lower

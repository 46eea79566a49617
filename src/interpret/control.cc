#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "interpret/execution.h"
#include "ir/text.h"
#include "types/codec.h"

namespace tilus::interpret {

Execution::Execution(const ir::Program& program, absl::Span<const Argument> arguments,
                     const Options& options)
    : program_(program),
      options_(options),
      arguments_(arguments),
      scalars_(program),
      values_(program.tensors.size()),
      shared_storage_(program.tensors.size()),
      tables_(program.tensors.size()) {
  for (size_t i = 0; i < program.params.size(); ++i) {
    scalars_.Set(program.params[i], arguments[i].value);
  }
}

absl::Status Execution::RunBlock(std::array<int64_t, 3> block) {
  block_ = block;
  return RunStatements(program_.body, nullptr, "", "body").status();
}

absl::Status Execution::CountStep() {
  constexpr int64_t kPollEvery = 256;
  ++steps_;
  if (steps_ % kPollEvery == 0 && options_.cancelled && options_.cancelled()) {
    return MakeError(DiagId::kCancelled, "the run was cancelled");
  }
  if (steps_ <= options_.max_steps) return absl::OkStatus();
  return Error(DiagId::kStepLimit,
               absl::StrCat("the program ran ", options_.max_steps, " statements without ending"),
               "check the conditions of its loops, or raise the limit");
}

absl::StatusOr<Execution::Flow> Execution::RunStatements(const ir::Block& block,
                                                         const ir::StmtPath* parent,
                                                         const char* owner, const char* name) {
  ir::StmtPath path{parent, owner, name, 0};
  for (const ir::Stmt& stmt : block.stmts) {
    position_ = {&stmt, &path};
    TILUS_RETURN_IF_ERROR(CountStep());
    TILUS_ASSIGN_OR_RETURN(const Flow flow,
                           std::visit([this](const auto& s) { return Run(s); }, stmt.node));
    if (flow != Flow::kNext) return flow;
    ++path.index;
  }
  return Flow::kNext;
}

absl::StatusOr<Execution::Flow> Execution::Run(const ir::ForStmt& loop) {
  const Position here = position_;
  const DataType type = program_.vars[static_cast<size_t>(loop.var)].type;
  const int64_t end = scalars_.Int(*loop.end);
  const int64_t step = scalars_.Int(*loop.step);
  int64_t i = scalars_.Int(*loop.begin);
  const bool is_unsigned = !type.is_signed();
  const auto before = [is_unsigned](int64_t a, int64_t b) {
    return is_unsigned ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  };
  while (step > 0 ? before(i, end) : before(end, i)) {
    position_ = here;
    TILUS_RETURN_IF_ERROR(CountStep());
    scalars_.Set(loop.var, EncodeFromInt64(type, i));
    TILUS_ASSIGN_OR_RETURN(const Flow flow, RunStatements(loop.body, here.path, "for", "body"));
    if (flow == Flow::kExit) return flow;
    if (flow == Flow::kBreak) break;
    // The variable wraps as its type does.
    i = DecodeToInt64(type, EncodeFromInt64(type, static_cast<int64_t>(static_cast<uint64_t>(i) +
                                                                       static_cast<uint64_t>(step))));
  }
  return Flow::kNext;
}

absl::StatusOr<Execution::Flow> Execution::Run(const ir::IfStmt& branch) {
  const Position here = position_;
  if (scalars_.Code(*branch.condition) != 0) {
    return RunStatements(branch.then_body, here.path, "if", "then");
  }
  return RunStatements(branch.else_body, here.path, "if", "else");
}

absl::StatusOr<Execution::Flow> Execution::Run(const ir::WhileStmt& loop) {
  const Position here = position_;
  while (scalars_.Code(*loop.condition) != 0) {
    position_ = here;
    TILUS_RETURN_IF_ERROR(CountStep());
    TILUS_ASSIGN_OR_RETURN(const Flow flow, RunStatements(loop.body, here.path, "while", "body"));
    if (flow == Flow::kExit) return flow;
    if (flow == Flow::kBreak) break;
  }
  return Flow::kNext;
}

absl::StatusOr<Execution::Flow> Execution::Run(const ir::DefineStmt& define) {
  scalars_.Set(define.var, scalars_.Code(*define.value));
  return Flow::kNext;
}

absl::StatusOr<Execution::Flow> Execution::Run(const ir::AssignStmt& assign) {
  scalars_.Set(assign.var, scalars_.Code(*assign.value));
  return Flow::kNext;
}

absl::StatusOr<Execution::Flow> Execution::Run(const ir::Instruction& instruction) {
  using ir::Opcode;
  absl::Status status;
  switch (instruction.opcode) {
    case Opcode::kBlockIndices:
      for (size_t d = 0; d < instruction.index_results.size(); ++d) {
        const ir::VarId var = instruction.index_results[d];
        scalars_.Set(var, EncodeFromInt64(program_.vars[static_cast<size_t>(var)].type, block_[d]));
      }
      break;
    case Opcode::kGlobalView: status = GlobalView(instruction); break;
    case Opcode::kAllocGlobal: status = AllocGlobal(instruction); break;
    case Opcode::kAllocShared: status = AllocShared(instruction); break;
    case Opcode::kRegister: status = Register(instruction); break;
    case Opcode::kLoadGlobal:
    case Opcode::kLoadShared: status = Load(instruction); break;
    case Opcode::kStoreGlobal:
    case Opcode::kStoreShared: status = Store(instruction); break;
    case Opcode::kCopyAsync: status = CopyAsync(instruction); break;
    case Opcode::kCast: status = Cast(instruction); break;
    case Opcode::kView: status = View(instruction); break;
    case Opcode::kDot: status = Dot(instruction); break;
    case Opcode::kPrint: status = Print(instruction); break;
    case Opcode::kExit: return Flow::kExit;
    // A block runs as one: what orders its threads has nothing to do here, and a copy is done when
    // it is issued.
    case Opcode::kFreeShared:
    case Opcode::kCommitGroup:
    case Opcode::kWaitGroup:
    case Opcode::kWaitAll:
    case Opcode::kSynchronize: break;
    default: status = Elementwise(instruction); break;
  }
  if (!status.ok()) return status;
  return Flow::kNext;
}

absl::Status Execution::Error(DiagId id, absl::string_view message, absl::string_view hint) const {
  Diagnostic d;
  d.id = id;
  d.message = std::string(message);
  d.hint = std::string(hint);
  if (position_.statement != nullptr) {
    d.path = position_.path->ToString(program_.name);
    d.excerpt = ir::PrintStatementHead(program_, *position_.statement);
    d.span.line = position_.statement->span.line;
  }
  return MakeError(std::move(d));
}

}  // namespace tilus::interpret

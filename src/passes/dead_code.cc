// Dead code elimination: an instruction stays when it has an effect outside registers, or when
// something that stays reads its result.
#include <algorithm>
#include <vector>

#include "ir/analysis.h"
#include "ir/walk.h"
#include "passes/passes.h"

namespace tilus::passes {
namespace {

constexpr uint32_t kEffects = ir::kWrites | ir::kAsync | ir::kBarrier | ir::kEndsBlock;

class DeadCode {
 public:
  explicit DeadCode(ir::Program* program)
      : program_(*program), facts_(*program), live_(program->tensors.size(), false),
        writers_(program->tensors.size()) {}

  void Run() {
    ir::WalkInstructions(program_, [this](const ir::Instruction& instruction, const ir::StmtPath&) {
      if (instruction.result != ir::kNoTensor) {
        writers_[static_cast<size_t>(instruction.result)].push_back(&instruction);
      }
      if (HasEffect(instruction)) MarkOperands(instruction);
    });
    while (!pending_.empty()) {
      const ir::TensorId id = pending_.back();
      pending_.pop_back();
      for (const ir::Instruction* writer : writers_[static_cast<size_t>(id)]) MarkOperands(*writer);
    }
    Sweep(&program_.body);
  }

 private:
  static bool HasEffect(const ir::Instruction& instruction) {
    return (ir::InfoOf(instruction.opcode).traits & kEffects) != 0 ||
           instruction.opcode == ir::Opcode::kFreeShared;
  }

  void MarkOperands(const ir::Instruction& instruction) {
    for (const ir::Operand& operand : instruction.operands) Mark(ir::TensorOf(operand));
  }

  void Mark(ir::TensorId id) {
    if (id == ir::kNoTensor || live_[static_cast<size_t>(id)]) return;
    live_[static_cast<size_t>(id)] = true;
    pending_.push_back(id);
  }

  bool IsDead(const ir::Stmt& stmt) const {
    if (const auto* instruction = std::get_if<ir::Instruction>(&stmt.node)) {
      if (HasEffect(*instruction)) return false;
      if (!instruction->index_results.empty()) return false;  // scalars are the machine's to drop
      return instruction->result != ir::kNoTensor &&
             !live_[static_cast<size_t>(instruction->result)];
    }
    if (const auto* loop = std::get_if<ir::ForStmt>(&stmt.node)) return loop->body.stmts.empty();
    if (const auto* branch = std::get_if<ir::IfStmt>(&stmt.node)) {
      return branch->then_body.stmts.empty() && branch->else_body.stmts.empty();
    }
    return false;
  }

  void Sweep(ir::Block* block) {
    for (ir::Stmt& stmt : block->stmts) {
      if (auto* loop = std::get_if<ir::ForStmt>(&stmt.node)) {
        Sweep(&loop->body);
      } else if (auto* loop = std::get_if<ir::WhileStmt>(&stmt.node)) {
        Sweep(&loop->body);
      } else if (auto* branch = std::get_if<ir::IfStmt>(&stmt.node)) {
        const std::optional<int64_t> condition = facts_.Constant(*branch->condition);
        if (condition && *condition != 0) branch->else_body.stmts.clear();
        if (condition && *condition == 0) branch->then_body.stmts.clear();
        Sweep(&branch->then_body);
        Sweep(&branch->else_body);
      }
    }
    auto& stmts = block->stmts;
    stmts.erase(std::remove_if(stmts.begin(), stmts.end(),
                               [this](const ir::Stmt& stmt) { return IsDead(stmt); }),
                stmts.end());
  }

  ir::Program& program_;
  ir::Facts facts_;
  std::vector<bool> live_;
  std::vector<std::vector<const ir::Instruction*>> writers_;
  std::vector<ir::TensorId> pending_;
};

}  // namespace

absl::Status EliminateDeadCode(ir::Program* program, const ir::Limits&) {
  DeadCode(program).Run();
  return absl::OkStatus();
}

}  // namespace tilus::passes

#include "ir/instruction.h"

namespace tilus::ir {
namespace {

constexpr ResultKind kNone = ResultKind::kNone;
constexpr ResultKind kIndices = ResultKind::kIndices;
constexpr ResultKind kGlobal = ResultKind::kGlobal;
constexpr ResultKind kShared = ResultKind::kShared;
constexpr ResultKind kRegister = ResultKind::kRegister;

constexpr InstructionInfo kRows[] = {
#define TILUS_INSTRUCTION(name, text, wire, result, operands, attributes, traits, summary) \
  {Opcode::name, text, wire, result, operands, attributes, traits, summary},
#include "ir/instructions.def"
#undef TILUS_INSTRUCTION
};

}  // namespace

const InstructionInfo& InfoOf(Opcode opcode) { return kRows[static_cast<size_t>(opcode)]; }
absl::Span<const InstructionInfo> AllInstructions() { return kRows; }

const InstructionInfo* FindInstruction(absl::string_view name) {
  for (const InstructionInfo& row : kRows) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

const InstructionInfo* FindInstructionByWire(int wire) {
  for (const InstructionInfo& row : kRows) {
    if (row.wire == wire) return &row;
  }
  return nullptr;
}

std::optional<ScalarOp> ScalarOpOf(Opcode opcode) {
  const InstructionInfo& info = InfoOf(opcode);
  if ((info.traits & kElementwise) == 0) return std::nullopt;
  return ParseScalarOp(info.name);
}

TensorId TensorOf(const Operand& operand) {
  const TensorOperand* tensor = std::get_if<TensorOperand>(&operand);
  return tensor == nullptr ? kNoTensor : tensor->tensor;
}

const ExprPtr& ScalarOf(const Operand& operand) {
  static const ExprPtr& null = *new ExprPtr();
  const ExprPtr* scalar = std::get_if<ExprPtr>(&operand);
  return scalar == nullptr ? null : *scalar;
}

}  // namespace tilus::ir

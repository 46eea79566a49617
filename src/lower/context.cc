#include "lower/context.h"

#include <utility>

#include "base/checked.h"
#include "base/diagnostic.h"
#include "ir/text.h"
#include "lower/arithmetic.h"

namespace tilus::lower {

using machine::RegClass;

ComputeType ComputeTypeOf(DataType type) {
  switch (type.kind()) {
    case TypeKind::kBool: return ComputeType::kBool;
    case TypeKind::kUInt: return type.bits() <= 32 ? ComputeType::kU32 : ComputeType::kU64;
    case TypeKind::kInt: return type.bits() <= 32 ? ComputeType::kS32 : ComputeType::kS64;
    case TypeKind::kFloat:
    case TypeKind::kScale: return type == kF64 ? ComputeType::kF64 : ComputeType::kF32;
  }
  return ComputeType::kU32;
}

RegClass ClassOf(ComputeType type) {
  switch (type) {
    case ComputeType::kS64:
    case ComputeType::kU64:
    case ComputeType::kF64: return RegClass::kB64;
    default: return RegClass::kB32;
  }
}

Context::Context(const ir::Program& program, const LowerOptions& options, machine::Kernel* kernel)
    : program_(program),
      options_(options),
      facts_(program),
      kernel_(*kernel),
      builder_(kernel),
      scalars_(program.vars.size()),
      files_(program.tensors.size()),
      globals_(program.tensors.size()),
      overwritten_(program.tensors.size(), false) {
  thread_index_ = builder_.Read(machine::Special::kTidX);
  LoadParameters();
  FindOverwritten();
  FindCoordinates();
}

void Context::LoadParameters() {
  const ArithmeticOptions arithmetic{options_.sm, program_.fast};
  for (size_t i = 0; i < program_.params.size(); ++i) {
    const ir::VarId id = program_.params[i];
    const ir::Var& var = program_.vars[static_cast<size_t>(id)];
    const Reg raw = builder_.LdParam(static_cast<uint32_t>(i));
    Operand value = raw;
    if (!var.is_pointer) {
      if (builder_.kernel().ClassOf(raw) == RegClass::kB16) value = builder_.ExtendB16(raw);
      value = CodeToCompute(builder_, arithmetic, var.type, value);
    }
    scalars_[static_cast<size_t>(id)] = value;
  }
  for (ir::VarId id : program_.consts) {
    const ir::Var& var = program_.vars[static_cast<size_t>(id)];
    scalars_[static_cast<size_t>(id)] = Scalar(*var.value);
  }
}

void Context::FindOverwritten() {
  ir::WalkInstructions(program_, [this](const ir::Instruction& instruction, const ir::StmtPath&) {
    if (instruction.in_place) overwritten_[static_cast<size_t>(instruction.result)] = true;
  });
}

// The thread's coordinates are needed wherever a register tensor meets memory or its own index;
// computing them all first keeps them out of loops.
void Context::FindCoordinates() {
  ir::WalkInstructions(program_, [this](const ir::Instruction& instruction, const ir::StmtPath&) {
    ir::TensorId id = ir::kNoTensor;
    switch (instruction.opcode) {
      case ir::Opcode::kLoadGlobal:
      case ir::Opcode::kLoadShared:
        id = instruction.result;
        break;
      case ir::Opcode::kRegister:
        if (!instruction.operands.empty()) id = instruction.result;
        break;
      case ir::Opcode::kStoreGlobal:
      case ir::Opcode::kStoreShared:
      case ir::Opcode::kPrint:
        id = ir::TensorOf(instruction.operands[0]);
        break;
      default:
        break;
    }
    if (id != ir::kNoTensor && tensor(id).layout) ThreadCoordinates(*tensor(id).layout);
  });
}

const RegisterFile& Context::Words(ir::TensorId id) const { return files_[static_cast<size_t>(id)]; }

RegisterFile Context::NewWords(const ir::Tensor& tensor) {
  RegisterFile file;
  const int64_t bits = tensor.layout->locals_per_thread() * tensor.dtype.bits();
  for (int64_t i = 0; i < CeilDiv(bits, 32); ++i) {
    file.words.push_back(builder_.NewReg(RegClass::kB32));
  }
  return file;
}

void Context::CommitResult(const ir::Instruction& instruction, const RegisterFile& file) {
  RegisterFile& target = files_[static_cast<size_t>(instruction.result)];
  if (!IsOverwritten(instruction.result)) {
    target = file;
    return;
  }
  if (!instruction.in_place || target.words.empty()) target = NewWords(tensor(instruction.result));
  for (size_t i = 0; i < file.words.size(); ++i) {
    if (target.words[i] != file.words[i]) builder_.Mov(target.words[i], file.words[i]);
  }
}

Operand Context::ThreadIndex() { return thread_index_; }

std::vector<Operand> Context::ThreadCoordinates(const RegisterLayout& layout) {
  for (const Coordinates& known : coordinates_) {
    if (known.layout == layout) return known.values;
  }
  std::vector<Operand> values(static_cast<size_t>(layout.rank()), machine::ImmS32(0));
  for (const RegisterLayout::Term& term : layout.SpatialTerms()) {
    Operand digit = builder_.DivU32(thread_index_, machine::ImmU32(static_cast<uint32_t>(term.thread_divisor)));
    if (term.thread_divisor * term.extent < layout.num_threads()) {
      digit = builder_.RemU32(digit, machine::ImmU32(static_cast<uint32_t>(term.extent)));
    }
    Operand& value = values[static_cast<size_t>(term.dim)];
    value = builder_.AddS32(
        value, builder_.MulLoS32(digit, machine::ImmS32(static_cast<int32_t>(term.stride))));
  }
  coordinates_.push_back({layout, values});
  return values;
}

Operand Context::GlobalBase(ir::TensorId id) { return globals_[static_cast<size_t>(id)]->base; }

int64_t Context::GlobalBaseAlignment(ir::TensorId id) const {
  return globals_[static_cast<size_t>(id)]->alignment;
}

void Context::BindGlobal(ir::TensorId id, Operand base, int64_t alignment) {
  globals_[static_cast<size_t>(id)] = GlobalBinding{base, alignment};
}

void Context::EnterStatement(const ir::Stmt& stmt, const ir::StmtPath& path) {
  statement_ = &stmt;
  const auto [entry, inserted] = path_ids_.try_emplace(&stmt, 0);
  if (inserted) entry->second = builder_.AddPath(path.ToString(program_.name));
  builder_.SetPath(entry->second);
}

absl::Status Context::Error(DiagId id, absl::string_view message, absl::string_view hint) const {
  Diagnostic d;
  d.id = id;
  d.message = std::string(message);
  d.hint = std::string(hint);
  if (statement_ != nullptr) {
    d.span.line = statement_->span.line;
    d.path = kernel_.paths[path_ids_.at(statement_)];
    if (const auto* instruction = std::get_if<ir::Instruction>(&statement_->node)) {
      d.excerpt = ir::PrintInstruction(program_, *instruction);
    }
  }
  return MakeError(std::move(d));
}

}  // namespace tilus::lower

#include "ir/structure.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tilus::ir {
namespace {

const char* ScopeName(Scope scope) {
  switch (scope) {
    case Scope::kGlobal:
      return "a global tensor";
    case Scope::kShared:
      return "a shared tensor";
    case Scope::kRegister:
      return "a register tensor";
  }
  return "";
}

std::string Describe(const Program& program, const Operand& operand) {
  const TensorId id = TensorOf(operand);
  if (id == kNoTensor) {
    const ExprPtr& scalar = ScalarOf(operand);
    return scalar != nullptr && scalar->is_pointer ? "a pointer" : "a scalar";
  }
  const Tensor& tensor = program.tensors[static_cast<size_t>(id)];
  return absl::StrCat(ScopeName(tensor.scope), " ('", tensor.name, "')");
}

bool Matches(const Program& program, char letter, const Operand& operand) {
  const TensorOperand* tile = std::get_if<TensorOperand>(&operand);
  if (tile == nullptr) {
    const ExprPtr& scalar = ScalarOf(operand);
    if (scalar == nullptr) return false;
    switch (letter) {
      case 'p':
        return scalar->is_pointer;
      case 'x':
      case 'a':
      case 'e':
      case 'n':
        return !scalar->is_pointer;
      default:
        return false;
    }
  }
  if (tile->tensor == kNoTensor) return false;
  const Scope scope = program.tensors[static_cast<size_t>(tile->tensor)].scope;
  switch (letter) {
    case 'r':
    case 'x':
      return scope == Scope::kRegister && !tile->has_offsets;
    case 'a':
      return !tile->has_offsets;
    case 'g':
      return scope == Scope::kGlobal;
    case 's':
      return scope == Scope::kShared;
    case 'S':
      return scope == Scope::kShared && !tile->has_offsets;
    default:
      return false;
  }
}

absl::Status CheckOperands(const Program& program, const InstructionInfo& info,
                           const Instruction& in) {
  size_t at = 0;
  bool optional = false;
  size_t required = 0;
  size_t most = 0;
  for (const char* letter = info.operands; *letter != '\0'; ++letter) {
    if (*letter == '?') optional = true;
    if (*letter == '?' || *letter == '>') continue;
    ++most;
    if (!optional) ++required;
  }
  if (in.operands.size() < required || in.operands.size() > most) {
    return MakeError(
        DiagId::kOperandCount,
        absl::StrCat("'", info.name, "' takes ", most, " operands, not ", in.operands.size()),
        info.summary);
  }
  for (const char* letter = info.operands; *letter != '\0'; ++letter) {
    if (*letter == '?' || *letter == '>' || at >= in.operands.size()) continue;
    const Operand& operand = in.operands[at++];
    if (Matches(program, *letter, operand)) continue;
    const bool bracketed = std::holds_alternative<TensorOperand>(operand) &&
                           std::get<TensorOperand>(operand).has_offsets;
    return MakeError(
        DiagId::kOperandKind,
        absl::StrCat("operand ", at, " of '", info.name, "' must be ", OperandLetterName(*letter),
                     ", not ", Describe(program, operand), bracketed ? " with offsets" : ""),
        info.summary);
  }
  return absl::OkStatus();
}

absl::Status CheckResult(const Program& program, const InstructionInfo& info,
                         const Instruction& in) {
  const bool indices = info.result == ResultKind::kIndices;
  const bool tensor = info.result != ResultKind::kNone && !indices;
  if (indices != !in.index_results.empty() || tensor != (in.result != kNoTensor)) {
    return MakeError(DiagId::kResultKind, absl::StrCat("'", info.name, "' has ",
                                                       tensor    ? "one tensor as result"
                                                       : indices ? "scalars as results"
                                                                 : "no result"));
  }
  if (!tensor) return absl::OkStatus();
  const Tensor& result = program.tensors[static_cast<size_t>(in.result)];
  const Scope scope = info.result == ResultKind::kGlobal   ? Scope::kGlobal
                      : info.result == ResultKind::kShared ? Scope::kShared
                                                           : Scope::kRegister;
  if (result.scope != scope) {
    return MakeError(DiagId::kResultKind,
                     absl::StrCat("the result of '", info.name, "' is ", ScopeName(scope),
                                  ", and '", result.name, "' is ", ScopeName(result.scope)));
  }
  if (in.in_place && (info.traits & kInPlace) == 0) {
    return MakeError(
        DiagId::kNotInPlace,
        absl::StrCat("'", info.name, "' cannot write into the existing tensor '", result.name, "'"),
        "give its result a name of its own");
  }
  return absl::OkStatus();
}

uint32_t PresentAttributes(const Program& program, const Instruction& in) {
  uint32_t present = 0;
  if (in.dims) present |= kAttrDims;
  if (in.cache != CacheHint::kDefault) present |= kAttrCache;
  if (in.tile_dtype || !in.tile_shape.empty()) present |= kAttrTile;
  if (in.bits) present |= kAttrBits;
  if (!in.label.empty()) present |= kAttrLabel;
  if (in.result != kNoTensor && !in.in_place) {
    const TensorDecl& decl = program.tensors[static_cast<size_t>(in.result)].decl;
    if (!decl.strides.empty()) present |= kAttrStrides;
    if (decl.clean) present |= kAttrClean;
  }
  return present;
}

absl::Status CheckDecl(const Program& program, const InstructionInfo& info, const Instruction& in) {
  if (in.result == kNoTensor || in.in_place) return absl::OkStatus();
  const TensorDecl& decl = program.tensors[static_cast<size_t>(in.result)].decl;
  if ((decl.layout && info.result != ResultKind::kRegister) ||
      (decl.shared_layout && info.result != ResultKind::kShared)) {
    return MakeError(DiagId::kAttribute,
                     absl::StrCat("the result of '", info.name, "' has no such layout"));
  }
  return absl::OkStatus();
}

}  // namespace

const char* OperandLetterName(char letter) {
  switch (letter) {
    case 'r':
      return "a register tensor";
    case 'x':
      return "a register tensor or a scalar";
    case 'e':
      return "a scalar expression";
    case 'n':
      return "a constant integer";
    case 'p':
      return "a pointer parameter";
    case 'a':
      return "a tensor or a scalar";
    case 'g':
      return "a global tensor";
    case 's':
      return "a shared tensor";
    case 'S':
      return "a whole shared tensor";
    default:
      return "an operand";
  }
}

absl::Status CheckStructure(const Program& program, const Instruction& in) {
  const InstructionInfo& info = InfoOf(in.opcode);
  TILUS_RETURN_IF_ERROR(CheckOperands(program, info, in));
  TILUS_RETURN_IF_ERROR(CheckResult(program, info, in));
  if ((PresentAttributes(program, in) & ~info.attributes) != 0) {
    return MakeError(DiagId::kAttribute,
                     absl::StrCat("'", info.name, "' has an attribute that it does not take"));
  }
  return CheckDecl(program, info, in);
}

}  // namespace tilus::ir

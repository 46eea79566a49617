#include "lower/lower.h"

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "lower/context.h"
#include "lower/control.h"
#include "lower/dispatch.h"
#include "lower/families.h"

namespace tilus::lower {
namespace {

struct Lowering {
  ir::Opcode opcode;
  absl::Status (*lower)(Context& ctx, const ir::Instruction& instruction);
};

// Elementwise instructions share one function and are found by their trait.
constexpr Lowering kLowerings[] = {
    {ir::Opcode::kBlockIndices, &LowerBlockIndices},
    {ir::Opcode::kGlobalView, &LowerGlobalView},
    {ir::Opcode::kAllocGlobal, &LowerAllocGlobal},
    {ir::Opcode::kAllocShared, &LowerNothing},
    {ir::Opcode::kFreeShared, &LowerNothing},
    {ir::Opcode::kRegister, &LowerRegister},
    {ir::Opcode::kLoadGlobal, &LowerLoadGlobal},
    {ir::Opcode::kStoreGlobal, &LowerStoreGlobal},
    {ir::Opcode::kLoadShared, &LowerLoadShared},
    {ir::Opcode::kStoreShared, &LowerStoreShared},
    {ir::Opcode::kCopyAsync, &LowerCopyAsync},
    {ir::Opcode::kCommitGroup, &LowerCommitGroup},
    {ir::Opcode::kWaitGroup, &LowerWaitGroup},
    {ir::Opcode::kWaitAll, &LowerWaitAll},
    {ir::Opcode::kCast, &LowerCast},
    {ir::Opcode::kView, &LowerView},
    {ir::Opcode::kDot, &LowerDot},
    {ir::Opcode::kSynchronize, &LowerSynchronize},
    {ir::Opcode::kExit, &LowerExit},
    {ir::Opcode::kPrint, &LowerPrint},
};

// The machine type of a scalar parameter: as many bytes as the type needs.
machine::Type ParamType(DataType type) {
  if (type.bits() <= 8) return machine::Type::kB8;
  if (type.bits() <= 16) return machine::Type::kB16;
  return type.bits() <= 32 ? machine::Type::kB32 : machine::Type::kB64;
}

void AddParam(const std::string& name, machine::Type type, machine::Kernel* kernel) {
  machine::Param& param = kernel->params.emplace_back();
  param.name = name;
  param.type = type;
  param.size = param.align = static_cast<uint32_t>(machine::BitsOf(type) / 8);
}

void AddPointer(const std::string& name, DataType pointee, int64_t align, machine::Kernel* kernel) {
  AddParam(name, machine::Type::kB64, kernel);
  machine::Param& param = kernel->params.back();
  param.is_pointer = true;
  param.pointee = pointee.name();
  param.pointee_align = static_cast<uint32_t>(align > 0 ? align : 16);
}

void DeclareKernel(const ir::Program& program, machine::Kernel* kernel) {
  kernel->name = program.name;
  kernel->num_threads = static_cast<uint32_t>(program.num_threads());
  kernel->shared_bytes = static_cast<uint32_t>(program.shared_bytes);
  kernel->shared_storage = program.shared_bytes <= machine::kMaxStaticSharedBytes
                               ? machine::SharedStorage::kStatic
                               : machine::SharedStorage::kDynamic;
  for (ir::VarId id : program.params) {
    const ir::Var& var = program.vars[static_cast<size_t>(id)];
    if (var.is_pointer) {
      AddPointer(var.name, var.type, var.align, kernel);
    } else {
      AddParam(var.name, ParamType(var.type), kernel);
    }
  }
  if (program.workspace_bytes) AddPointer("tilus_workspace", kU8, 256, kernel);
}

}  // namespace

absl::Status LowerInstruction(Context& ctx, const ir::Instruction& instruction) {
  if ((ir::InfoOf(instruction.opcode).traits & ir::kElementwise) != 0) {
    return LowerElementwise(ctx, instruction);
  }
  for (const Lowering& row : kLowerings) {
    if (row.opcode == instruction.opcode) return row.lower(ctx, instruction);
  }
  return ctx.Error(DiagId::kInternal,
                   absl::StrCat("no lowering for ", ir::InfoOf(instruction.opcode).name), "");
}

absl::StatusOr<machine::Kernel> Lower(const ir::Program& program, const LowerOptions& options) {
  if (program.shared_bytes > options.max_shared_bytes) {
    return MakeError(DiagId::kTargetSharedMemory,
                     absl::StrCat("the program needs ", program.shared_bytes,
                                  " bytes of shared memory, the target has ",
                                  options.max_shared_bytes),
                     "use smaller tiles or fewer stages, or free_shared what is done with",
                     program.name);
  }
  machine::Kernel kernel;
  DeclareKernel(program, &kernel);
  Context ctx(program, options, &kernel);
  TILUS_RETURN_IF_ERROR(LowerBody(ctx));
  return kernel;
}

}  // namespace tilus::lower

// View: the same bits under another type and layout. No instruction, unless the bits begin inside
// a register.
#include "base/checked.h"
#include "lower/context.h"
#include "lower/families.h"

namespace tilus::lower {

absl::Status LowerView(Context& ctx, const ir::Instruction& instruction) {
  const ir::TensorId source_id = ir::TensorOf(instruction.operands[0]);
  const ir::Tensor& result = ctx.tensor(instruction.result);
  const RegisterFile& source = ctx.Words(source_id);
  const int64_t first_bit = instruction.bits.value_or(0);
  const int64_t bits = result.layout->locals_per_thread() * result.dtype.bits();
  const size_t first_word = static_cast<size_t>(first_bit / 32);
  const uint32_t shift = static_cast<uint32_t>(first_bit % 32);
  RegisterFile file;
  for (size_t w = 0; w < static_cast<size_t>(CeilDiv(bits, 32)); ++w) {
    const Reg low = source.words[first_word + w];
    if (shift == 0) {
      // A tensor that is overwritten later keeps its registers to itself.
      file.words.push_back(ctx.IsOverwritten(source_id)
                               ? ctx.b().Copy(machine::RegClass::kB32, low)
                               : low);
      continue;
    }
    const bool has_high = first_word + w + 1 < source.words.size();
    const Operand high = has_high ? Operand(source.words[first_word + w + 1]) : machine::ImmU32(0);
    file.words.push_back(ctx.b().Materialize(
        machine::RegClass::kB32, ctx.b().ShfRWrapB32(low, high, machine::ImmU32(shift))));
  }
  ctx.CommitResult(instruction, file);
  return absl::OkStatus();
}

}  // namespace tilus::lower

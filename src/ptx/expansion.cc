#include "ptx/expansion.h"

namespace tilus::ptx {
namespace {

using machine::Op;

// bf16 arithmetic before sm_90 by the one operation that is there, fma. Exact, zeros included:
// a + b = a * 1 + b, a - b = b * -1 + a, a * b = a * b + -0.
constexpr Expansion kExpansions[] = {
    {Op::kAddBF16, "{ .reg .b16 one; mov.b16 one, 0x3F80; @fma.rn.bf16 $0, $1, one, $2; }"},
    {Op::kSubBF16, "{ .reg .b16 one; mov.b16 one, 0xBF80; @fma.rn.bf16 $0, $2, one, $1; }"},
    {Op::kMulBF16, "{ .reg .b16 zero; mov.b16 zero, 0x8000; @fma.rn.bf16 $0, $1, $2, zero; }"},
    {Op::kAddBF16x2,
     "{ .reg .b32 one; mov.b32 one, 0x3F803F80; @fma.rn.bf16x2 $0, $1, one, $2; }"},
    {Op::kSubBF16x2,
     "{ .reg .b32 one; mov.b32 one, 0xBF80BF80; @fma.rn.bf16x2 $0, $2, one, $1; }"},
    {Op::kMulBF16x2,
     "{ .reg .b32 zero; mov.b32 zero, 0x80008000; @fma.rn.bf16x2 $0, $1, $2, zero; }"},
    // A bf16 is the high half of its f32.
    {Op::kSetpBF16,
     "{ .reg .b16 low; .reg .b32 a, b; mov.b16 low, 0; mov.b32 a, {low, $1}; "
     "mov.b32 b, {low, $2}; @setp{compare}.f32 $0, a, b; }"},
};

}  // namespace

const Expansion* FindExpansion(machine::Op op) {
  for (const Expansion& expansion : kExpansions) {
    if (expansion.op == op) return &expansion;
  }
  return nullptr;
}

}  // namespace tilus::ptx

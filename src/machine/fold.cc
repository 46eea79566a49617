#include "machine/fold.h"

#include <bit>
#include <initializer_list>
#include <optional>

#include "machine/evaluate.h"

namespace tilus::machine {
namespace {

Folded Value(Operand value) {
  Folded folded;
  folded.kind = Folded::Kind::kValue;
  folded.value = value;
  return folded;
}

Folded Rewrite(Op op, std::initializer_list<Operand> srcs) {
  Folded folded;
  folded.kind = Folded::Kind::kRewrite;
  folded.op = op;
  for (const Operand& src : srcs) folded.srcs[folded.num_srcs++] = src;
  return folded;
}

// The exponent of a power of two.
std::optional<uint32_t> Log2(const Operand& o) {
  if (!o.is_imm() || !std::has_single_bit(o.value)) return std::nullopt;
  return static_cast<uint32_t>(std::countr_zero(o.value));
}

Folded FoldAdd(Op op, const Operand& a, const Operand& b) {
  if (b.is_imm(0)) return Value(a);
  if (a.is_imm()) return Rewrite(op, {b, a});
  return {};
}

Folded FoldSub(Op add, const Operand& a, const Operand& b, uint64_t mask) {
  if (a == b) return Value(Operand::Imm(0));
  if (b.is_imm()) return Rewrite(add, {a, Operand::Imm((0 - b.value) & mask)});
  return {};
}

Folded FoldMul(Op op, Op shift, const Operand& a, const Operand& b) {
  if (a.is_imm()) return Rewrite(op, {b, a});
  if (b.is_imm(0)) return Value(b);
  if (b.is_imm(1)) return Value(a);
  if (auto log = Log2(b)) return Rewrite(shift, {a, ImmU32(*log)});
  return {};
}

// a * b + c where b is the immediate of two factors, if one is.
Folded FoldMad(Op op, Op mul, Op add, Operand a, Operand b, const Operand& c, uint64_t mask) {
  if (c.is_imm(0)) return Rewrite(mul, {a, b});
  if (a.is_imm() && b.is_imm()) return Rewrite(add, {c, Operand::Imm((a.value * b.value) & mask)});
  if (a.is_imm()) return Rewrite(op, {b, a, c});
  if (b.is_imm(0)) return Value(c);
  if (b.is_imm(1)) return Rewrite(add, {a, c});
  return {};
}

Folded FoldDivU(Op shift, const Operand& a, const Operand& b) {
  if (auto log = Log2(b)) return *log == 0 ? Value(a) : Rewrite(shift, {a, ImmU32(*log)});
  return {};
}

Folded FoldRemU(Op conjunction, const Operand& a, const Operand& b) {
  if (Log2(b)) return Rewrite(conjunction, {a, Operand::Imm(b.value - 1)});
  return {};
}

// `absorbing` and `neutral` are the constants of the operation: 0 and ~0 for and.
Folded FoldBitwise(Op op, const Operand& a, const Operand& b, std::optional<uint64_t> absorbing,
                   uint64_t neutral) {
  if (a.is_imm()) return Rewrite(op, {b, a});
  if (b.is_imm(neutral)) return Value(a);
  if (absorbing && b.is_imm(*absorbing)) return Value(b);
  if (a == b) return Value(absorbing ? a : Operand::Imm(0));
  return {};
}

Folded FoldShift(const Operand& a, const Operand& n, bool zero_when_wide, uint64_t width) {
  if (n.is_imm(0) || a.is_imm(0)) return Value(a);
  if (zero_when_wide && n.is_imm() && n.value >= width) return Value(Operand::Imm(0));
  return {};
}

Folded FoldFunnel(bool left, const Operand& low, const Operand& high, const Operand& n) {
  if (n.is_imm(0)) return Value(left ? high : low);
  return {};
}

Folded FoldPermute(const Operand& a, const Operand& b, const Operand& selector) {
  if (selector.is_imm(0x3210)) return Value(a);
  if (selector.is_imm(0x7654)) return Value(b);
  return {};
}

Folded FoldSelect(const Operand& a, const Operand& b, const Operand& p) {
  if (a == b) return Value(a);
  if (p.is_imm()) return Value(p.value & 1 ? a : b);
  return {};
}

Folded FoldCvt(const Modifiers& mods, const Operand& a) {
  // The same 32 or 64 bits in a register of the same class.
  const bool same = IsInteger(mods.type) && IsInteger(mods.from) && !mods.saturate &&
                    BitsOf(mods.type) == BitsOf(mods.from) && BitsOf(mods.type) >= 32;
  if (same) return Value(a);
  return {};
}

Folded FoldMinMax(const Operand& a, const Operand& b) {
  if (a == b) return Value(a);
  return {};
}

}  // namespace

Folded Fold(Op op, const Modifiers& mods, absl::Span<const Operand> s) {
  bool constant = s.size() <= 4;
  uint64_t bits[4] = {};
  for (size_t i = 0; i < s.size() && constant; ++i) {
    constant = s[i].is_imm();
    if (constant) bits[i] = s[i].value;
  }
  if (constant && !s.empty()) {
    if (auto value = Evaluate(op, mods, absl::MakeConstSpan(bits, s.size()))) {
      return Value(Operand::Imm(*value));
    }
    if (InfoOf(op).Has(kCommutative)) return {};  // two immediates: do not exchange them for ever
  }
  constexpr uint64_t kWord = 0xffffffff, kAll = ~uint64_t{0};
  switch (op) {
    case Op::kAddS32: case Op::kAddS64: return FoldAdd(op, s[0], s[1]);
    case Op::kSubS32: return FoldSub(Op::kAddS32, s[0], s[1], kWord);
    case Op::kSubS64: return FoldSub(Op::kAddS64, s[0], s[1], kAll);
    case Op::kMulLoS32: return FoldMul(op, Op::kShlB32, s[0], s[1]);
    case Op::kMulLoS64: return FoldMul(op, Op::kShlB64, s[0], s[1]);
    case Op::kMulWideS32: case Op::kMulWideU32:
      return s[0].is_imm(0) || s[1].is_imm(0) ? Value(Operand::Imm(0)) : Folded{};
    case Op::kMadLoS32:
      return FoldMad(op, Op::kMulLoS32, Op::kAddS32, s[0], s[1], s[2], kWord);
    case Op::kMadLoS64: return FoldMad(op, Op::kMulLoS64, Op::kAddS64, s[0], s[1], s[2], kAll);
    case Op::kMadWideS32: case Op::kMadWideU32:
      return s[0].is_imm(0) || s[1].is_imm(0) ? Value(s[2]) : Folded{};
    case Op::kDivU32: return FoldDivU(Op::kShrU32, s[0], s[1]);
    case Op::kDivU64: return FoldDivU(Op::kShrU64, s[0], s[1]);
    case Op::kDivS32: case Op::kDivS64: return s[1].is_imm(1) ? Value(s[0]) : Folded{};
    case Op::kRemU32: return FoldRemU(Op::kAndB32, s[0], s[1]);
    case Op::kRemU64: return FoldRemU(Op::kAndB64, s[0], s[1]);
    case Op::kRemS32: case Op::kRemS64:
      return s[1].is_imm(1) ? Value(Operand::Imm(0)) : Folded{};
    case Op::kMinS32: case Op::kMinU32: case Op::kMinS64: case Op::kMinU64:
    case Op::kMaxS32: case Op::kMaxU32: case Op::kMaxS64: case Op::kMaxU64:
      return FoldMinMax(s[0], s[1]);
    case Op::kAndB32: return FoldBitwise(op, s[0], s[1], 0, kWord);
    case Op::kAndB64: return FoldBitwise(op, s[0], s[1], 0, kAll);
    case Op::kAndPred: return FoldBitwise(op, s[0], s[1], 0, 1);
    case Op::kOrB32: return FoldBitwise(op, s[0], s[1], kWord, 0);
    case Op::kOrB64: return FoldBitwise(op, s[0], s[1], kAll, 0);
    case Op::kOrPred: return FoldBitwise(op, s[0], s[1], 1, 0);
    case Op::kXorB32: case Op::kXorB64: return FoldBitwise(op, s[0], s[1], std::nullopt, 0);
    case Op::kXorPred: return FoldBitwise(op, s[0], s[1], std::nullopt, 0);
    case Op::kShlB32: case Op::kShrU32: return FoldShift(s[0], s[1], true, 32);
    case Op::kShlB64: case Op::kShrU64: return FoldShift(s[0], s[1], true, 64);
    case Op::kShrS32: case Op::kShrS64: return FoldShift(s[0], s[1], false, 0);
    case Op::kShfLWrapB32: case Op::kShfLClampB32: return FoldFunnel(true, s[0], s[1], s[2]);
    case Op::kShfRWrapB32: case Op::kShfRClampB32: return FoldFunnel(false, s[0], s[1], s[2]);
    case Op::kPrmtB32: return FoldPermute(s[0], s[1], s[2]);
    case Op::kSelpB16: case Op::kSelpB32: case Op::kSelpB64: return FoldSelect(s[0], s[1], s[2]);
    case Op::kCvt: return FoldCvt(mods, s[0]);
    default: return {};
  }
}

}  // namespace tilus::machine

#include "lower/tile_transfer.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/checked.h"
#include "lower/elements.h"
#include "lower/vectorize.h"

namespace tilus::lower {
namespace {

using machine::Builder;
using machine::Compare;
using machine::Guard;
using machine::GuardScope;
using machine::ImmU32;
using machine::Op;
using machine::RegClass;
using machine::Type;

using Locals = absl::Span<const std::vector<int64_t>>;

uint32_t LowMask(int64_t bits) { return bits >= 32 ? ~0u : (1u << bits) - 1; }

// ---- One access of global or shared memory.

void Load(Context& ctx, ir::Scope scope, absl::Span<const Reg> d, Type type, Operand address,
          Guard guard, Builder::Hint hint) {
  Builder& b = ctx.b();
  if (!guard.always()) {
    for (Reg reg : d) b.Mov(reg, ImmU32(0));
  }
  GuardScope scoped(&b, guard);
  if (scope == ir::Scope::kGlobal) {
    b.LdGlobal(d, type, address, hint);
  } else {
    b.LdShared(d, type, address);
  }
}

void Store(Context& ctx, ir::Scope scope, Operand address, Type type,
           absl::Span<const Operand> values, Guard guard, Builder::Hint hint) {
  GuardScope scoped(&ctx.b(), guard);
  if (scope == ir::Scope::kGlobal) {
    ctx.b().StGlobal(address, type, values, hint);
  } else {
    ctx.b().StShared(address, type, values);
  }
}

// ---- Wide accesses.

Type TypeOfBytes(int bytes) {
  return bytes == 1 ? Type::kU8 : bytes == 2 ? Type::kU16 : Type::kB32;
}

// The words of a thread from accesses of less than a word.
RegisterFile JoinParts(Builder& b, const std::vector<Reg>& parts, int bytes) {
  RegisterFile file;
  const size_t per_word = static_cast<size_t>(4 / bytes);
  for (size_t first = 0; first < parts.size(); first += per_word) {
    const size_t count = std::min(per_word, parts.size() - first);
    const auto part = [&](size_t i) { return Operand(parts[first + i]); };
    Operand word = part(0);
    if (bytes == 2) {
      if (count == 2) word = b.PrmtB32(word, part(1), ImmU32(0x5410));
    } else {
      if (count >= 2) word = b.PrmtB32(word, part(1), ImmU32(0x3240));
      if (count == 3) word = b.PrmtB32(word, part(2), ImmU32(0x3410));
      if (count == 4) {
        const Operand high = b.PrmtB32(part(2), part(3), ImmU32(0x3240));
        word = b.PrmtB32(word, high, ImmU32(0x5410));
      }
    }
    file.words.push_back(b.Materialize(RegClass::kB32, word));
  }
  return file;
}

RegisterFile LoadVectors(Context& ctx, TileAddress& address, Locals locals, const VectorPlan& plan,
                         const RegisterFile& destination, Builder::Hint hint) {
  Builder& b = ctx.b();
  const int64_t run_bytes = plan.run * address.bits() / 8;
  std::vector<Reg> parts;
  size_t word = 0;
  for (size_t first = 0; first < locals.size(); first += static_cast<size_t>(plan.run)) {
    const Guard guard = address.InRange(locals[first]);
    const Operand base = address.Address(locals[first]);
    for (int64_t at = 0; at < run_bytes; at += plan.bytes) {
      const Operand place = base.Plus(static_cast<int32_t>(at));
      if (plan.bytes >= 4) {
        const size_t words = static_cast<size_t>(plan.bytes / 4);
        Load(ctx, address.scope(), absl::MakeConstSpan(&destination.words[word], words), Type::kB32,
             place, guard, hint);
        word += words;
      } else {
        parts.push_back(b.NewReg(RegClass::kB32));
        Load(ctx, address.scope(), {parts.back()}, TypeOfBytes(plan.bytes), place, guard, hint);
      }
    }
  }
  return plan.bytes >= 4 ? destination : JoinParts(b, parts, plan.bytes);
}

void StoreVectors(Context& ctx, TileAddress& address, Locals locals, const VectorPlan& plan,
                  const RegisterFile& source, Guard owner, Builder::Hint hint) {
  Builder& b = ctx.b();
  const int64_t run_bytes = plan.run * address.bits() / 8;
  int64_t from = 0;  // bytes of the thread's bit string
  for (size_t first = 0; first < locals.size(); first += static_cast<size_t>(plan.run)) {
    const Guard guard = And(b, owner, address.InRange(locals[first]));
    const Operand base = address.Address(locals[first]);
    for (int64_t at = 0; at < run_bytes; at += plan.bytes, from += plan.bytes) {
      std::vector<Operand> values;
      for (int64_t w = 0; w < std::max(1, plan.bytes / 4); ++w) {
        values.push_back(source.words[static_cast<size_t>(from / 4 + w)]);
      }
      if (from % 4 != 0) {
        values[0] = b.ShrU32(values[0], ImmU32(static_cast<uint32_t>(from % 4 * 8)));
      }
      Store(ctx, address.scope(), base.Plus(static_cast<int32_t>(at)), TypeOfBytes(plan.bytes),
            values, guard, hint);
    }
  }
}

// ---- Elements that begin inside bytes.

// The code of one element: the bytes that have bits of it, no others (they may not exist).
Operand LoadElement(Context& ctx, TileAddress& address, TileAddress::Local local,
                    Builder::Hint hint) {
  Builder& b = ctx.b();
  const Guard in_range = address.InRange(local);
  const TileAddress::Place place = address.PlaceOf(local, 3);
  const int bits = address.bits();
  const int most_shift =
      place.shift.is_imm() ? static_cast<int>(place.shift.value) : 8 - (1 << place.step_log2);
  const int most_bytes = static_cast<int>(CeilDiv(most_shift + bits, 8));
  Operand joined = ImmU32(0);
  for (int k = 0; k < most_bytes; ++k) {
    Guard guard = in_range;
    // The last byte has bits of the element for large shifts only.
    if (!place.shift.is_imm() && bits <= 8 * k) {
      const Operand reaches =
          b.SetpU32(Compare::kGt, place.shift, ImmU32(static_cast<uint32_t>(8 * k - bits)));
      guard = And(b, in_range, machine::When(b.Materialize(RegClass::kPred, reaches)));
    }
    const Reg byte = b.NewReg(RegClass::kB32);
    Load(ctx, address.scope(), {byte}, Type::kU8, place.address.Plus(k), guard, hint);
    joined = b.OrB32(joined, b.ShlB32(byte, ImmU32(static_cast<uint32_t>(8 * k))));
  }
  return b.AndB32(b.ShrU32(joined, place.shift), ImmU32(LowMask(bits)));
}

// Bits [first, first + count) of the thread's bit string, zero-extended. @pre count <= 32
Operand FieldOf(Builder& b, const RegisterFile& file, int64_t first, int64_t count) {
  const size_t w = static_cast<size_t>(first / 32);
  const uint32_t shift = static_cast<uint32_t>(first % 32);
  Operand value = file.words[w];
  if (static_cast<int64_t>(shift) + count > 32) {
    value = b.ShfRWrapB32(value, file.words[w + 1], ImmU32(shift));
  } else {
    value = b.ShrU32(value, ImmU32(shift));
  }
  return b.AndB32(value, ImmU32(LowMask(count)));
}

// What is to be written to words of memory, each under a guard.
class WordWriter {
 public:
  WordWriter(Context* ctx, ir::Scope scope, Builder::Hint hint)
      : ctx_(*ctx), b_(ctx->b()), scope_(scope), hint_(hint) {}

  // `count` bits of `value` from bit `shift` on of the word at `address`: gathered with others of
  // the same word and guard until Flush.
  void Add(Operand address, uint32_t shift, int64_t count, Operand value, Guard guard) {
    Word& word = words_[{address.value, static_cast<uint64_t>(address.offset), guard.pred.id}];
    if (word.mask == 0) {
      order_.push_back(&word);
      word.address = address;
      word.guard = guard;
      word.value = ImmU32(0);
    }
    word.mask |= LowMask(count) << shift;
    word.value = b_.OrB32(word.value, b_.ShlB32(value, ImmU32(shift)));
  }

  void Flush() {
    for (const Word* word : order_) {
      if (word->mask == ~0u) {
        Store(ctx_, scope_, word->address, Type::kB32, {word->value}, word->guard, hint_);
      } else {
        Change(word->address, ImmU32(~word->mask), word->value, word->guard);
      }
    }
  }

  // Clears the bits outside `keep` and sets those of `value`. Each half is atomic, and other
  // threads' bits are left alone by both.
  void Change(Operand address, Operand keep, Operand value, Guard guard) {
    const bool global = scope_ == ir::Scope::kGlobal;
    GuardScope scoped(&b_, guard);
    b_.Red(global ? Op::kRedGlobalAnd : Op::kRedSharedAnd, Type::kB32, address, keep);
    b_.Red(global ? Op::kRedGlobalOr : Op::kRedSharedOr, Type::kB32, address, value);
  }

 private:
  struct Word {
    Operand address, value;
    uint32_t mask = 0;
    Guard guard;
  };
  Context& ctx_;
  Builder& b_;
  ir::Scope scope_;
  Builder::Hint hint_;
  std::map<std::array<uint64_t, 3>, Word> words_;
  std::vector<Word*> order_;
};

// Runs of elements that are adjacent in memory as in the registers are written together, up to 32
// bits at a time.
void StoreFields(Context& ctx, TileAddress& address, Locals locals, const RegisterFile& source,
                 Guard owner, Builder::Hint hint) {
  Builder& b = ctx.b();
  const int bits = address.bits();
  WordWriter writer(&ctx, address.scope(), hint);
  for (size_t first = 0; first < locals.size();) {
    size_t end = first + 1;
    while (end < locals.size() && static_cast<int64_t>(end + 1 - first) * bits <= 32 &&
           address.RunIsUnbroken(locals[first], static_cast<int64_t>(end + 1 - first)) &&
           address.Distance(locals[first], locals[end]) == static_cast<int64_t>(end - first) &&
           address.SameRange(locals[first], locals[end])) {
      ++end;
    }
    const Guard guard = And(b, owner, address.InRange(locals[first]));
    const TileAddress::Place place = address.PlaceOf(locals[first], 5);
    const int64_t count = static_cast<int64_t>(end - first) * bits;
    const Operand field = FieldOf(b, source, static_cast<int64_t>(first) * bits, count);
    first = end;
    if (place.shift.is_imm()) {
      const uint32_t shift = static_cast<uint32_t>(place.shift.value);
      const int64_t low = std::min<int64_t>(count, 32 - shift);
      writer.Add(place.address, shift, low, b.AndB32(field, ImmU32(LowMask(low))), guard);
      if (low < count) {
        writer.Add(place.address.Plus(4), 0, count - low,
                   b.ShrU32(field, ImmU32(static_cast<uint32_t>(low))), guard);
      }
      continue;
    }
    const Operand mask = ImmU32(LowMask(count));
    const Operand mask_reg = b.Materialize(RegClass::kB32, mask);
    writer.Change(place.address, b.NotB32(b.ShlB32(mask_reg, place.shift)),
                  b.ShlB32(field, place.shift), guard);
    if (32 - (1 << place.step_log2) + count <= 32) continue;
    const Operand high_mask = b.ShfLWrapB32(mask_reg, ImmU32(0), place.shift);
    const Operand straddles = b.SetpU32(Compare::kNe, high_mask, ImmU32(0));
    const Guard high_guard =
        And(b, guard, machine::When(b.Materialize(RegClass::kPred, straddles)));
    const Operand high = b.ShfLWrapB32(field, ImmU32(0), place.shift);
    writer.Change(place.address.Plus(4), b.NotB32(high_mask), high, high_guard);
  }
  writer.Flush();
}

}  // namespace

RegisterFile LoadTile(Context& ctx, TileAddress& address, Locals locals,
                      const RegisterFile& destination, Builder::Hint hint) {
  if (const std::optional<VectorPlan> plan = PlanVectors(address, locals)) {
    return LoadVectors(ctx, address, locals, *plan, destination, hint);
  }
  std::vector<Operand> codes;
  for (const std::vector<int64_t>& local : locals) {
    codes.push_back(LoadElement(ctx, address, local, hint));
  }
  return PackElements(ctx.b(), address.dtype(), codes);
}

void StoreTile(Context& ctx, TileAddress& address, Locals locals, const RegisterFile& source,
               Guard owner, Builder::Hint hint) {
  if (const std::optional<VectorPlan> plan = PlanVectors(address, locals)) {
    StoreVectors(ctx, address, locals, *plan, source, owner, hint);
  } else {
    StoreFields(ctx, address, locals, source, owner, hint);
  }
}

Guard OwnerOf(Context& ctx, const RegisterLayout& layout) {
  Builder& b = ctx.b();
  Guard owner;
  for (const Digit& digit : layout.thread_digits()) {
    if (!digit.replicated()) continue;
    Operand value = b.DivU32(ctx.ThreadIndex(), ImmU32(static_cast<uint32_t>(digit.divisor)));
    if (digit.divisor * digit.extent < layout.num_threads()) {
      value = b.RemU32(value, ImmU32(static_cast<uint32_t>(digit.extent)));
    }
    const Operand last =
        b.SetpU32(Compare::kEq, value, ImmU32(static_cast<uint32_t>(digit.extent - 1)));
    owner = And(b, owner, machine::When(b.Materialize(RegClass::kPred, last)));
  }
  return owner;
}

RegisterFile DestinationWords(Context& ctx, const ir::Instruction& instruction) {
  if (instruction.in_place && !ctx.Words(instruction.result).words.empty()) {
    return ctx.Words(instruction.result);
  }
  return ctx.NewWords(ctx.tensor(instruction.result));
}

Builder::Hint HintOf(ir::CacheHint hint) {
  Builder::Hint result;
  switch (hint) {
    case ir::CacheHint::kDefault:
      break;
    case ir::CacheHint::kStreaming:
      result.cache = machine::Cache::kCs;
      break;
    case ir::CacheHint::kLastUse:
      result.cache = machine::Cache::kEvictFirst;
      break;
    case ir::CacheHint::kNoL1:
      result.cache = machine::Cache::kNoAllocate;
      break;
  }
  return result;
}

}  // namespace tilus::lower

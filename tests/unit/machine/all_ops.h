// One instruction for every opcode of the table, with every type and modifier that it takes.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/builder.h"
#include "machine/conversion.h"

namespace tilus::machine {

// Builds kernels around single instructions.
class AllOps {
 public:
  explicit AllOps(Kernel* kernel) : builder_(kernel) {
    kernel->name = "all_ops";
    kernel->shared_bytes = 4096;
    Param pointer;
    pointer.name = "data";
    pointer.type = Type::kB64;
    pointer.size = pointer.align = 8;
    pointer.is_pointer = true;
    pointer.pointee = "u8";
    kernel->params.push_back(pointer);
    kernel->strings.push_back("%d %lld\n");
    for (int i = 0; i < 16; ++i) {
      preds_.push_back(builder_.Copy(RegClass::kPred, Operand::Imm(i & 1)));
      halves_.push_back(builder_.Copy(RegClass::kB16, ImmB16(static_cast<uint16_t>(i))));
      words_.push_back(builder_.Copy(RegClass::kB32, Operand::Of(Special::kTidX)));
    }
    const Reg data = builder_.LdParam(0);
    for (int i = 0; i < 16; ++i) doubles_.push_back(builder_.Copy(RegClass::kB64, data));
  }

  Builder& builder() { return builder_; }
  Reg any_pred() const { return preds_[15]; }

  enum class Sources : uint8_t { kRegisters, kImmediates };

  // Emits `op` with `mods`; immediates where the row takes them, if asked for.
  void Emit(Op op, const Modifiers& mods, Sources sources) {
    const OpInfo& info = InfoOf(op);
    next_[0] = next_[1] = next_[2] = next_[3] = 0;
    std::vector<Operand> dsts, srcs;
    for (const OperandSpec& spec : info.dst_specs()) Append(spec, mods, Sources::kRegisters, &dsts);
    for (const OperandSpec& spec : info.src_specs()) Append(spec, mods, sources, &srcs);
    if (op == Op::kBarSync || op == Op::kBarArrive) srcs = {ImmU32(1), ImmU32(32)};
    builder_.Emit(op, dsts, srcs, mods);
  }

  static bool TakesImmediates(Op op) {
    for (const OperandSpec& spec : InfoOf(op).src_specs()) {
      if (!spec.register_only && spec.kind != OperandKind::kGlobal) return true;
    }
    return false;
  }

  // Emits all variants of `op`.
  void EmitAll(Op op) {
    for (const Modifiers& mods : ModifiersOf(op)) {
      for (Guard guard : {Guard(), When(preds_[15]), Unless(preds_[15])}) {
        builder_.SetGuard(guard);
        Emit(op, mods, Sources::kRegisters);
        if (TakesImmediates(op)) Emit(op, mods, Sources::kImmediates);
      }
    }
    builder_.SetGuard(Guard());
  }

  // Every legal combination of the modifiers that `op` takes, one modifier at a time beside the
  // type.
  static std::vector<Modifiers> ModifiersOf(Op op) {
    const OpInfo& info = InfoOf(op);
    if (op == Op::kCvt) return Conversions();
    std::vector<Modifiers> all;
    for (int t = 0; t <= static_cast<int>(Type::kF64); ++t) {
      const bool allowed = info.types == 0 ? t == 0 : (info.types >> t & 1) != 0;
      if (!allowed) continue;
      Modifiers mods;
      mods.type = static_cast<Type>(t);
      if (info.takes_compare) {
        AppendCompares(op, mods, &all);
      } else if (op == Op::kFence) {
        for (Scope scope : {Scope::kCta, Scope::kGpu, Scope::kSys}) {
          mods.scope = scope;
          all.push_back(mods);
        }
      } else {
        AppendAccesses(info, mods, &all);
      }
    }
    return all;
  }

 private:
  static std::vector<Modifiers> Conversions() {
    std::vector<Modifiers> all;
    for (int to = 1; to <= static_cast<int>(Type::kF64); ++to) {
      for (int from = 1; from <= static_cast<int>(Type::kF64); ++from) {
        for (int round = 0; round <= static_cast<int>(Round::kRpi); ++round) {
          for (Saturation sat : {Saturation::kNo, Saturation::kYes}) {
            Modifiers mods;
            mods.type = static_cast<Type>(to);
            mods.from = static_cast<Type>(from);
            mods.round = static_cast<Round>(round);
            mods.saturate = sat == Saturation::kYes;
            if (ConversionRequirement(mods.type, mods.from, mods.round, sat)) all.push_back(mods);
          }
        }
      }
    }
    return all;
  }

  static void AppendCompares(Op op, Modifiers mods, std::vector<Modifiers>* all) {
    const bool integer = op >= Op::kSetpS32 && op <= Op::kSetpU64;
    const Compare last = integer ? Compare::kGe : Compare::kNan;
    for (int c = 1; c <= static_cast<int>(last); ++c) {
      mods.compare = static_cast<Compare>(c);
      all->push_back(mods);
    }
  }

  static void AppendAccesses(const OpInfo& info, Modifiers mods, std::vector<Modifiers>* all) {
    all->push_back(mods);
    const Modifiers plain = mods;
    if (info.takes_vector) {
      for (uint8_t vec : {2, 4}) {
        mods.vec = vec;
        if (BitsOf(mods.type) * vec <= 128) all->push_back(mods);
      }
    }
    mods = plain;
    if (info.takes_cache) {
      for (Cache cache : {Cache::kNonCoherent, Cache::kNoAllocate, Cache::kNonCoherentNoAllocate,
                          Cache::kEvictFirst, Cache::kEvictLast, Cache::kCg, Cache::kCs}) {
        const bool nc = cache == Cache::kNonCoherent || cache == Cache::kNonCoherentNoAllocate;
        if (nc && info.Has(kWrites)) continue;
        mods.cache = cache;
        all->push_back(mods);
      }
    }
    mods = plain;
    if (!info.takes_order) return;
    const bool atomic = info.Has(kReads) && info.Has(kWrites);
    mods.scope = Scope::kGpu;
    const auto add = [&](Order order, bool legal) {
      mods.order = order;
      if (legal) all->push_back(mods);
    };
    add(Order::kRelaxed, true);
    add(Order::kAcquire, info.num_dst_specs > 0);
    add(Order::kRelease, info.Has(kWrites));
    add(Order::kAcqRel, atomic && info.num_dst_specs > 0);
    mods.scope = Scope::kNone;
    add(Order::kVolatile, !atomic);
  }

  Reg Next(RegClass c) {
    const std::vector<Reg>* pools[] = {&preds_, &halves_, &words_, &doubles_};
    const int k = static_cast<int>(c);
    return (*pools[k])[next_[k]++ % 16];
  }

  void Append(const OperandSpec& spec, const Modifiers& mods, Sources sources,
              std::vector<Operand>* out) {
    const size_t count = spec.count == 0 ? mods.vec : spec.count;
    for (size_t i = 0; i < count; ++i) {
      const bool immediate = sources == Sources::kImmediates && !spec.register_only;
      switch (spec.kind) {
        case OperandKind::kPred: Value(RegClass::kPred, immediate, out); break;
        case OperandKind::kB16: Value(RegClass::kB16, immediate, out); break;
        case OperandKind::kB32: Value(RegClass::kB32, immediate, out); break;
        case OperandKind::kB64: Value(RegClass::kB64, immediate, out); break;
        case OperandKind::kOfType: Value(ClassOf(mods.type), immediate, out); break;
        case OperandKind::kOfFrom: Value(ClassOf(mods.from), immediate, out); break;
        case OperandKind::kGlobal: out->push_back(Operand(Next(RegClass::kB64)).Plus(-16)); break;
        case OperandKind::kShared:
          out->push_back(immediate || sources == Sources::kImmediates
                             ? Operand::SharedBase(32)
                             : Operand(Next(RegClass::kB32)).Plus(16));
          break;
        case OperandKind::kConst: out->push_back(Operand::Imm(0)); break;
        case OperandKind::kParam: out->push_back(Operand::Param(0)); break;
        case OperandKind::kSource:
          out->push_back(immediate ? Operand::SharedBase(4) : Operand(Next(RegClass::kB32)));
          break;
        case OperandKind::kRest:
          out->push_back(Next(RegClass::kB32));
          out->push_back(Next(RegClass::kB64));
          break;
        case OperandKind::kNone: break;
      }
    }
  }

  void Value(RegClass c, bool immediate, std::vector<Operand>* out) {
    out->push_back(immediate ? Operand::Imm(1) : Operand(Next(c)));
  }

  Builder builder_;
  std::vector<Reg> preds_, halves_, words_, doubles_;
  size_t next_[4] = {};
};

}  // namespace tilus::machine

// Kernel to flat code.
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "simulate/code.h"
#include "simulate/warp.h"

namespace tilus::simulate {
namespace {

using machine::Instr;
using machine::Kernel;
using machine::kNoIndex;
using machine::Node;
using machine::Op;
using machine::Operand;
using machine::OperandKind;
using machine::OperandSpec;
using machine::RegClass;

uint32_t BytesOf(RegClass c) {
  return c == RegClass::kPred ? 8 : c == RegClass::kB64 ? 8 * kLanes : 4 * kLanes;
}

class Decoder {
 public:
  Decoder(const Kernel& kernel, absl::Span<const Argument> arguments, Code* code)
      : kernel_(kernel), arguments_(arguments), code_(*code) {}

  void Run() {
    code_.kernel = &kernel_;
    PlaceRegisters();
    DecodeBlock(kernel_.body, /*end=*/nullptr);
    code_.insts.push_back(Inst{});
    code_.insts.back().kind = Inst::Kind::kEnd;
    Finish();
  }

 private:
  // Jumps to the end of a construct, which is not decoded yet.
  using Fixups = std::vector<size_t>;

  void PlaceRegisters() {
    for (const RegClass c : kernel_.regs) registers_.push_back(NewRegister(c));
    for (Place& special : code_.specials) special = NewRegister(RegClass::kB32);
  }

  Place NewRegister(RegClass c) {
    Place place;
    place.offset = code_.register_bytes;
    place.slot = code_.num_slots++;
    place.reg_class = c;
    code_.register_bytes += BytesOf(c);
    return place;
  }

  Place Constant(RegClass c, uint64_t value) {
    const auto [it, is_new] = constants_.try_emplace({static_cast<int>(c), value});
    if (!is_new) return it->second;
    Place& place = it->second;
    place.offset = static_cast<uint32_t>(code_.constants.size());
    place.slot = code_.num_slots++;
    place.reg_class = c;
    place.is_constant = true;
    code_.constants.resize(code_.constants.size() + BytesOf(c));
    uint8_t* at = code_.constants.data() + place.offset;
    for (int lane = 0; lane < kLanes; ++lane) {
      if (c == RegClass::kB64) {
        reinterpret_cast<uint64_t*>(at)[lane] = value;
      } else if (c != RegClass::kPred) {
        reinterpret_cast<uint32_t*>(at)[lane] = static_cast<uint32_t>(value);
      }
    }
    if (c == RegClass::kPred) *reinterpret_cast<uint32_t*>(at) = (value & 1) != 0 ? kAllLanes : 0;
    return place;
  }

  // The bits of a parameter from a byte offset, as a load of the type gives them.
  uint64_t ParamBits(const Operand& o, machine::Type type) const {
    const uint64_t bits = o.offset >= 8 ? 0 : arguments_[o.value].value >> (8 * o.offset);
    const int width = BitsOf(type);
    if (width == 64) return bits;
    const uint64_t low = bits & ((uint64_t{1} << width) - 1);
    if (!IsSigned(type)) return low;
    const uint64_t sign = uint64_t{1} << (width - 1);
    return static_cast<uint32_t>((low ^ sign) - sign);
  }

  Place PlaceOf(const Operand& o, const OperandSpec& spec, const machine::Modifiers& mods) {
    Place place;
    switch (o.kind) {
      case Operand::Kind::kReg:
        place = registers_[o.value];
        break;
      case Operand::Kind::kSpecial:
        place = code_.specials[o.value];
        break;
      case Operand::Kind::kSharedBase:
        // Moved to a register, the offset is part of the value.
        if (spec.kind != OperandKind::kShared) {
          return Constant(RegClass::kB32, kSharedBase + static_cast<uint32_t>(o.offset));
        }
        place = Constant(RegClass::kB32, kSharedBase);
        break;
      case Operand::Kind::kParam:
        return Constant(ClassOf(mods.type), ParamBits(o, mods.type));
      case Operand::Kind::kImm:
        return Constant(ImmClass(spec, mods), o.value);
    }
    place.add = o.offset;
    return place;
  }

  static RegClass ImmClass(const OperandSpec& spec, const machine::Modifiers& mods) {
    switch (spec.kind) {
      case OperandKind::kPred:
        return RegClass::kPred;
      case OperandKind::kB16:
        return RegClass::kB16;
      case OperandKind::kB64:
        return RegClass::kB64;
      case OperandKind::kOfType:
        return ClassOf(mods.type);
      case OperandKind::kOfFrom:
        return ClassOf(mods.from);
      default:
        return RegClass::kB32;
    }
  }

  void PlaceOperands(const Instr& instr, absl::Span<const OperandSpec> specs,
                     absl::Span<const Operand> operands) {
    size_t at = 0;
    for (const OperandSpec& spec : specs) {
      const size_t count = spec.kind == OperandKind::kRest ? operands.size() - at
                           : spec.count == 0               ? instr.mods.vec
                                                           : spec.count;
      for (size_t i = 0; i < count; ++i) {
        code_.operands.push_back(PlaceOf(operands[at++], spec, instr.mods));
      }
    }
  }

  size_t Push(Inst::Kind kind) {
    code_.insts.emplace_back();
    code_.insts.back().kind = kind;
    return code_.insts.size() - 1;
  }

  void SetGuard(Inst* inst, const machine::Guard& guard) const {
    if (guard.always()) return;
    inst->guarded = true;
    inst->guard_negated = guard.negated;
    inst->guard = registers_[guard.pred.id];
  }

  void DecodeInstr(uint32_t index, Fixups* end) {
    const Instr& instr = kernel_.instrs[index];
    // A loaded parameter is a constant.
    const Op op = instr.op != Op::kLdParam                     ? instr.op
                  : ClassOf(instr.mods.type) == RegClass::kB64 ? Op::kMovB64
                  : ClassOf(instr.mods.type) == RegClass::kB16 ? Op::kMovB16
                                                               : Op::kMovB32;
    const Semantics& semantics = SemanticsOf(op);
    const size_t at = Push(Inst::Kind::kOp);
    first_operand_.push_back(code_.operands.size());
    PlaceOperands(instr, InfoOf(instr.op).dst_specs(), kernel_.Dsts(instr));
    PlaceOperands(instr, InfoOf(instr.op).src_specs(), kernel_.Srcs(instr));
    Inst& inst = code_.insts[at];
    inst.op = op;
    inst.run = semantics.run;
    inst.rule = semantics.rule;
    inst.num_dst = instr.num_dst;
    inst.num_src = instr.num_src;
    inst.mods = instr.mods;
    inst.access_bytes = static_cast<uint8_t>(machine::AccessBytes(instr));
    inst.source = index;
    SetGuard(&inst, instr.guard);
    Jump(at, end);
  }

  // Where the warp goes when no lane is left: the end of the construct around it.
  void Jump(size_t at, Fixups* end) {
    if (end != nullptr) {
      end->push_back(at);
    } else {
      to_end_.push_back(at);
    }
  }

  void Land(const Fixups& fixups, size_t target) {
    for (const size_t at : fixups) code_.insts[at].target = static_cast<uint32_t>(target);
  }

  void DecodeBlock(uint32_t block, Fixups* end) {
    for (const Node& node : kernel_.blocks[block].nodes) {
      switch (node.kind) {
        case Node::Kind::kInstr:
          DecodeInstr(node.index, end);
          break;
        case Node::Kind::kIf:
          DecodeIf(node, end);
          break;
        case Node::Kind::kLoop:
          DecodeLoop(node, end);
          break;
        case Node::Kind::kBreak:
        case Node::Kind::kContinue: {
          const size_t at =
              Push(node.kind == Node::Kind::kBreak ? Inst::Kind::kBreak : Inst::Kind::kContinue);
          SetGuard(&code_.insts[at], node.guard);
          Jump(at, end);
          break;
        }
      }
    }
  }

  void DecodeIf(const Node& node, Fixups* end) {
    const size_t begin = Push(Inst::Kind::kIf);
    SetGuard(&code_.insts[begin], node.guard);
    Fixups then_end = {begin};
    DecodeBlock(node.index, &then_end);
    if (node.other != kNoIndex) {
      const size_t otherwise = Push(Inst::Kind::kElse);
      Land(then_end, otherwise);
      then_end = {otherwise};
      DecodeBlock(node.other, &then_end);
    }
    const size_t after = Push(Inst::Kind::kEndIf);
    Land(then_end, after);
    Jump(after, end);
  }

  void DecodeLoop(const Node& node, Fixups* end) {
    const size_t begin = Push(Inst::Kind::kLoop);
    Fixups body_end;
    DecodeBlock(node.index, &body_end);
    if (node.other != kNoIndex) {
      const size_t latch = Push(Inst::Kind::kLatch);
      Land(body_end, latch);
      body_end = {latch};
      DecodeBlock(node.other, &body_end);
    }
    const size_t after = Push(Inst::Kind::kEndLoop);
    code_.insts[after].target = static_cast<uint32_t>(begin + 1);
    Land(body_end, after);
    // All lanes may have exited in it: the next construct end sees to that.
    (void)end;
  }

  void Finish() {
    Land(to_end_, code_.insts.size() - 1);
    size_t at = 0;
    for (Inst& inst : code_.insts) {
      if (inst.kind == Inst::Kind::kOp)
        inst.operands = code_.operands.data() + first_operand_[at++];
    }
  }

  const Kernel& kernel_;
  absl::Span<const Argument> arguments_;
  Code& code_;
  std::vector<Place> registers_;
  absl::flat_hash_map<std::pair<int, uint64_t>, Place> constants_;
  std::vector<size_t> first_operand_;
  Fixups to_end_;
};

}  // namespace

Code Decode(const Kernel& kernel, absl::Span<const Argument> arguments) {
  Code code;
  Decoder(kernel, arguments, &code).Run();
  return code;
}

}  // namespace tilus::simulate

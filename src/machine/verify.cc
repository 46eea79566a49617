#include "machine/verify.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "machine/conversion.h"
#include "machine/definite.h"
#include "machine/print.h"

namespace tilus::machine {
namespace {

// What stands at an operand position, for messages.
std::string Expected(const OperandSpec& spec, const Modifiers& mods) {
  switch (spec.kind) {
    case OperandKind::kPred: return "a predicate";
    case OperandKind::kB16: return "a b16 value";
    case OperandKind::kB32: return "a b32 value";
    case OperandKind::kB64: return "a b64 value";
    case OperandKind::kOfType: return absl::StrCat("a ", TypeName(mods.type), " value");
    case OperandKind::kOfFrom: return absl::StrCat("a ", TypeName(mods.from), " value");
    case OperandKind::kGlobal: return "a global address";
    case OperandKind::kShared: return "a shared address";
    case OperandKind::kConst: return "a constant";
    case OperandKind::kParam: return "a kernel parameter";
    case OperandKind::kSource: return "a b32 value, special register or the shared base";
    case OperandKind::kRest: return "a register";
    case OperandKind::kNone: break;
  }
  return "nothing";
}

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel) {}

  absl::Status Run() {
    CheckKernel();
    visited_.assign(kernel_.blocks.size(), false);
    if (kernel_.body >= kernel_.blocks.size()) {
      Error(nullptr, absl::StrCat("kernel ", kernel_.name, " has no body"));
    } else {
      CheckBlock(kernel_.body, /*loops=*/0);
    }
    // Reads before writes can only be told where operands and blocks exist.
    if (!list_.has_errors()) CheckDefined();
    return list_.ToStatus();
  }

 private:
  void Error(const Instr* instr, std::string message) {
    Diagnostic d;
    d.id = DiagId::kMachineCode;
    d.message = std::move(message);
    d.hint = "this is a fault of the compiler, not of the program";
    if (instr != nullptr) {
      d.path = std::string(kernel_.PathOf(*instr));
      d.excerpt = PrintInstr(kernel_, *instr);
    }
    list_.Add(std::move(d));
  }

  void CheckKernel() {
    const uint32_t threads = kernel_.num_threads;
    if (threads == 0 || threads % 32 != 0 || threads > 1024) {
      Error(nullptr, absl::StrCat("a block of ", threads, " threads is not 1 to 32 warps"));
    }
    if (kernel_.shared_storage == SharedStorage::kStatic &&
        kernel_.shared_bytes > kMaxStaticSharedBytes) {
      Error(nullptr, absl::StrCat(kernel_.shared_bytes, " bytes of shared memory are static"));
    }
    for (const Param& param : kernel_.params) {
      if (param.size == 0 || param.align == 0 || (param.align & (param.align - 1)) != 0) {
        Error(nullptr, absl::StrCat("parameter ", param.name, " has size ", param.size,
                                    " and alignment ", param.align));
      }
    }
  }

  void CheckBlock(uint32_t index, int loops) {
    if (index >= kernel_.blocks.size() || visited_[index]) {
      Error(nullptr, absl::StrCat("block ", index, " is missing or used twice"));
      return;
    }
    visited_[index] = true;
    for (const Node& node : kernel_.blocks[index].nodes) CheckNode(node, loops);
  }

  void CheckNode(const Node& node, int loops) {
    if (node.kind == Node::Kind::kInstr) {
      if (node.index >= kernel_.instrs.size()) {
        Error(nullptr, absl::StrCat("there is no instruction ", node.index));
      } else {
        CheckInstr(kernel_.instrs[node.index]);
      }
      return;
    }
    CheckGuard(nullptr, node.guard);
    switch (node.kind) {
      case Node::Kind::kIf:
        if (node.guard.always()) Error(nullptr, "an if has no predicate");
        CheckBlock(node.index, loops);
        if (node.other != kNoIndex) CheckBlock(node.other, loops);
        break;
      case Node::Kind::kLoop:
        CheckBlock(node.index, loops + 1);
        // A latch may not leave the round that it ends.
        if (node.other != kNoIndex) CheckBlock(node.other, 0);
        break;
      default:
        if (loops == 0) Error(nullptr, "a break or continue stands outside a loop's body");
    }
  }

  void CheckGuard(const Instr* instr, const Guard& guard) {
    if (guard.always()) return;
    if (guard.pred.id >= kernel_.regs.size()) {
      Error(instr, absl::StrCat("there is no register ", guard.pred.id));
    } else if (kernel_.ClassOf(guard.pred) != RegClass::kPred) {
      Error(instr, "the guard is not a predicate");
    }
  }

  void CheckInstr(const Instr& instr) {
    if (static_cast<int>(instr.op) >= kNumOps) {
      return Error(nullptr, absl::StrCat("there is no opcode ", static_cast<int>(instr.op)));
    }
    if (size_t{instr.first_operand} + instr.num_dst + instr.num_src > kernel_.operands.size()) {
      return Error(nullptr, "an instruction's operands are outside the pool");
    }
    CheckGuard(&instr, instr.guard);
    CheckModifiers(instr);
    const OpInfo& info = InfoOf(instr.op);
    CheckOperands(instr, info.dst_specs(), kernel_.Dsts(instr), "destinations");
    CheckOperands(instr, info.src_specs(), kernel_.Srcs(instr), "sources");
    CheckMeaning(instr);
  }

  void CheckModifiers(const Instr& instr) {
    const OpInfo& info = InfoOf(instr.op);
    const Modifiers& m = instr.mods;
    const auto check = [&](bool ok, const char* what) {
      if (!ok) Error(&instr, absl::StrCat(info.name, " does not take this ", what));
    };
    check((info.types == 0) == (m.type == Type::kNone) &&
              (info.types == 0 || (info.types & TypeBit(m.type)) != 0), "type");
    check(info.takes_from == (m.from != Type::kNone), "source type");
    check(info.takes_compare == (m.compare != Compare::kNone), "comparison");
    check(info.takes_round || m.round == Round::kNone, "rounding");
    check(info.takes_saturate || !m.saturate, "saturation");
    check(m.vec == 1 || (info.takes_vector && (m.vec == 2 || m.vec == 4)), "vector length");
    check(info.takes_cache || m.cache == Cache::kDefault, "cache hint");
    check(info.takes_order || m.order == Order::kWeak, "memory order");
    check(info.takes_scope || m.scope == Scope::kNone, "scope");
  }

  void CheckOperands(const Instr& instr, absl::Span<const OperandSpec> specs,
                     absl::Span<const Operand> operands, const char* what) {
    size_t at = 0;
    for (const OperandSpec& spec : specs) {
      const bool rest = spec.kind == OperandKind::kRest;
      const size_t count = rest              ? operands.size() - at
                           : spec.count == 0 ? instr.mods.vec
                                             : spec.count;
      for (size_t i = 0; i < count && at < operands.size(); ++i, ++at) {
        if (!Fits(spec, instr.mods, operands[at])) {
          Error(&instr, absl::StrCat("operand ", at, " of the ", what, " is not ",
                                     Expected(spec, instr.mods)));
        }
      }
      if (rest) return;
    }
    size_t wanted = 0;
    for (const OperandSpec& spec : specs) wanted += spec.count == 0 ? instr.mods.vec : spec.count;
    if (operands.size() != wanted) {
      Error(&instr, absl::StrCat(InfoOf(instr.op).name, " has ", operands.size(), " ", what,
                                 " and takes ", wanted));
    }
  }

  bool IsReg(const Operand& o, RegClass c) const {
    return o.is_reg() && o.value < kernel_.regs.size() && kernel_.ClassOf(o.reg()) == c;
  }

  // A register of the class, or, where allowed, an immediate of its width.
  bool IsValue(const OperandSpec& spec, const Operand& o, RegClass c) const {
    if (IsReg(o, c)) return o.offset == 0;
    if (!o.is_imm() || spec.register_only) return false;
    return BitsOf(c) == 64 || o.value >> BitsOf(c) == 0;
  }

  bool Fits(const OperandSpec& spec, const Modifiers& mods, const Operand& o) const {
    switch (spec.kind) {
      case OperandKind::kPred: return IsValue(spec, o, RegClass::kPred);
      case OperandKind::kB16: return IsValue(spec, o, RegClass::kB16);
      case OperandKind::kB32: return IsValue(spec, o, RegClass::kB32);
      case OperandKind::kB64: return IsValue(spec, o, RegClass::kB64);
      case OperandKind::kOfType: return IsValue(spec, o, ClassOf(mods.type));
      case OperandKind::kOfFrom: return IsValue(spec, o, ClassOf(mods.from));
      case OperandKind::kGlobal: return IsReg(o, RegClass::kB64);
      case OperandKind::kShared:
        return o.kind == Operand::Kind::kSharedBase || IsReg(o, RegClass::kB32);
      case OperandKind::kConst: return o.is_imm();
      case OperandKind::kParam:
        return o.kind == Operand::Kind::kParam && o.value < kernel_.params.size() &&
               o.offset >= 0 &&
               static_cast<uint64_t>(o.offset) + static_cast<uint64_t>(BitsOf(mods.type) / 8) <=
                   kernel_.params[o.value].size;
      case OperandKind::kSource:
        return o.kind == Operand::Kind::kSharedBase ||
               (o.kind == Operand::Kind::kSpecial && o.value < kNumSpecials) ||
               IsValue(spec, o, RegClass::kB32);
      case OperandKind::kRest: return o.is_reg() && o.value < kernel_.regs.size();
      case OperandKind::kNone: break;
    }
    return false;
  }

  // Rules that cross modifiers and operands.
  void CheckMeaning(const Instr& instr) {
    const Modifiers& m = instr.mods;
    const OpInfo& info = InfoOf(instr.op);
    if (instr.op == Op::kCvt &&
        !ConversionRequirement(m.type, m.from, m.round,
                               m.saturate ? Saturation::kYes : Saturation::kNo)) {
      Error(&instr, "there is no such conversion");
    }
    if (info.takes_compare && m.compare > Compare::kGe &&
        (instr.op <= Op::kSetpU64 && instr.op >= Op::kSetpS32)) {
      Error(&instr, "integers have no unordered comparison");
    }
    if (info.takes_vector && AccessBytes(instr) > 16) {
      Error(&instr, "an access is wider than 16 bytes");
    }
    if (info.takes_order) CheckOrder(instr);
    if (info.takes_cache && info.Has(kWrites) &&
        (m.cache == Cache::kNonCoherent || m.cache == Cache::kNonCoherentNoAllocate)) {
      Error(&instr, "a store cannot be non-coherent");
    }
    if (instr.op == Op::kFence && m.scope == Scope::kNone) Error(&instr, "a fence needs a scope");
    if (instr.op == Op::kVprintf && kernel_.Srcs(instr)[0].value >= kernel_.strings.size()) {
      Error(&instr, "there is no such string");
    }
    if (instr.op == Op::kBarSync || instr.op == Op::kBarArrive) CheckBarrier(instr);
  }

  void CheckOrder(const Instr& instr) {
    const Modifiers& m = instr.mods;
    const OpInfo& info = InfoOf(instr.op);
    const bool atomic = info.Has(kReads) && info.Has(kWrites);
    const bool gives = instr.num_dst > 0;
    const bool ok = m.order == Order::kWeak     ? true
                    : m.order == Order::kVolatile ? !atomic
                    : m.order == Order::kRelaxed  ? true
                    : m.order == Order::kAcquire  ? gives
                    : m.order == Order::kRelease  ? info.Has(kWrites)
                                                  : atomic && gives;
    if (!ok) {
      Error(&instr, absl::StrCat("the order ", OrderName(m.order), " is not for this access"));
    }
    if ((m.order > Order::kVolatile) != (m.scope != Scope::kNone) &&
        !(atomic && m.order == Order::kWeak)) {
      Error(&instr, "a memory order and a scope go together");
    }
    if (m.order != Order::kWeak && m.cache != Cache::kDefault) {
      Error(&instr, "an ordered access takes no cache hint");
    }
  }

  void CheckBarrier(const Instr& instr) {
    const absl::Span<const Operand> srcs = kernel_.Srcs(instr);
    if (srcs.size() != 2) return;
    if (srcs[0].is_imm() && srcs[0].value > 15) Error(&instr, "barriers are numbered 0 to 15");
    if (srcs[1].is_imm() && (srcs[1].value % 32 != 0 || srcs[1].value == 0)) {
      Error(&instr, "a barrier counts whole warps");
    }
  }

  void CheckDefined() {
    for (const UndefinedRead& read : FindUndefinedReads(kernel_)) {
      Diagnostic d;
      d.id = DiagId::kMachineUndefined;
      d.hint = "this is a fault of the compiler, not of the program";
      d.message = absl::StrCat("register ", read.reg.id, " (", ClassName(kernel_.ClassOf(read.reg)),
                               ") is read before it is written on some path");
      if (read.instr != kNoIndex) {
        d.path = std::string(kernel_.PathOf(kernel_.instrs[read.instr]));
        d.excerpt = PrintInstr(kernel_, kernel_.instrs[read.instr]);
      }
      list_.Add(std::move(d));
    }
  }

  const Kernel& kernel_;
  DiagnosticList list_;
  std::vector<bool> visited_;
};

}  // namespace

absl::Status Verify(const Kernel& kernel) { return Verifier(kernel).Run(); }

}  // namespace tilus::machine

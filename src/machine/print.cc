#include "machine/print.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/escaping.h"
#include "machine/mnemonic.h"

namespace tilus::machine {
namespace {

// p1, h2, r3, d4: the class and the id.
void AppendReg(std::string* out, const Kernel& kernel, Reg r) {
  if (r.id >= kernel.regs.size()) {
    absl::StrAppend(out, "?", r.id);
    return;
  }
  static constexpr char kLetters[] = {'p', 'h', 'r', 'd'};
  out->push_back(kLetters[static_cast<int>(kernel.ClassOf(r))]);
  absl::StrAppend(out, r.id);
}

void AppendGuard(std::string* out, const Kernel& kernel, const Guard& guard) {
  if (guard.negated) out->push_back('!');
  AppendReg(out, kernel, guard.pred);
}

void AppendOperand(std::string* out, const Kernel& kernel, const Operand& o) {
  switch (o.kind) {
    case Operand::Kind::kReg: AppendReg(out, kernel, o.reg()); break;
    case Operand::Kind::kImm:
      if (o.value < 1024) {
        absl::StrAppend(out, o.value);
      } else {
        absl::StrAppend(out, "0x", absl::Hex(o.value));
      }
      break;
    case Operand::Kind::kSpecial:
      absl::StrAppend(out, o.value < kNumSpecials ? SpecialName(o.special()) : "%?");
      break;
    case Operand::Kind::kSharedBase: absl::StrAppend(out, "shared"); break;
    case Operand::Kind::kParam:
      absl::StrAppend(out, o.value < kernel.params.size() ? kernel.params[o.value].name : "?");
      break;
  }
  if (o.offset > 0) absl::StrAppend(out, "+", o.offset);
  if (o.offset < 0) absl::StrAppend(out, o.offset);
}

void AppendOperands(std::string* out, const Kernel& kernel, const Modifiers& mods,
                    absl::Span<const OperandSpec> specs, absl::Span<const Operand> operands) {
  size_t at = 0;
  for (const OperandSpec& spec : specs) {
    const bool address = spec.kind == OperandKind::kGlobal || spec.kind == OperandKind::kShared ||
                         spec.kind == OperandKind::kParam;
    const size_t count = spec.kind == OperandKind::kRest ? operands.size() - at
                         : spec.count == 0               ? mods.vec
                                                         : spec.count;
    const bool braces = spec.tuple && count > 1;
    if (at > 0) out->append(", ");
    if (braces) out->push_back('{');
    if (address) out->push_back('[');
    for (size_t i = 0; i < count && at < operands.size(); ++i, ++at) {
      if (i > 0) out->append(braces ? "," : ", ");
      AppendOperand(out, kernel, operands[at]);
    }
    if (address) out->push_back(']');
    if (braces) out->push_back('}');
  }
  // What the row does not know of (a malformed instruction).
  for (; at < operands.size(); ++at) {
    out->append(at > 0 ? ", " : "");
    AppendOperand(out, kernel, operands[at]);
  }
}

void AppendInstr(std::string* out, const Kernel& kernel, const Instr& instr) {
  const OpInfo& info = InfoOf(instr.op);
  if (!instr.guard.always()) {
    out->push_back('@');
    AppendGuard(out, kernel, instr.guard);
    out->push_back(' ');
  }
  if (instr.num_dst > 0) {
    AppendOperands(out, kernel, instr.mods, info.dst_specs(), kernel.Dsts(instr));
    out->append(" = ");
  }
  AppendMnemonic(out, instr);
  if (instr.num_src > 0) out->push_back(' ');
  AppendOperands(out, kernel, instr.mods, info.src_specs(), kernel.Srcs(instr));
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel) {}

  std::string Run() {
    Header();
    PrintBlock(kernel_.body, 1);
    out_.append("}\n");
    return std::move(out_);
  }

 private:
  void Header() {
    absl::StrAppend(&out_, "kernel ", kernel_.name, " threads ", kernel_.num_threads);
    if (kernel_.shared_bytes > 0) {
      const bool dynamic = kernel_.shared_storage == SharedStorage::kDynamic;
      absl::StrAppend(&out_, " shared ", kernel_.shared_bytes, dynamic ? " dynamic" : " static");
    }
    out_.append(" {\n");
    for (const Param& param : kernel_.params) {
      absl::StrAppend(&out_, "  param ", param.name, ": ");
      if (param.is_pointer) {
        absl::StrAppend(&out_, "*", param.pointee, " align ", param.pointee_align, "\n");
      } else {
        absl::StrAppend(&out_, TypeName(param.type), " size ", param.size, "\n");
      }
    }
    for (size_t i = 0; i < kernel_.strings.size(); ++i) {
      absl::StrAppend(&out_, "  string ", i, ": \"", absl::CEscape(kernel_.strings[i]), "\"\n");
    }
  }

  void Indent(int depth) { out_.append(2 * static_cast<size_t>(depth), ' '); }

  void PrintBlock(uint32_t index, int depth) {
    if (index >= kernel_.blocks.size()) return;
    for (const Node& node : kernel_.blocks[index].nodes) PrintNode(node, depth);
  }

  void PrintNode(const Node& node, int depth) {
    switch (node.kind) {
      case Node::Kind::kInstr: PrintInstr(kernel_.instrs[node.index], depth); break;
      case Node::Kind::kIf:
        Indent(depth);
        out_.append("if ");
        AppendGuard(&out_, kernel_, node.guard);
        PrintBody(node.index, depth);
        if (node.other != kNoIndex) {
          out_.append(" else");
          PrintBody(node.other, depth);
        }
        out_.push_back('\n');
        break;
      case Node::Kind::kLoop:
        Indent(depth);
        out_.append("loop");
        PrintBody(node.index, depth);
        if (node.other != kNoIndex) {
          out_.append(" latch");
          PrintBody(node.other, depth);
        }
        out_.push_back('\n');
        break;
      case Node::Kind::kBreak: PrintJump("break", node, depth); break;
      case Node::Kind::kContinue: PrintJump("continue", node, depth); break;
    }
  }

  void PrintBody(uint32_t block, int depth) {
    out_.append(" {\n");
    PrintBlock(block, depth + 1);
    Indent(depth);
    out_.push_back('}');
  }

  void PrintJump(const char* word, const Node& node, int depth) {
    Indent(depth);
    out_.append(word);
    if (!node.guard.always()) {
      out_.append(" if ");
      AppendGuard(&out_, kernel_, node.guard);
    }
    out_.push_back('\n');
  }

  // Instructions of one tile instruction stand under its path.
  void PrintInstr(const Instr& instr, int depth) {
    if (instr.path != path_) {
      path_ = instr.path;
      const absl::string_view text = kernel_.PathOf(instr);
      if (!text.empty()) {
        Indent(depth);
        absl::StrAppend(&out_, "; ", text, "\n");
      }
    }
    Indent(depth);
    AppendInstr(&out_, kernel_, instr);
    out_.push_back('\n');
  }

  const Kernel& kernel_;
  std::string out_;
  uint32_t path_ = kNoIndex;
};

}  // namespace

std::string Print(const Kernel& kernel) { return Printer(kernel).Run(); }

std::string PrintInstr(const Kernel& kernel, const Instr& instr) {
  std::string out;
  AppendInstr(&out, kernel, instr);
  return out;
}

}  // namespace tilus::machine

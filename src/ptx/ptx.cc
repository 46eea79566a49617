#include "ptx/ptx.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "machine/defs.h"
#include "machine/mnemonic.h"
#include "ptx/expansion.h"
#include "ptx/requirements.h"

namespace tilus::ptx {
namespace {

using machine::Guard;
using machine::Instr;
using machine::Kernel;
using machine::Node;
using machine::Op;
using machine::Operand;
using machine::OperandKind;
using machine::OperandSpec;
using machine::OpInfo;
using machine::Reg;
using machine::RegClass;

constexpr char kSharedName[] = "smem";
constexpr char kDepotName[] = "printf_buffer";
constexpr int kNumClasses = 4;
constexpr const char* kRegPrefix[kNumClasses] = {"%p", "%h", "%r", "%d"};

bool UsesShared(const Kernel& kernel) {
  bool uses = kernel.shared_bytes > 0;
  machine::ForEachInstr(kernel, kernel.body, [&](uint32_t index) {
    for (const Operand& src : kernel.Srcs(kernel.instrs[index])) {
      uses |= src.kind == Operand::Kind::kSharedBase;
    }
  });
  return uses;
}

bool HasDynamicShared(const Kernel& kernel) {
  return kernel.shared_storage == machine::SharedStorage::kDynamic && UsesShared(kernel);
}

// Bytes of vprintf's argument buffer, each value aligned to its size.
uint32_t PrintfBytes(const Kernel& kernel, const Instr& instr) {
  uint32_t bytes = 0;
  for (const Operand& src : kernel.Srcs(instr).subspan(1)) {
    const uint32_t size = kernel.ClassOf(src.reg()) == RegClass::kB64 ? 8 : 4;
    bytes = (bytes + size - 1) / size * size + size;
  }
  return bytes;
}

// Prints one kernel's entry.
class EntryPrinter {
 public:
  EntryPrinter(const Kernel& kernel, const Target& target, std::string* out)
      : kernel_(kernel), target_(target), out_(*out), number_(kernel.regs.size(), 0) {}

  void Run() {
    Header();
    // Registers are numbered as they appear, so the body goes first.
    std::string head = std::exchange(out_, std::string());
    head.reserve(head.size() + 64 * kernel_.instrs.size());
    Body(kernel_.body);
    std::string body = std::exchange(out_, std::move(head));
    Declarations();
    out_.append(body);
    out_.append("\tret;\n}\n");
  }

 private:
  void Header() {
    absl::StrAppend(&out_, "\n.visible .entry ", kernel_.name, "(");
    for (size_t i = 0; i < kernel_.params.size(); ++i) {
      const machine::Param& param = kernel_.params[i];
      out_.append(i == 0 ? "\n\t" : ",\n\t");
      if (param.type == machine::Type::kNone) {
        absl::StrAppend(&out_, ".param .align ", param.align, " .b8 p_", param.name, "[",
                        param.size, "]");
      } else {
        absl::StrAppend(&out_, ".param .b", 8 * param.size, " p_", param.name);
      }
    }
    absl::StrAppend(&out_, kernel_.params.empty() ? ")\n" : "\n)\n", ".reqntid ",
                    kernel_.num_threads, ", 1, 1\n");
    if (kernel_.min_blocks_per_sm > 0) {
      absl::StrAppend(&out_, ".minnctapersm ", kernel_.min_blocks_per_sm, "\n");
    }
    out_.append("{\n");
  }

  void Declarations() {
    for (int c = 0; c < kNumClasses; ++c) {
      if (count_[c] == 0) continue;
      absl::StrAppend(&out_, "\t.reg .", machine::ClassName(static_cast<RegClass>(c)), " ",
                      kRegPrefix[c], "<", count_[c] + 1, ">;\n");
    }
    if (kernel_.shared_storage == machine::SharedStorage::kStatic && UsesShared(kernel_)) {
      absl::StrAppend(&out_, "\t.shared .align 1024 .b8 ", kSharedName, "[",
                      std::max<uint32_t>(kernel_.shared_bytes, 1), "];\n");
    }
    if (printf_bytes_ > 0) {
      absl::StrAppend(&out_, "\t.local .align 8 .b8 ", kDepotName, "[", printf_bytes_, "];\n");
    }
    out_.push_back('\n');
  }

  void Body(uint32_t block) {
    for (const Node& node : kernel_.blocks[block].nodes) {
      switch (node.kind) {
        case Node::Kind::kInstr: Instruction(kernel_.instrs[node.index]); break;
        case Node::Kind::kIf: If(node); break;
        case Node::Kind::kLoop: Loop(node); break;
        case Node::Kind::kBreak: Jump(node.guard, loops_.back().end); break;
        case Node::Kind::kContinue:
          loops_.back().continued = true;
          Jump(node.guard, loops_.back().next);
          break;
      }
    }
  }

  // ---- Structure.
  void Label(int label) { absl::StrAppend(&out_, "$L", label, ":\n"); }

  void Jump(const Guard& guard, int label) {
    out_.push_back('\t');
    AppendGuard(guard);
    absl::StrAppend(&out_, "bra $L", label, ";\n");
  }

  void If(const Node& node) {
    const int otherwise = next_label_++;
    Jump(Guard{node.guard.pred, !node.guard.negated}, otherwise);
    Body(node.index);
    if (node.other == machine::kNoIndex) return Label(otherwise);
    const int end = next_label_++;
    Jump(Guard(), end);
    Label(otherwise);
    Body(node.other);
    Label(end);
  }

  void Loop(const Node& node) {
    const int top = next_label_++;
    const int next = next_label_++;
    const int end = next_label_++;
    loops_.push_back({next, end, false});
    Label(top);
    Body(node.index);
    if (loops_.back().continued) Label(next);
    if (node.other != machine::kNoIndex) Body(node.other);
    Jump(Guard(), top);
    Label(end);
    loops_.pop_back();
  }

  // ---- Instructions.
  void AppendReg(Reg r) {
    const int c = static_cast<int>(kernel_.ClassOf(r));
    uint32_t& number = number_[r.id];
    if (number == 0) number = ++count_[c];
    absl::StrAppend(&out_, kRegPrefix[c], number);
  }

  void AppendGuard(const Guard& guard) {
    if (guard.always()) return;
    out_.append(guard.negated ? "@!" : "@");
    AppendReg(guard.pred);
    out_.push_back(' ');
  }

  void AppendOffset(int32_t offset) {
    if (offset != 0) absl::StrAppend(&out_, "+", offset);  // [%r1+-16] is PTX
  }

  // How PTX writes the immediates of an instruction, from its mnemonic.
  enum class Literal : uint8_t { kInteger, kF32, kF64 };
  static Literal LiteralOf(absl::string_view mnemonic) {
    if (absl::EndsWith(mnemonic, ".f32")) return Literal::kF32;
    if (absl::EndsWith(mnemonic, ".f64")) return Literal::kF64;
    return Literal::kInteger;
  }

  void AppendImmediate(uint64_t bits, Literal literal) {
    switch (literal) {
      case Literal::kF32: absl::StrAppend(&out_, "0f", absl::Hex(bits, absl::kZeroPad8)); break;
      case Literal::kF64: absl::StrAppend(&out_, "0d", absl::Hex(bits, absl::kZeroPad16)); break;
      case Literal::kInteger:
        if (bits < 1024) {
          absl::StrAppend(&out_, bits);
        } else {
          absl::StrAppend(&out_, "0x", absl::Hex(bits));
        }
    }
  }

  void AppendOperand(const OperandSpec& spec, const Operand& o, Literal literal) {
    const bool address = spec.kind == OperandKind::kGlobal || spec.kind == OperandKind::kShared ||
                         spec.kind == OperandKind::kParam;
    if (address) out_.push_back('[');
    switch (o.kind) {
      case Operand::Kind::kReg: AppendReg(o.reg()); break;
      case Operand::Kind::kImm: AppendImmediate(o.value, literal); break;
      case Operand::Kind::kSpecial: out_.append(machine::SpecialName(o.special())); break;
      case Operand::Kind::kSharedBase: out_.append(kSharedName); break;
      case Operand::Kind::kParam:
        absl::StrAppend(&out_, "p_", kernel_.params[o.value].name);
        break;
    }
    AppendOffset(o.offset);
    if (address) out_.push_back(']');
  }

  // One group of the signature; `at` moves behind its operands.
  void AppendGroup(const OperandSpec& spec, const machine::Modifiers& mods,
                   absl::Span<const Operand> operands, size_t& at, Literal literal) {
    const size_t count = spec.count == 0 ? mods.vec : spec.count;
    // A fragment of one register has braces, a vector of one element has none.
    const bool braces = spec.tuple && (spec.count != 0 || mods.vec > 1);
    if (braces) out_.push_back('{');
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) out_.append(", ");
      AppendOperand(spec, operands[at++], literal);
    }
    if (braces) out_.push_back('}');
  }

  void AppendOperandsInOrder(const Instr& instr, Literal literal) {
    const OpInfo& info = machine::InfoOf(instr.op);
    const char* separator = " ";
    size_t at = 0;
    for (const OperandSpec& spec : info.dst_specs()) {
      out_.append(std::exchange(separator, ", "));
      AppendGroup(spec, instr.mods, kernel_.Dsts(instr), at, literal);
    }
    at = 0;
    for (const OperandSpec& spec : info.src_specs()) {
      out_.append(std::exchange(separator, ", "));
      AppendGroup(spec, instr.mods, kernel_.Srcs(instr), at, literal);
    }
  }

  // The group that $N names. Rows and expansions with templates have groups of one operand.
  void AppendNumbered(const Instr& instr, size_t n, Literal literal) {
    const OpInfo& info = machine::InfoOf(instr.op);
    const Operand& operand =
        n < instr.num_dst ? kernel_.Dsts(instr)[n] : kernel_.Srcs(instr)[n - instr.num_dst];
    AppendOperand(info.specs[n], operand, literal);
  }

  void Instruction(const Instr& instr) {
    if (instr.op == Op::kVprintf) return Printf(instr);
    if (NeedsExpansion(instr, target_)) return Expanded(instr);
    out_.push_back('\t');
    AppendGuard(instr.guard);
    machine::AppendMnemonic(&out_, instr);
    const Literal literal = LiteralOf(out_);
    const absl::string_view operands = machine::OperandTemplate(machine::InfoOf(instr.op));
    if (operands.empty()) {
      AppendOperandsInOrder(instr, literal);
    } else {
      out_.push_back(' ');
      for (size_t i = 0; i < operands.size(); ++i) {
        if (operands[i] == '$') {
          AppendNumbered(instr, static_cast<size_t>(operands[++i] - '0'), literal);
        } else {
          out_.push_back(operands[i]);
        }
      }
    }
    out_.append(";\n");
    if (instr.op == Op::kLdParam) GlobalPointer(instr);
  }

  // Pointer parameters are generic addresses.
  void GlobalPointer(const Instr& instr) {
    const bool pointer = kernel_.params[kernel_.Srcs(instr)[0].value].is_pointer;
    if (!pointer || instr.mods.type != machine::Type::kB64) return;
    const Reg r = kernel_.Dsts(instr)[0].reg();
    out_.push_back('\t');
    AppendGuard(instr.guard);
    out_.append("cvta.to.global.u64 ");
    AppendReg(r);
    out_.append(", ");
    AppendReg(r);
    out_.append(";\n");
  }

  void Expanded(const Instr& instr) {
    constexpr absl::string_view kCompare = "{compare}";
    out_.push_back('\t');
    const absl::string_view text = FindExpansion(instr.op)->text;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '@') {
        AppendGuard(instr.guard);
      } else if (text[i] == '$') {
        AppendNumbered(instr, static_cast<size_t>(text[++i] - '0'), Literal::kInteger);
      } else if (absl::StartsWith(text.substr(i), kCompare)) {
        absl::StrAppend(&out_, ".", machine::CompareName(instr.mods.compare));
        i += kCompare.size() - 1;
      } else {
        out_.push_back(text[i]);
      }
    }
    out_.push_back('\n');
  }

  // Values go to a buffer in local memory; the call takes the string's and the buffer's addresses.
  void Printf(const Instr& instr) {
    const int skip = next_label_++;
    if (!instr.guard.always()) Jump(Guard{instr.guard.pred, !instr.guard.negated}, skip);
    printf_bytes_ = std::max<uint32_t>({printf_bytes_, PrintfBytes(kernel_, instr), 8});
    out_.append("\t{\n\t.reg .b64 %format, %values;\n\t.reg .b32 %printed;\n");
    uint32_t offset = 0;
    for (const Operand& src : kernel_.Srcs(instr).subspan(1)) {
      const uint32_t size = kernel_.ClassOf(src.reg()) == RegClass::kB64 ? 8 : 4;
      offset = (offset + size - 1) / size * size;
      absl::StrAppend(&out_, "\tst.local.b", 8 * size, " [", kDepotName, "+", offset, "], ");
      AppendReg(src.reg());
      out_.append(";\n");
      offset += size;
    }
    absl::StrAppend(&out_, "\tmov.b64 %format, ", kernel_.name, "_string_",
                    kernel_.Srcs(instr)[0].value, ";\n\tcvta.global.u64 %format, %format;\n",
                    "\tmov.b64 %values, ", kDepotName, ";\n\tcvta.local.u64 %values, %values;\n");
    out_.append(
        "\t.param .b64 format;\n\tst.param.b64 [format], %format;\n"
        "\t.param .b64 values;\n\tst.param.b64 [values], %values;\n"
        "\t.param .b32 printed;\n\tcall (printed), vprintf, (format, values);\n"
        "\tld.param.b32 %printed, [printed];\n\t}\n");
    if (!instr.guard.always()) Label(skip);
  }

  struct LoopLabels {
    int next;
    int end;
    bool continued;
  };

  const Kernel& kernel_;
  const Target& target_;
  std::string& out_;
  std::vector<uint32_t> number_;  // by register, from 1; 0 = not seen
  uint32_t count_[kNumClasses] = {};
  uint32_t printf_bytes_ = 0;
  int next_label_ = 0;
  std::vector<LoopLabels> loops_;
};

void AppendStrings(const Kernel& kernel, std::string* out) {
  for (size_t i = 0; i < kernel.strings.size(); ++i) {
    const std::string& text = kernel.strings[i];
    absl::StrAppend(out, ".global .align 1 .b8 ", kernel.name, "_string_", i, "[", text.size() + 1,
                    "] = {");
    for (char c : text) absl::StrAppend(out, static_cast<int>(static_cast<unsigned char>(c)), ", ");
    out->append("0};\n");
  }
}

absl::StatusOr<std::string> PrintKernels(absl::Span<const Kernel> kernels, const Target& target) {
  int version = target.min_ptx;
  bool shared = false, prints = false;
  for (const Kernel& kernel : kernels) {
    TILUS_RETURN_IF_ERROR(CheckTarget(kernel, target));
    version = std::max(version, RequiredPtxVersion(kernel, target));
    shared |= HasDynamicShared(kernel);
    prints |= !kernel.strings.empty();
  }
  std::string out = absl::StrCat(".version ", version / 10, ".", version % 10, "\n.target ",
                                 target.name, "\n.address_size 64\n");
  if (shared) absl::StrAppend(&out, "\n.extern .shared .align 1024 .b8 ", kSharedName, "[];\n");
  if (prints) {
    out.append(
        "\n.extern .func (.param .b32 printed) vprintf "
        "(.param .b64 format, .param .b64 values);\n");
  }
  for (const Kernel& kernel : kernels) AppendStrings(kernel, &out);
  for (const Kernel& kernel : kernels) EntryPrinter(kernel, target, &out).Run();
  return out;
}

}  // namespace

absl::StatusOr<std::string> PrintPtx(const machine::Kernel& kernel, const Target& target) {
  return PrintKernels(absl::MakeConstSpan(&kernel, 1), target);
}

absl::StatusOr<std::string> PrintPtx(const machine::Module& module, const Target& target) {
  return PrintKernels(module.kernels, target);
}

}  // namespace tilus::ptx

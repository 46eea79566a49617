// Printing. Canonical form: two spaces of indentation, spaces around infix operators, parentheses
// only where precedence asks for them, attributes in the order of their bits.
#include "ir/printer.h"

#include <charconv>
#include <cmath>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "ir/text.h"
#include "types/codec.h"

namespace tilus::ir {
namespace {

constexpr size_t kLineWidth = 100;
constexpr int kAtomPrecedence = 100;

std::string WithPoint(std::string text) {
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// The shortest spelling of a float that reads back as the same value.
std::string FloatText(DataType type, uint64_t code) {
  const double value = DecodeToDouble(type, code);
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  char* const limit = buffer + sizeof(buffer);
  for (int digits = 1; type != kF64 && digits <= 9; ++digits) {
    char* const end = std::to_chars(buffer, limit, value, std::chars_format::general, digits).ptr;
    double read = 0;
    std::from_chars(buffer, end, read);
    if (EncodeFromDouble(type, read) == code) return WithPoint(std::string(buffer, end));
  }
  return WithPoint(std::string(buffer, std::to_chars(buffer, limit, value).ptr));
}

std::string LiteralText(const Expr& e) {
  if (e.type.is_bool()) return e.code != 0 ? "true" : "false";
  if (e.type.is_float()) return FloatText(e.type, e.code);
  const int64_t value = DecodeToInt64(e.type, e.code);
  return e.type == kU64 ? absl::StrCat(static_cast<uint64_t>(value)) : absl::StrCat(value);
}

bool FitsI32(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

// The type that a bare literal of this text gets from the parser.
DataType DefaultType(const Expr& literal) {
  if (literal.type.is_bool()) return kBool;
  if (literal.type.is_float()) return kF32;
  const int64_t value = DecodeToInt64(literal.type, literal.code);
  if (literal.type == kU64 && value < 0) return kU64;
  return FitsI32(value) ? kI32 : kI64;
}

int PrecedenceOf(const Expr& e) {
  if (e.kind != ExprKind::kOp || InfoOf(e.op).form == ExprForm::kCall) return kAtomPrecedence;
  return InfoOf(e.op).precedence;
}

bool IsLiteral(const ExprPtr& e) { return e->kind == ExprKind::kLiteral; }

const char* CacheName(CacheHint hint) { return AllCacheHints()[static_cast<size_t>(hint)]; }

class Printer {
 public:
  explicit Printer(const Program& program) : p_(program) {}
  std::string Take() { return std::move(out_); }

  // How a literal may be spelled: with its type where the reader cannot tell it, or bare.
  enum class Literals { kTyped, kBare };

  void PrintExpr(const Expr& e, Literals literals) {
    switch (e.kind) {
      case ExprKind::kLiteral:
        return PrintLiteral(e, literals);
      case ExprKind::kVar:
        out_ += p_.vars[static_cast<size_t>(e.var)].name;
        return;
      case ExprKind::kIndex:
        absl::StrAppend(&out_, "#", e.index);
        return;
      case ExprKind::kCast:
        absl::StrAppend(&out_, e.type.name(), "(");
        PrintExpr(*e.args[0], Literals::kTyped);
        out_ += ')';
        return;
      case ExprKind::kOp:
        return PrintOp(e);
    }
  }

  void PrintProgram() {
    PrintHead();
    PrintConsts();
    if (!p_.grid.empty()) {
      out_ += "  grid ";
      PrintList(p_.grid);
      out_ += '\n';
    }
    for (const LayoutAlias& alias : p_.layouts) {
      absl::StrAppend(&out_, "  let ", alias.name, " = ", alias.expression.ToString(), "\n");
    }
    PrintBlock(p_.body, 1);
    out_ += "}\n";
  }

  void PrintInstruction(const Instruction& in) {
    const InstructionInfo& info = InfoOf(in.opcode);
    PrintResults(in);
    out_ += info.name;
    PrintOperands(in, info);
    if (!AttributesFollowSource(info)) PrintAttributes(in);
    PrintAnnotation(in);
  }

  void PrintHeadOf(const Stmt& stmt) { std::visit(HeadVisitor{this}, stmt.node); }

  void PrintTensorType(const Tensor& t) {
    out_ += t.dtype.name();
    PrintShape(t.shape);
    if (t.layout) {
      const std::optional<LayoutSpec>& spec = t.decl.layout;
      const bool named = spec && !spec->alias.empty() && spec->layout == *t.layout;
      absl::StrAppend(&out_, " ", named ? spec->alias : t.layout->ToString());
    }
    if (t.decl.shared_layout) PrintSharedLayout(*t.decl.shared_layout);
  }

 private:
  struct HeadVisitor {
    Printer* self;
    void operator()(const Instruction& in) { self->PrintInstruction(in); }
    void operator()(const ForStmt& loop) { self->PrintForHead(loop); }
    void operator()(const IfStmt& branch) {
      self->out_ += "if ";
      self->PrintExpr(*branch.condition, Literals::kTyped);
      self->out_ += " {";
    }
    void operator()(const WhileStmt& loop) {
      self->out_ += "while ";
      self->PrintExpr(*loop.condition, Literals::kTyped);
      self->out_ += " {";
    }
    void operator()(const DefineStmt& def) { self->PrintDefine(def); }
    void operator()(const AssignStmt& set) {
      absl::StrAppend(&self->out_, "set ", self->VarName(set.var), " = ");
      self->PrintExpr(*set.value, Literals::kBare);
    }
    void operator()(const BreakStmt&) { self->out_ += "break"; }
    void operator()(const ContinueStmt&) { self->out_ += "continue"; }
  };

  const std::string& VarName(VarId id) const { return p_.vars[static_cast<size_t>(id)].name; }
  const Tensor& TensorAt(TensorId id) const { return p_.tensors[static_cast<size_t>(id)]; }

  void PrintLiteral(const Expr& e, Literals literals) {
    if (literals == Literals::kBare || DefaultType(e) == e.type) {
      out_ += LiteralText(e);
    } else {
      absl::StrAppend(&out_, e.type.name(), "(", LiteralText(e), ")");
    }
  }

  // The arguments whose types the operation unifies: a literal among them may be bare where another
  // of them fixes the type.
  Literals LiteralsOf(const Expr& op) const {
    const size_t first = op.op == ExprOp::kSelect ? 1 : 0;
    for (size_t i = first; i < op.args.size(); ++i) {
      if (!IsLiteral(op.args[i])) return Literals::kBare;
    }
    return Literals::kTyped;
  }

  void PrintOp(const Expr& e) {
    const ExprOpInfo& info = InfoOf(e.op);
    const Literals literals = LiteralsOf(e);
    switch (info.form) {
      case ExprForm::kCall:
        absl::StrAppend(&out_, info.spelling, "(");
        for (size_t i = 0; i < e.args.size(); ++i) {
          if (i > 0) out_ += ", ";
          PrintExpr(*e.args[i], literals);
        }
        out_ += ')';
        return;
      case ExprForm::kPrefix: {
        out_ += info.spelling;
        if (info.spelling[0] != '-') out_ += ' ';
        // "-3" would read as a literal, and "--x" is hard to read.
        const bool minus_literal = e.op == ExprOp::kNeg && IsLiteral(e.args[0]);
        PrintWrapped(*e.args[0], minus_literal ? kAtomPrecedence + 1 : kAtomPrecedence, literals);
        return;
      }
      case ExprForm::kInfix:
        PrintWrapped(*e.args[0], info.precedence, literals);
        absl::StrAppend(&out_, " ", info.spelling, " ");
        PrintWrapped(*e.args[1], info.precedence + 1, literals);
        return;
    }
  }

  // In parentheses when the expression binds less tightly than `least`.
  void PrintWrapped(const Expr& e, int least, Literals literals) {
    const bool wrap = PrecedenceOf(e) < least;
    if (wrap) out_ += '(';
    PrintExpr(e, literals);
    if (wrap) out_ += ')';
  }

  void PrintList(const std::vector<ExprPtr>& list) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (i > 0) out_ += ", ";
      PrintExpr(*list[i], Literals::kTyped);
    }
  }

  void PrintShape(const std::vector<ExprPtr>& shape) {
    out_ += '[';
    PrintList(shape);
    out_ += ']';
  }

  template <typename Int>
  void PrintInts(const std::vector<Int>& values) {
    for (size_t i = 0; i < values.size(); ++i) absl::StrAppend(&out_, i > 0 ? ", " : "", values[i]);
  }

  // Appends items separated by commas; a line that would grow too long ends after a comma. `after`
  // columns are kept free behind the last item.
  void PrintWrappedItems(const std::vector<std::string>& items, size_t indent, size_t after) {
    size_t start = out_.rfind('\n') + 1;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) {
        out_ += ',';
        const size_t behind = i + 1 == items.size() ? after : 1;
        if (out_.size() - start + 1 + items[i].size() + behind > kLineWidth) {
          out_ += '\n';
          start = out_.size();
          out_.append(indent, ' ');
        } else {
          out_ += ' ';
        }
      }
      out_ += items[i];
    }
  }

  void PrintHead() {
    absl::StrAppend(&out_, "program ", p_.name, "(");
    std::vector<std::string> params;
    for (VarId id : p_.params) {
      const Var& v = p_.vars[static_cast<size_t>(id)];
      std::string text = absl::StrCat(v.name, ": ", v.is_pointer ? "*" : "", v.type.name());
      if (v.align != 0) absl::StrAppend(&text, " align(", v.align, ")");
      if (v.divisible != 1) absl::StrAppend(&text, " div(", v.divisible, ")");
      params.push_back(std::move(text));
    }
    std::string options = absl::StrCat(") warps ", p_.warps);
    if (!p_.target.empty()) absl::StrAppend(&options, " target ", p_.target);
    if (p_.contract) options += " contract";
    if (p_.fast) options += " fast";
    options += " {";
    PrintWrappedItems(params, 8, options.size());
    absl::StrAppend(&out_, options, "\n");
  }

  void PrintConsts() {
    if (p_.consts.empty()) return;
    std::vector<std::string> items;
    for (VarId id : p_.consts) {
      const Var& v = p_.vars[static_cast<size_t>(id)];
      Printer value(p_);
      if (v.value != nullptr) value.PrintExpr(*v.value, Literals::kTyped);
      items.push_back(absl::StrCat(v.name, " = ", value.Take()));
    }
    out_ += "  const ";
    PrintWrappedItems(items, 8, 0);
    out_ += '\n';
  }

  void PrintBlock(const Block& block, int depth) {
    for (const Stmt& stmt : block.stmts) {
      out_.append(static_cast<size_t>(2 * depth), ' ');
      PrintStmt(stmt, depth);
      out_ += '\n';
    }
  }

  void PrintStmt(const Stmt& stmt, int depth) {
    PrintHeadOf(stmt);
    if (const ForStmt* loop = std::get_if<ForStmt>(&stmt.node)) {
      PrintBody(loop->body, depth);
    } else if (const WhileStmt* loop = std::get_if<WhileStmt>(&stmt.node)) {
      PrintBody(loop->body, depth);
    } else if (const IfStmt* branch = std::get_if<IfStmt>(&stmt.node)) {
      PrintBody(branch->then_body, depth);
      PrintElse(branch->else_body, depth);
    }
  }

  void PrintBody(const Block& block, int depth) {
    out_ += '\n';
    PrintBlock(block, depth + 1);
    out_.append(static_cast<size_t>(2 * depth), ' ');
    out_ += '}';
  }

  void PrintElse(const Block& block, int depth) {
    if (block.stmts.empty()) return;
    if (block.stmts.size() == 1 && std::holds_alternative<IfStmt>(block.stmts[0].node)) {
      out_ += " else ";
      PrintStmt(block.stmts[0], depth);
      return;
    }
    out_ += " else {";
    PrintBody(block, depth);
  }

  void PrintForHead(const ForStmt& loop) {
    const bool fixed = !IsLiteral(loop.begin) || !IsLiteral(loop.end) || !IsLiteral(loop.step);
    const Literals literals = fixed ? Literals::kBare : Literals::kTyped;
    absl::StrAppend(&out_, "for ", VarName(loop.var), " in ");
    PrintExpr(*loop.begin, literals);
    out_ += " .. ";
    PrintExpr(*loop.end, literals);
    if (LiteralInt(*loop.step) != 1) {
      out_ += " step ";
      PrintExpr(*loop.step, literals);
    }
    if (loop.unroll == kUnrollFull) {
      out_ += " unroll";
    } else if (loop.unroll != 1) {
      absl::StrAppend(&out_, " unroll ", loop.unroll);
    }
    out_ += " {";
  }

  void PrintDefine(const DefineStmt& def) {
    const Var& v = p_.vars[static_cast<size_t>(def.var)];
    if (v.kind == VarKind::kMutable) {
      absl::StrAppend(&out_, "var ", v.name, ": ", v.type.name(), " = ");
      PrintExpr(*def.value, Literals::kBare);
    } else {
      absl::StrAppend(&out_, "let ", v.name, " = ");
      PrintExpr(*def.value, Literals::kTyped);
    }
  }

  void PrintResults(const Instruction& in) {
    for (size_t i = 0; i < in.index_results.size(); ++i) {
      absl::StrAppend(&out_, i > 0 ? ", " : "", VarName(in.index_results[i]));
    }
    if (in.result != kNoTensor) out_ += TensorAt(in.result).name;
    if (in.result != kNoTensor || !in.index_results.empty()) out_ += " = ";
  }

  // In a copy between memories the attributes are about the source.
  static bool AttributesFollowSource(const InstructionInfo& info) {
    return absl::string_view(info.operands) == "g>s";
  }

  void PrintOperands(const Instruction& in, const InstructionInfo& info) {
    const absl::string_view letters = info.operands;
    const bool has_destination = letters.find('>') != absl::string_view::npos;
    for (size_t i = 0; i < in.operands.size(); ++i) {
      const bool last = i + 1 == in.operands.size();
      if (has_destination && last && AttributesFollowSource(info)) PrintAttributes(in);
      out_ += i == 0 ? " " : has_destination && last ? " -> " : ", ";
      PrintOperand(in, info, in.operands[i]);
    }
  }

  void PrintOperand(const Instruction& in, const InstructionInfo& info, const Operand& operand) {
    if (const ExprPtr& scalar = ScalarOf(operand)) {
      // An elementwise operand takes its type from the tensors, an initialiser from the annotation.
      const bool typed_elsewhere = (info.traits & kElementwise) != 0 ||
                                   (in.opcode == Opcode::kRegister && in.result != kNoTensor &&
                                    (in.in_place || TensorAt(in.result).decl.dtype.has_value()));
      PrintExpr(*scalar, typed_elsewhere ? Literals::kBare : Literals::kTyped);
      return;
    }
    const TensorOperand& tensor = std::get<TensorOperand>(operand);
    if (tensor.tensor != kNoTensor) out_ += TensorAt(tensor.tensor).name;
    if (tensor.has_offsets) PrintShape(tensor.offsets);
  }

  void PrintAttributes(const Instruction& in) {
    if (in.result != kNoTensor && !in.in_place) {
      const TensorDecl& decl = TensorAt(in.result).decl;
      if (!decl.strides.empty()) {
        out_ += " strides=";
        PrintShape(decl.strides);
      }
      if (decl.clean) out_ += " clean";
    }
    if (in.dims) {
      out_ += " dims=[";
      PrintInts(*in.dims);
      out_ += ']';
    }
    if (in.cache != CacheHint::kDefault) absl::StrAppend(&out_, " cache=", CacheName(in.cache));
    if (in.bits) absl::StrAppend(&out_, " bits=", *in.bits);
    if (!in.label.empty()) {
      absl::StrAppend(&out_, " label=\"", absl::Utf8SafeCEscape(in.label), "\"");
    }
  }

  void PrintAnnotation(const Instruction& in) {
    if (in.result != kNoTensor && !in.in_place) {
      PrintDecl(TensorAt(in.result).decl);
    } else if (in.tile_dtype || !in.tile_shape.empty()) {
      absl::StrAppend(&out_, " : ", in.tile_dtype ? in.tile_dtype->name() : "");
      if (!in.tile_shape.empty()) PrintShape(in.tile_shape);
    }
  }

  void PrintDecl(const TensorDecl& decl) {
    if (!decl.dtype && !decl.shape && !decl.layout && !decl.shared_layout) return;
    out_ += " :";
    if (decl.dtype || decl.shape) out_ += ' ';
    if (decl.dtype) out_ += decl.dtype->name();
    if (decl.shape) PrintShape(*decl.shape);
    if (decl.layout) {
      const LayoutSpec& spec = *decl.layout;
      absl::StrAppend(&out_, " ", spec.alias.empty() ? spec.expression.ToString() : spec.alias);
    }
    if (decl.shared_layout) PrintSharedLayout(*decl.shared_layout);
  }

  void PrintSharedLayout(const SharedLayoutSpec& spec) {
    if (!spec.strides.empty()) {
      out_ += " strides(";
      PrintInts(spec.strides);
      out_ += ')';
    }
    if (spec.swizzle) absl::StrAppend(&out_, " ", spec.swizzle->ToString());
  }

  const Program& p_;
  std::string out_;
};

}  // namespace

absl::Span<const char* const> AllCacheHints() {
  static constexpr const char* kNames[] = {"default", "streaming", "last_use", "no_l1"};
  return kNames;
}

std::string PrintText(const Program& program) {
  Printer printer(program);
  printer.PrintProgram();
  return printer.Take();
}

std::string PrintText(const Module& module) {
  std::string out;
  for (const Program& program : module.programs) {
    if (!out.empty()) out += '\n';
    out += PrintText(program);
  }
  return out;
}

std::string PrintInstruction(const Program& program, const Instruction& instruction) {
  Printer printer(program);
  printer.PrintInstruction(instruction);
  return printer.Take();
}

std::string PrintStatementHead(const Program& program, const Stmt& stmt) {
  Printer printer(program);
  printer.PrintHeadOf(stmt);
  return printer.Take();
}

std::string PrintExpr(const Program& program, const Expr& expr) {
  Printer printer(program);
  printer.PrintExpr(expr, Printer::Literals::kTyped);
  return printer.Take();
}

std::string PrintTensorType(const Program& program, const Tensor& tensor) {
  Printer printer(program);
  printer.PrintTensorType(tensor);
  return printer.Take();
}

}  // namespace tilus::ir

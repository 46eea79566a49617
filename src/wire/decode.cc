#include <utility>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "tilus/v1/program.pb.h"
#include "wire/layout_wire.h"
#include "wire/names.h"
#include "wire/scan.h"
#include "wire/serialize.h"
#include "wire/wire.h"

namespace tilus::wire {
namespace {

absl::Status Missing(absl::string_view what) {
  return MakeError(DiagId::kWireMissing, absl::StrCat(what, " is missing"),
                   "every part that the schema does not call optional must be set");
}

absl::Status BadReference(absl::string_view what, int64_t id, int64_t count) {
  return MakeError(DiagId::kWireReference,
                   absl::StrCat(what, " ", id, " does not exist: the program has ", count),
                   "references are positions in the program's own lists");
}

absl::StatusOr<DataType> DecodeType(const std::string& name) {
  if (name.empty()) return Missing("a data type");
  return ParseDataType(name);
}

// Names end up in text and in PTX: an identifier of bounded length.
absl::Status CheckName(const std::string& name, absl::string_view what) {
  constexpr size_t kMaxName = 256;
  bool ok = !name.empty() && name.size() <= kMaxName && !(name[0] >= '0' && name[0] <= '9');
  for (char c : name) {
    ok = ok && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                c == '_');
  }
  if (ok) return absl::OkStatus();
  return MakeError(DiagId::kWireValue, absl::StrCat("the name of ", what, " is not an identifier"),
                   "use letters, digits and _, not a digit first, at most 256 characters");
}

class ProgramDecoder {
 public:
  explicit ProgramDecoder(const v1::Program& wire) : wire_(wire) {}

  absl::StatusOr<ir::Program> Decode() {
    TILUS_RETURN_IF_ERROR(Head());
    TILUS_RETURN_IF_ERROR(DecodeList(wire_.vars(), "vars", &ProgramDecoder::DecodeVar));
    TILUS_RETURN_IF_ERROR(DecodeList(wire_.layouts(), "layouts", &ProgramDecoder::DecodeAlias));
    TILUS_ASSIGN_OR_RETURN(program_.grid, DecodeExprs(wire_.grid()));
    TILUS_RETURN_IF_ERROR(DecodeList(wire_.tensors(), "tensors", &ProgramDecoder::DecodeTensor));
    TILUS_ASSIGN_OR_RETURN(program_.body, DecodeBlock(wire_.body(), "body"));
    return std::move(program_);
  }

 private:
  absl::Status Head() {
    TILUS_RETURN_IF_ERROR(CheckName(wire_.name(), "the program"));
    if (wire_.warps() > 1024) {
      return MakeError(DiagId::kWireValue, absl::StrCat(wire_.warps(), " warps"), "use 1 to 32");
    }
    program_.name = wire_.name();
    program_.warps = static_cast<int>(wire_.warps());
    program_.target = wire_.target();
    if (!program_.target.empty()) TILUS_RETURN_IF_ERROR(CheckName(program_.target, "the target"));
    program_.contract = wire_.contract();
    program_.fast = wire_.fast();
    return absl::OkStatus();
  }

  template <typename List, typename Item>
  absl::Status DecodeList(const List& list, absl::string_view what,
                          absl::Status (ProgramDecoder::*decode)(const Item&)) {
    for (int i = 0; i < list.size(); ++i) {
      if (absl::Status status = (this->*decode)(list[i]); !status.ok()) {
        return PrefixPath(status, absl::StrCat(what, "[", i, "]"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status DecodeVar(const v1::Var& wire) {
    ir::Var var;
    var.name = wire.name();
    TILUS_RETURN_IF_ERROR(CheckName(var.name, "a variable"));
    const auto kind = FromWire(kVarKinds, wire.kind());
    if (!kind) return Missing("the kind of a variable");
    var.kind = *kind;
    TILUS_ASSIGN_OR_RETURN(var.type, DecodeType(wire.type()));
    var.is_pointer = wire.pointer();
    var.align = wire.align();
    var.divisible = wire.has_divisible() ? wire.divisible() : 1;
    if (var.divisible < 1) {
      return MakeError(DiagId::kWireValue, absl::StrCat("divisible is ", var.divisible),
                       "a promised divisor is at least 1");
    }
    if (var.is_pointer && var.kind != ir::VarKind::kParam) {
      return MakeError(DiagId::kWireValue, absl::StrCat(var.name, " is a pointer, not a parameter"),
                       "only parameters are pointers");
    }
    if (wire.has_value() != (var.kind == ir::VarKind::kConst)) {
      return MakeError(DiagId::kWireValue, absl::StrCat("the value of variable ", var.name),
                       "constants have a value here, other variables get theirs in the body");
    }
    if (wire.has_value()) {
      TILUS_ASSIGN_OR_RETURN(var.value, DecodeExpr(wire.value()));
    }
    const ir::VarId id = static_cast<ir::VarId>(program_.vars.size());
    if (var.kind == ir::VarKind::kParam) program_.params.push_back(id);
    if (var.kind == ir::VarKind::kConst) program_.consts.push_back(id);
    program_.vars.push_back(std::move(var));
    return absl::OkStatus();
  }

  absl::Status DecodeAlias(const v1::LayoutAlias& wire) {
    ir::LayoutAlias alias;
    alias.name = wire.name();
    TILUS_RETURN_IF_ERROR(CheckName(alias.name, "a layout"));
    TILUS_ASSIGN_OR_RETURN(alias.expression, LayoutFromWire(wire.layout()));
    TILUS_ASSIGN_OR_RETURN(alias.layout, alias.expression.Evaluate());
    program_.layouts.push_back(std::move(alias));
    return absl::OkStatus();
  }

  absl::StatusOr<ir::LayoutSpec> DecodeLayoutSpec(const v1::Layout& wire) {
    ir::LayoutSpec spec;
    if (wire.form_case() == v1::Layout::kName) {
      for (const ir::LayoutAlias& alias : program_.layouts) {
        if (alias.name != wire.name()) continue;
        spec.alias = alias.name;
        spec.layout = alias.layout;
        return spec;
      }
      return MakeError(DiagId::kWireReference, absl::StrCat("no layout is named ", wire.name()),
                       "define it in the program's `layouts`");
    }
    TILUS_ASSIGN_OR_RETURN(spec.expression, LayoutFromWire(wire));
    TILUS_ASSIGN_OR_RETURN(spec.layout, spec.expression.Evaluate());
    return spec;
  }

  // A variable may be used in an expression only when it stands before the one being decoded, so
  // constants cannot refer to each other in a circle.
  absl::StatusOr<ir::ExprPtr> DecodeExpr(const v1::Expr& wire) {
    switch (wire.kind_case()) {
      case v1::Expr::kLiteral: {
        TILUS_ASSIGN_OR_RETURN(const DataType type, DecodeType(wire.literal().type()));
        const uint64_t code = wire.literal().code();
        if (type.bits() < 64 && (code >> type.bits()) != 0) {
          return MakeError(DiagId::kWireValue,
                           absl::StrCat("the literal code ", code, " does not fit ", type.name()),
                           "a literal is the value's bits, zero-extended");
        }
        return ir::Literal(type, code);
      }
      case v1::Expr::kVar: {
        TILUS_RETURN_IF_ERROR(CheckVar(wire.var()));
        const ir::VarId id = static_cast<ir::VarId>(wire.var());
        const ir::Var& var = program_.vars[static_cast<size_t>(id)];
        return var.is_pointer ? ir::PointerRef(id, var.type) : ir::VarRef(id, var.type);
      }
      case v1::Expr::kIndex:
        if (wire.index() > 63) return BadReference("dimension", wire.index(), 64);
        return ir::IndexRef(static_cast<int>(wire.index()));
      case v1::Expr::kCast: {
        TILUS_ASSIGN_OR_RETURN(const DataType type, DecodeType(wire.cast().type()));
        TILUS_ASSIGN_OR_RETURN(ir::ExprPtr arg, DecodeExpr(wire.cast().arg()));
        return ir::MakeCast(type, std::move(arg));
      }
      case v1::Expr::kOperation: {
        TILUS_ASSIGN_OR_RETURN(std::vector<ir::ExprPtr> args, DecodeExprs(wire.operation().args()));
        for (const ir::ExprOpInfo& info : ir::AllExprOps()) {
          if (info.wire == wire.operation().op()) return ir::MakeOp(info.op, std::move(args));
        }
        return Missing("the operator of an expression");
      }
      case v1::Expr::KIND_NOT_SET:
        break;
    }
    return Missing("an expression");
  }

  template <typename List>
  absl::StatusOr<std::vector<ir::ExprPtr>> DecodeExprs(const List& list) {
    std::vector<ir::ExprPtr> exprs;
    exprs.reserve(static_cast<size_t>(list.size()));
    for (const v1::Expr& wire : list) {
      TILUS_ASSIGN_OR_RETURN(ir::ExprPtr e, DecodeExpr(wire));
      exprs.push_back(std::move(e));
    }
    return exprs;
  }

  absl::Status CheckVar(uint32_t id) const {
    if (id < program_.vars.size()) return absl::OkStatus();
    return BadReference("variable", id, static_cast<int64_t>(program_.vars.size()));
  }

  absl::StatusOr<ir::TensorId> DecodeTensorId(uint32_t id) const {
    if (id < program_.tensors.size()) return static_cast<ir::TensorId>(id);
    return BadReference("tensor", id, static_cast<int64_t>(program_.tensors.size()));
  }

  absl::Status DecodeTensor(const v1::Tensor& wire) {
    ir::Tensor tensor;
    tensor.name = wire.name();
    TILUS_RETURN_IF_ERROR(CheckName(tensor.name, "a tensor"));
    const auto scope = FromWire(kScopes, wire.scope());
    if (!scope) return Missing("the scope of a tensor");
    tensor.scope = *scope;
    ir::TensorDecl& decl = tensor.decl;
    if (wire.has_dtype()) {
      TILUS_ASSIGN_OR_RETURN(decl.dtype, DecodeType(wire.dtype()));
    }
    if (wire.has_shape()) {
      TILUS_ASSIGN_OR_RETURN(decl.shape, DecodeExprs(wire.shape().extents()));
    }
    if (wire.has_layout()) {
      TILUS_ASSIGN_OR_RETURN(decl.layout, DecodeLayoutSpec(wire.layout()));
    }
    if (wire.has_shared_layout()) {
      ir::SharedLayoutSpec& spec = decl.shared_layout.emplace();
      const v1::SharedLayout& shared = wire.shared_layout();
      spec.strides.assign(shared.strides().begin(), shared.strides().end());
      if (shared.has_swizzle()) {
        Swizzle& swizzle = spec.swizzle.emplace();
        swizzle.bits = shared.swizzle().bits();
        swizzle.base = shared.swizzle().base();
        swizzle.shift = shared.swizzle().shift();
      }
    }
    TILUS_ASSIGN_OR_RETURN(decl.strides, DecodeExprs(wire.strides()));
    decl.clean = wire.clean();
    program_.tensors.push_back(std::move(tensor));
    return absl::OkStatus();
  }

  absl::StatusOr<ir::Operand> DecodeOperand(const v1::Operand& wire) {
    ir::TensorOperand tensor;
    switch (wire.kind_case()) {
      case v1::Operand::kTensor: {
        TILUS_ASSIGN_OR_RETURN(tensor.tensor, DecodeTensorId(wire.tensor()));
        return ir::Operand(std::move(tensor));
      }
      case v1::Operand::kTile: {
        TILUS_ASSIGN_OR_RETURN(tensor.tensor, DecodeTensorId(wire.tile().tensor()));
        TILUS_ASSIGN_OR_RETURN(tensor.offsets, DecodeExprs(wire.tile().offsets()));
        tensor.has_offsets = true;
        return ir::Operand(std::move(tensor));
      }
      case v1::Operand::kScalar: {
        TILUS_ASSIGN_OR_RETURN(ir::ExprPtr e, DecodeExpr(wire.scalar()));
        return ir::Operand(std::move(e));
      }
      case v1::Operand::KIND_NOT_SET:
        break;
    }
    return Missing("an operand");
  }

  absl::StatusOr<ir::Instruction> DecodeInstruction(const v1::Instruction& wire) {
    ir::Instruction out;
    const ir::InstructionInfo* info = ir::FindInstructionByWire(wire.opcode());
    if (info == nullptr) return Missing("the opcode of an instruction");
    out.opcode = info->opcode;
    for (const v1::Operand& operand : wire.operands()) {
      TILUS_ASSIGN_OR_RETURN(ir::Operand decoded, DecodeOperand(operand));
      out.operands.push_back(std::move(decoded));
    }
    if (wire.has_result()) {
      TILUS_ASSIGN_OR_RETURN(out.result, DecodeTensorId(wire.result()));
    }
    for (uint32_t var : wire.index_results()) {
      TILUS_RETURN_IF_ERROR(CheckVar(var));
      out.index_results.push_back(static_cast<ir::VarId>(var));
    }
    out.in_place = wire.in_place();
    if (wire.has_dims()) {
      out.dims.emplace(wire.dims().dims().begin(), wire.dims().dims().end());
    }
    if (wire.has_cache()) out.cache = *FromWire(kCacheHints, wire.cache());
    if (wire.has_tile_dtype()) {
      TILUS_ASSIGN_OR_RETURN(out.tile_dtype, DecodeType(wire.tile_dtype()));
    }
    if (wire.has_tile_shape()) {
      TILUS_ASSIGN_OR_RETURN(out.tile_shape, DecodeExprs(wire.tile_shape().extents()));
    }
    if (wire.has_bits()) out.bits = wire.bits();
    out.label = wire.label();
    return out;
  }

  absl::StatusOr<ir::ForStmt> DecodeFor(const v1::For& wire) {
    ir::ForStmt loop;
    if (!wire.has_var()) return Missing("the variable of a loop");
    TILUS_RETURN_IF_ERROR(CheckVar(wire.var()));
    loop.var = static_cast<ir::VarId>(wire.var());
    TILUS_ASSIGN_OR_RETURN(loop.begin, DecodeExpr(wire.begin()));
    TILUS_ASSIGN_OR_RETURN(loop.end, DecodeExpr(wire.end()));
    if (wire.has_step()) {
      TILUS_ASSIGN_OR_RETURN(loop.step, DecodeExpr(wire.step()));
    } else {
      loop.step = ir::IntLiteral(1, program_.vars[static_cast<size_t>(loop.var)].type);
    }
    if (wire.has_unroll()) loop.unroll = wire.unroll();
    TILUS_ASSIGN_OR_RETURN(loop.body, DecodeBlock(wire.body(), "for.body"));
    return loop;
  }

  absl::StatusOr<ir::IfStmt> DecodeIf(const v1::If& wire) {
    ir::IfStmt branch;
    TILUS_ASSIGN_OR_RETURN(branch.condition, DecodeExpr(wire.condition()));
    TILUS_ASSIGN_OR_RETURN(branch.then_body, DecodeBlock(wire.then_body(), "if.then"));
    TILUS_ASSIGN_OR_RETURN(branch.else_body, DecodeBlock(wire.else_body(), "if.else"));
    return branch;
  }

  absl::StatusOr<ir::WhileStmt> DecodeWhile(const v1::While& wire) {
    ir::WhileStmt loop;
    TILUS_ASSIGN_OR_RETURN(loop.condition, DecodeExpr(wire.condition()));
    TILUS_ASSIGN_OR_RETURN(loop.body, DecodeBlock(wire.body(), "while.body"));
    return loop;
  }

  // Define and Assign have the same fields.
  template <typename Statement, typename Wire>
  absl::StatusOr<Statement> DecodeBinding(const Wire& wire) {
    Statement out;
    if (!wire.has_var()) return Missing("the variable of an assignment");
    TILUS_RETURN_IF_ERROR(CheckVar(wire.var()));
    out.var = static_cast<ir::VarId>(wire.var());
    TILUS_ASSIGN_OR_RETURN(out.value, DecodeExpr(wire.value()));
    return out;
  }

  absl::StatusOr<ir::Stmt> DecodeStatement(const v1::Statement& wire) {
    ir::Stmt stmt;
    switch (wire.kind_case()) {
      case v1::Statement::kInstruction: {
        TILUS_ASSIGN_OR_RETURN(stmt.node, DecodeInstruction(wire.instruction()));
        return stmt;
      }
      case v1::Statement::kForLoop: {
        TILUS_ASSIGN_OR_RETURN(stmt.node, DecodeFor(wire.for_loop()));
        return stmt;
      }
      case v1::Statement::kIfElse: {
        TILUS_ASSIGN_OR_RETURN(stmt.node, DecodeIf(wire.if_else()));
        return stmt;
      }
      case v1::Statement::kWhileLoop: {
        TILUS_ASSIGN_OR_RETURN(stmt.node, DecodeWhile(wire.while_loop()));
        return stmt;
      }
      case v1::Statement::kDefine: {
        TILUS_ASSIGN_OR_RETURN(stmt.node, DecodeBinding<ir::DefineStmt>(wire.define()));
        return stmt;
      }
      case v1::Statement::kAssign: {
        TILUS_ASSIGN_OR_RETURN(stmt.node, DecodeBinding<ir::AssignStmt>(wire.assign()));
        return stmt;
      }
      case v1::Statement::kBreakLoop:
        stmt.node = ir::BreakStmt{};
        return stmt;
      case v1::Statement::kContinueLoop:
        stmt.node = ir::ContinueStmt{};
        return stmt;
      case v1::Statement::KIND_NOT_SET:
        break;
    }
    return Missing("a statement");
  }

  absl::StatusOr<ir::Block> DecodeBlock(const v1::Block& wire, absl::string_view path) {
    ir::Block block;
    block.stmts.reserve(static_cast<size_t>(wire.statements_size()));
    for (int i = 0; i < wire.statements_size(); ++i) {
      absl::StatusOr<ir::Stmt> stmt = DecodeStatement(wire.statements(i));
      if (!stmt.ok()) return PrefixPath(stmt.status(), absl::StrCat(path, "[", i, "]"));
      block.stmts.push_back(*std::move(stmt));
    }
    return block;
  }

  const v1::Program& wire_;
  ir::Program program_;
};

}  // namespace

absl::StatusOr<ir::Module> Decode(absl::string_view bytes, const ir::Limits& limits) {
  TILUS_RETURN_IF_ERROR(Scan(bytes, MessageId::kModule, limits));
  v1::Module wire;
  TILUS_RETURN_IF_ERROR(ParseMessage(bytes, &wire));
  if (wire.programs_size() == 0) return Missing("a program");
  ir::Module module;
  for (int i = 0; i < wire.programs_size(); ++i) {
    absl::StatusOr<ir::Program> program = ProgramDecoder(wire.programs(i)).Decode();
    if (!program.ok()) {
      const std::string& name = wire.programs(i).name();
      return PrefixPath(program.status(),
                        name.empty() ? absl::StrCat("programs[", i, "]") : name.substr(0, 256));
    }
    module.programs.push_back(*std::move(program));
  }
  return module;
}

bool LooksSerialized(absl::string_view bytes) {
  constexpr char kVersionTag = 0x08;  // field 1, varint
  return !bytes.empty() && bytes[0] == kVersionTag;
}

}  // namespace tilus::wire

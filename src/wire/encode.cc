#include <string>

#include "tilus/v1/program.pb.h"
#include "wire/layout_wire.h"
#include "wire/names.h"
#include "wire/serialize.h"
#include "wire/wire.h"

namespace tilus::wire {
namespace {

void EncodeExpr(const ir::Expr& e, v1::Expr* out) {
  switch (e.kind) {
    case ir::ExprKind::kLiteral:
      out->mutable_literal()->set_type(e.type.name());
      out->mutable_literal()->set_code(e.code);
      return;
    case ir::ExprKind::kVar:
      out->set_var(static_cast<uint32_t>(e.var));
      return;
    case ir::ExprKind::kIndex:
      out->set_index(static_cast<uint32_t>(e.index));
      return;
    case ir::ExprKind::kCast:
      out->mutable_cast()->set_type(e.type.name());
      EncodeExpr(*e.args[0], out->mutable_cast()->mutable_arg());
      return;
    case ir::ExprKind::kOp:
      out->mutable_operation()->set_op(static_cast<v1::Operation::Op>(ir::InfoOf(e.op).wire));
      for (const ir::ExprPtr& arg : e.args) EncodeExpr(*arg, out->mutable_operation()->add_args());
      return;
  }
}

void EncodeVar(const ir::Var& var, v1::Var* out) {
  out->set_name(var.name);
  out->set_kind(ToWire(kVarKinds, var.kind));
  out->set_type(var.type.name());
  if (var.is_pointer) out->set_pointer(true);
  if (var.align != 0) out->set_align(static_cast<uint32_t>(var.align));
  if (var.divisible != 1) out->set_divisible(var.divisible);
  if (var.kind == ir::VarKind::kConst) EncodeExpr(*var.value, out->mutable_value());
}

void EncodeSharedLayout(const ir::SharedLayoutSpec& spec, v1::SharedLayout* out) {
  for (int64_t stride : spec.strides) out->add_strides(stride);
  if (spec.swizzle) {
    out->mutable_swizzle()->set_bits(spec.swizzle->bits);
    out->mutable_swizzle()->set_base(spec.swizzle->base);
    out->mutable_swizzle()->set_shift(spec.swizzle->shift);
  }
}

void EncodeTensor(const ir::Tensor& tensor, v1::Tensor* out) {
  const ir::TensorDecl& decl = tensor.decl;
  out->set_name(tensor.name);
  out->set_scope(ToWire(kScopes, tensor.scope));
  if (decl.dtype) out->set_dtype(decl.dtype->name());
  if (decl.shape) {
    v1::Shape* shape = out->mutable_shape();
    for (const ir::ExprPtr& extent : *decl.shape) EncodeExpr(*extent, shape->add_extents());
  }
  if (decl.layout) {
    if (decl.layout->alias.empty()) {
      LayoutToWire(decl.layout->expression, out->mutable_layout());
    } else {
      out->mutable_layout()->set_name(decl.layout->alias);
    }
  }
  if (decl.shared_layout) EncodeSharedLayout(*decl.shared_layout, out->mutable_shared_layout());
  for (const ir::ExprPtr& stride : decl.strides) EncodeExpr(*stride, out->add_strides());
  if (decl.clean) out->set_clean(true);
}

void EncodeOperand(const ir::Operand& operand, v1::Operand* out) {
  if (const auto* scalar = std::get_if<ir::ExprPtr>(&operand)) {
    EncodeExpr(**scalar, out->mutable_scalar());
    return;
  }
  const auto& tensor = std::get<ir::TensorOperand>(operand);
  if (!tensor.has_offsets) {
    out->set_tensor(static_cast<uint32_t>(tensor.tensor));
    return;
  }
  v1::Tile* tile = out->mutable_tile();
  tile->set_tensor(static_cast<uint32_t>(tensor.tensor));
  for (const ir::ExprPtr& offset : tensor.offsets) EncodeExpr(*offset, tile->add_offsets());
}

void EncodeInstruction(const ir::Instruction& instruction, v1::Instruction* out) {
  out->set_opcode(static_cast<v1::Opcode>(ir::InfoOf(instruction.opcode).wire));
  for (const ir::Operand& operand : instruction.operands) {
    EncodeOperand(operand, out->add_operands());
  }
  if (instruction.result != ir::kNoTensor) out->set_result(static_cast<uint32_t>(instruction.result));
  for (ir::VarId var : instruction.index_results) {
    out->add_index_results(static_cast<uint32_t>(var));
  }
  if (instruction.in_place) out->set_in_place(true);
  if (instruction.dims) {
    v1::Dims* dims = out->mutable_dims();
    for (int dim : *instruction.dims) dims->add_dims(dim);
  }
  if (instruction.cache != ir::CacheHint::kDefault) {
    out->set_cache(ToWire(kCacheHints, instruction.cache));
  }
  if (instruction.tile_dtype) out->set_tile_dtype(instruction.tile_dtype->name());
  if (!instruction.tile_shape.empty()) {
    v1::Shape* shape = out->mutable_tile_shape();
    for (const ir::ExprPtr& extent : instruction.tile_shape) {
      EncodeExpr(*extent, shape->add_extents());
    }
  }
  if (instruction.bits) out->set_bits(*instruction.bits);
  if (!instruction.label.empty()) out->set_label(instruction.label);
}

void EncodeBlock(const ir::Block& block, v1::Block* out);

// One overload a statement.
void EncodeStatement(const ir::Instruction& s, v1::Statement* out) {
  EncodeInstruction(s, out->mutable_instruction());
}
void EncodeStatement(const ir::ForStmt& s, v1::Statement* out) {
  v1::For* loop = out->mutable_for_loop();
  loop->set_var(static_cast<uint32_t>(s.var));
  EncodeExpr(*s.begin, loop->mutable_begin());
  EncodeExpr(*s.end, loop->mutable_end());
  if (ir::LiteralInt(*s.step) != 1) EncodeExpr(*s.step, loop->mutable_step());
  if (s.unroll != 1) loop->set_unroll(s.unroll);
  EncodeBlock(s.body, loop->mutable_body());
}
void EncodeStatement(const ir::IfStmt& s, v1::Statement* out) {
  v1::If* branch = out->mutable_if_else();
  EncodeExpr(*s.condition, branch->mutable_condition());
  EncodeBlock(s.then_body, branch->mutable_then_body());
  if (!s.else_body.stmts.empty()) EncodeBlock(s.else_body, branch->mutable_else_body());
}
void EncodeStatement(const ir::WhileStmt& s, v1::Statement* out) {
  v1::While* loop = out->mutable_while_loop();
  EncodeExpr(*s.condition, loop->mutable_condition());
  EncodeBlock(s.body, loop->mutable_body());
}
void EncodeStatement(const ir::DefineStmt& s, v1::Statement* out) {
  out->mutable_define()->set_var(static_cast<uint32_t>(s.var));
  EncodeExpr(*s.value, out->mutable_define()->mutable_value());
}
void EncodeStatement(const ir::AssignStmt& s, v1::Statement* out) {
  out->mutable_assign()->set_var(static_cast<uint32_t>(s.var));
  EncodeExpr(*s.value, out->mutable_assign()->mutable_value());
}
void EncodeStatement(const ir::BreakStmt&, v1::Statement* out) { out->mutable_break_loop(); }
void EncodeStatement(const ir::ContinueStmt&, v1::Statement* out) { out->mutable_continue_loop(); }

void EncodeBlock(const ir::Block& block, v1::Block* out) {
  for (const ir::Stmt& stmt : block.stmts) {
    v1::Statement* statement = out->add_statements();
    std::visit([statement](const auto& s) { EncodeStatement(s, statement); }, stmt.node);
  }
}

void EncodeProgram(const ir::Program& program, v1::Program* out) {
  out->set_name(program.name);
  out->set_warps(static_cast<uint32_t>(program.warps));
  if (!program.target.empty()) out->set_target(program.target);
  if (program.contract) out->set_contract(true);
  if (program.fast) out->set_fast(true);
  for (const ir::Var& var : program.vars) EncodeVar(var, out->add_vars());
  for (const ir::LayoutAlias& alias : program.layouts) {
    v1::LayoutAlias* wire = out->add_layouts();
    wire->set_name(alias.name);
    LayoutToWire(alias.expression, wire->mutable_layout());
  }
  for (const ir::ExprPtr& extent : program.grid) EncodeExpr(*extent, out->add_grid());
  for (const ir::Tensor& tensor : program.tensors) EncodeTensor(tensor, out->add_tensors());
  EncodeBlock(program.body, out->mutable_body());
}

}  // namespace

std::string Encode(const ir::Module& module) {
  v1::Module wire;
  wire.set_version(kVersion);
  for (const ir::Program& program : module.programs) EncodeProgram(program, wire.add_programs());
  return SerializeMessage(wire);
}

}  // namespace tilus::wire

#include "ir/builder.h"

#include "absl/strings/str_cat.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "layout/layout_expression.h"

namespace tilus::ir {
namespace {

bool FitsI32(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

Instruction MakeInstruction(Opcode opcode, std::vector<Operand> operands = {}) {
  Instruction in;
  in.opcode = opcode;
  in.operands = std::move(operands);
  return in;
}

Operand RegisterOperand(TensorHandle tensor) { return TensorOperand{tensor.id, {}, false}; }

}  // namespace

Scalar::Scalar(int64_t value) : expr_(IntLiteral(value, FitsI32(value) ? kI32 : kI64)) {}

Scalar::Scalar(absl::StatusOr<ExprPtr> made)
    : status_(made.status()), expr_(made.ok() ? *std::move(made) : IntLiteral(0)) {}

Scalar MakeScalar(ExprOp op, std::vector<Scalar> args) {
  std::vector<ExprPtr> exprs;
  for (const Scalar& arg : args) {
    if (!arg.status().ok()) return arg;
    exprs.push_back(arg.expr());
  }
  return Scalar(MakeOp(op, std::move(exprs)));
}

Scalar CastTo(DataType type, const Scalar& a) {
  return a.status().ok() ? Scalar(MakeCast(type, a.expr())) : a;
}

ProgramBuilder::ProgramBuilder(absl::string_view name, int warps) {
  program_.name = std::string(name);
  program_.warps = warps;
  blocks_.push_back(&program_.body);
}

std::string ProgramBuilder::Unique(absl::string_view name) {
  std::string unique(name);
  for (int suffix = 1; !names_.insert(unique).second; ++suffix) {
    unique = absl::StrCat(name, "_", suffix);
  }
  return unique;
}

VarId ProgramBuilder::AddVar(absl::string_view name, VarKind kind, DataType type) {
  const VarId id = static_cast<VarId>(program_.vars.size());
  Var& var = program_.vars.emplace_back();
  var.name = Unique(name);
  var.kind = kind;
  var.type = type;
  return id;
}

ExprPtr ProgramBuilder::Use(const Scalar& scalar) {
  Note(scalar.status());
  return scalar.expr();
}

std::vector<ExprPtr> ProgramBuilder::Use(const std::vector<Scalar>& scalars) {
  std::vector<ExprPtr> exprs;
  for (const Scalar& scalar : scalars) exprs.push_back(Use(scalar));
  return exprs;
}

TensorOperand ProgramBuilder::Use(const Tile& tile) {
  return TensorOperand{tile.tensor.id, Use(tile.offsets), tile.has_offsets};
}

TensorDecl ProgramBuilder::Declare(const TensorType& type) {
  TensorDecl decl;
  decl.dtype = type.dtype;
  if (type.shape) decl.shape = Use(*type.shape);
  if (type.layout.empty()) return decl;
  LayoutSpec& spec = decl.layout.emplace();
  for (const LayoutAlias& alias : program_.layouts) {
    if (alias.name == type.layout) spec.alias = alias.name;
  }
  if (!spec.alias.empty()) return decl;
  absl::StatusOr<LayoutExpression> parsed = ParseLayoutExpression(type.layout);
  Note(parsed.status());
  if (parsed.ok()) spec.expression = *std::move(parsed);
  return decl;
}

// --- The head

Scalar ProgramBuilder::Param(absl::string_view name, DataType type, int64_t divisible) {
  const VarId id = AddVar(name, VarKind::kParam, type);
  program_.vars.back().divisible = divisible;
  program_.params.push_back(id);
  return VarRef(id, type);
}

Scalar ProgramBuilder::Pointer(absl::string_view name, DataType pointee, int64_t align) {
  const VarId id = AddVar(name, VarKind::kParam, pointee);
  program_.vars.back().is_pointer = true;
  program_.vars.back().align = align;
  program_.params.push_back(id);
  return PointerRef(id, pointee);
}

Scalar ProgramBuilder::Const(absl::string_view name, const Scalar& value) {
  const VarId id = AddVar(name, VarKind::kConst, value.expr()->type);
  program_.vars.back().value = Use(value);
  program_.consts.push_back(id);
  return VarRef(id, value.expr()->type);
}

void ProgramBuilder::Grid(const std::vector<Scalar>& extents) { program_.grid = Use(extents); }

void ProgramBuilder::Layout(absl::string_view name, absl::string_view expression) {
  LayoutAlias& alias = program_.layouts.emplace_back();
  alias.name = std::string(name);
  names_.insert(alias.name);
  absl::StatusOr<LayoutExpression> parsed = ParseLayoutExpression(expression);
  Note(parsed.status());
  if (parsed.ok()) alias.expression = *std::move(parsed);
}

// --- Instructions

std::vector<Scalar> ProgramBuilder::BlockIndices(const std::vector<std::string>& names) {
  Instruction in = MakeInstruction(Opcode::kBlockIndices);
  std::vector<Scalar> indices;
  for (const std::string& name : names) {
    const VarId id = AddVar(name, VarKind::kBlockIndex, kI32);
    in.index_results.push_back(id);
    indices.push_back(VarRef(id, kI32));
  }
  Append(Stmt{std::move(in), {}});
  return indices;
}

TensorHandle ProgramBuilder::Define(const Result& result, Scope scope, TensorDecl decl,
                                    Instruction in) {
  if (result.in_place()) {
    in.result = result.existing().id;
    in.in_place = true;
  } else {
    in.result = static_cast<TensorId>(program_.tensors.size());
    Tensor& tensor = program_.tensors.emplace_back();
    tensor.name = Unique(result.name());
    tensor.scope = scope;
    tensor.decl = std::move(decl);
  }
  const TensorHandle handle{in.result};
  Append(Stmt{std::move(in), {}});
  return handle;
}

TensorHandle ProgramBuilder::GlobalView(absl::string_view name, const Scalar& pointer,
                                        const TensorType& type,
                                        const std::vector<Scalar>& strides) {
  TensorDecl decl = Declare(type);
  decl.strides = Use(strides);
  return Define(std::string(name), Scope::kGlobal, std::move(decl),
                MakeInstruction(Opcode::kGlobalView, {Use(pointer)}));
}

TensorHandle ProgramBuilder::AllocGlobal(absl::string_view name, const TensorType& type,
                                         Workspace workspace) {
  TensorDecl decl = Declare(type);
  decl.clean = workspace == Workspace::kClean;
  return Define(std::string(name), Scope::kGlobal, std::move(decl),
                MakeInstruction(Opcode::kAllocGlobal));
}

TensorHandle ProgramBuilder::AllocShared(absl::string_view name, const TensorType& type,
                                         std::optional<SharedLayoutSpec> layout) {
  TensorDecl decl = Declare(type);
  decl.shared_layout = std::move(layout);
  return Define(std::string(name), Scope::kShared, std::move(decl),
                MakeInstruction(Opcode::kAllocShared));
}

void ProgramBuilder::FreeShared(TensorHandle tensor) {
  Append(Stmt{MakeInstruction(Opcode::kFreeShared, {RegisterOperand(tensor)}), {}});
}

TensorHandle ProgramBuilder::Register(const Result& result, const TensorType& type) {
  return Define(result, Scope::kRegister, Declare(type), MakeInstruction(Opcode::kRegister));
}

TensorHandle ProgramBuilder::Register(const Result& result, const Scalar& init,
                                      const TensorType& type) {
  return Define(result, Scope::kRegister, Declare(type),
                MakeInstruction(Opcode::kRegister, {Use(init)}));
}

TensorHandle ProgramBuilder::Load(Opcode opcode, const Result& result, const Tile& source,
                                  const TensorType& type, const Transfer& transfer) {
  Instruction in = MakeInstruction(opcode, {Use(source)});
  in.dims = transfer.dims;
  in.cache = transfer.cache;
  return Define(result, Scope::kRegister, Declare(type), std::move(in));
}

TensorHandle ProgramBuilder::LoadGlobal(const Result& result, const Tile& source,
                                        const TensorType& type, const Transfer& transfer) {
  return Load(Opcode::kLoadGlobal, result, source, type, transfer);
}

TensorHandle ProgramBuilder::LoadShared(const Result& result, const Tile& source,
                                        const TensorType& type, const Transfer& transfer) {
  return Load(Opcode::kLoadShared, result, source, type, transfer);
}

void ProgramBuilder::Store(Opcode opcode, const Operand& source, const Tile& destination,
                           const TensorType& tile, const Transfer& transfer) {
  Instruction in = MakeInstruction(opcode, {source, Use(destination)});
  in.dims = transfer.dims;
  in.cache = transfer.cache;
  in.tile_dtype = tile.dtype;
  if (tile.shape) in.tile_shape = Use(*tile.shape);
  Append(Stmt{std::move(in), {}});
}

void ProgramBuilder::StoreGlobal(TensorHandle source, const Tile& destination,
                                 const Transfer& transfer) {
  Store(Opcode::kStoreGlobal, RegisterOperand(source), destination, {}, transfer);
}

void ProgramBuilder::StoreShared(TensorHandle source, const Tile& destination,
                                 const Transfer& transfer) {
  Store(Opcode::kStoreShared, RegisterOperand(source), destination, {}, transfer);
}

void ProgramBuilder::CopyAsync(const Tile& source, const Tile& destination, const TensorType& tile,
                               const Transfer& transfer) {
  Store(Opcode::kCopyAsync, Use(source), destination, tile, transfer);
}

void ProgramBuilder::CommitGroup() { Append(Stmt{MakeInstruction(Opcode::kCommitGroup), {}}); }

void ProgramBuilder::WaitGroup(int64_t unfinished) {
  Append(Stmt{MakeInstruction(Opcode::kWaitGroup, {Use(Scalar(unfinished))}), {}});
}

void ProgramBuilder::WaitAll() { Append(Stmt{MakeInstruction(Opcode::kWaitAll), {}}); }

TensorHandle ProgramBuilder::Apply(const Result& result, Opcode opcode,
                                   const std::vector<Value>& operands, const TensorType& type) {
  Instruction in = MakeInstruction(opcode);
  for (const Value& value : operands) in.operands.push_back(Use(value));
  return Define(result, Scope::kRegister, Declare(type), std::move(in));
}

Operand ProgramBuilder::Use(const Value& value) {
  if (value.tensor().id != kNoTensor) return RegisterOperand(value.tensor());
  return Use(value.scalar());
}

TensorHandle ProgramBuilder::Cast(const Result& result, TensorHandle source,
                                  const TensorType& type) {
  return Apply(result, Opcode::kCast, {source}, type);
}

TensorHandle ProgramBuilder::View(absl::string_view name, TensorHandle source,
                                  const TensorType& type, std::optional<int64_t> first_bit) {
  Instruction in = MakeInstruction(Opcode::kView, {RegisterOperand(source)});
  in.bits = first_bit;
  return Define(std::string(name), Scope::kRegister, Declare(type), std::move(in));
}

TensorHandle ProgramBuilder::Dot(const Result& result, TensorHandle a, TensorHandle b,
                                 TensorHandle c) {
  return Apply(result, Opcode::kDot, {a, b, c});
}

void ProgramBuilder::Synchronize() { Append(Stmt{MakeInstruction(Opcode::kSynchronize), {}}); }

void ProgramBuilder::Exit() { Append(Stmt{MakeInstruction(Opcode::kExit), {}}); }

void ProgramBuilder::Print(const Value& value, absl::string_view label) {
  Instruction in = MakeInstruction(Opcode::kPrint, {Use(value)});
  in.label = std::string(label);
  Append(Stmt{std::move(in), {}});
}

// --- Statements

// Statements are built apart and appended whole: a block that grows would move those in it.
Block ProgramBuilder::Nest(BodyFn body) {
  Block block;
  blocks_.push_back(&block);
  body();
  blocks_.pop_back();
  return block;
}

void ProgramBuilder::For(absl::string_view name, const Scalar& begin, const Scalar& end,
                         absl::FunctionRef<void(Scalar)> body, const LoopOptions& options) {
  ExprPtr range[3] = {Use(begin), Use(end), Use(options.step)};
  Note(UnifyTypes("for", absl::MakeSpan(range)));
  ForStmt loop;
  loop.var = AddVar(name, VarKind::kLoop, range[0]->type);
  loop.unroll = options.unroll;
  const Scalar variable = VarRef(loop.var, range[0]->type);
  loop.begin = std::move(range[0]);
  loop.end = std::move(range[1]);
  loop.step = std::move(range[2]);
  loop.body = Nest([&] { body(variable); });
  Append(Stmt{std::move(loop), {}});
}

void ProgramBuilder::If(const Scalar& condition, BodyFn then_body) {
  If(condition, then_body, [] {});
}

void ProgramBuilder::If(const Scalar& condition, BodyFn then_body, BodyFn else_body) {
  IfStmt branch;
  branch.condition = Use(condition);
  branch.then_body = Nest(then_body);
  branch.else_body = Nest(else_body);
  Append(Stmt{std::move(branch), {}});
}

void ProgramBuilder::While(const Scalar& condition, BodyFn body) {
  WhileStmt loop;
  loop.condition = Use(condition);
  loop.body = Nest(body);
  Append(Stmt{std::move(loop), {}});
}

void ProgramBuilder::Break() { Append(Stmt{BreakStmt(), {}}); }

void ProgramBuilder::Continue() { Append(Stmt{ContinueStmt(), {}}); }

Scalar ProgramBuilder::Let(absl::string_view name, const Scalar& value) {
  const DataType type = value.expr()->type;
  const VarId id = AddVar(name, VarKind::kLet, type);
  Append(Stmt{DefineStmt{id, Use(value)}, {}});
  return VarRef(id, type);
}

Scalar ProgramBuilder::Mutable(absl::string_view name, DataType type, const Scalar& initial) {
  const VarId id = AddVar(name, VarKind::kMutable, type);
  absl::StatusOr<ExprPtr> value = CoerceTo(type, Use(initial));
  Note(value.status());
  Append(Stmt{DefineStmt{id, value.ok() ? *std::move(value) : IntLiteral(0, type)}, {}});
  return VarRef(id, type);
}

void ProgramBuilder::Assign(const Scalar& variable, const Scalar& value) {
  const Expr& target = *Use(variable);
  if (target.kind != ExprKind::kVar) {
    return Note(MakeError(DiagId::kAssignment, "only a variable can be assigned to"));
  }
  absl::StatusOr<ExprPtr> coerced = CoerceTo(target.type, Use(value));
  Note(coerced.status());
  if (coerced.ok()) Append(Stmt{AssignStmt{target.var, *std::move(coerced)}, {}});
}

absl::StatusOr<Program> ProgramBuilder::Build(const Limits& limits) {
  if (!status_.ok()) return status_;
  if (absl::Status checked = ResolveAndVerify(&program_, VerifyOptions{limits, false});
      !checked.ok()) {
    return checked;
  }
  return std::move(program_);
}

}  // namespace tilus::ir

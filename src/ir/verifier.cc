#include "ir/verifier.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/checked.h"
#include "ir/limits.h"
#include "ir/resolve.h"
#include "ir/text.h"
#include "ir/verify_state.h"

namespace tilus::ir {
namespace {

constexpr int kMaxWarps = 32;
constexpr int64_t kMaxGrid[] = {INT32_MAX, 65535, 65535};
constexpr int64_t kMaxAlign = 1 << 20;

// "sm_80", "sm_90a": a number of two or three digits, of at least 80, and perhaps a letter.
bool IsTargetName(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, "sm_")) return false;
  if (!name.empty() && (name.back() == 'a' || name.back() == 'f')) name.remove_suffix(1);
  if (name.size() < 2 || name.size() > 3) return false;
  int number = 0;
  for (char c : name) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
    number = number * 10 + (c - '0');
  }
  return number >= 80;
}

}  // namespace

Verification::Verification(const Program& program, const VerifyOptions& options,
                           DiagnosticList* diagnostics)
    : program_(program),
      options_(options),
      diagnostics_(diagnostics),
      reporter_(program, diagnostics),
      constants_(program),
      types_(program, constants_, options.limits),
      tensors_(program.tensors.size()),
      var_visible_(program.vars.size()) {}

void Verification::Run() {
  if (absl::Status limits = CheckLimits(program_, options_.limits); !limits.ok()) {
    reporter_.Report(limits);
    return;
  }
  CheckHead();
  CheckBlock(program_.body, StmtPath(), Loops());
  reporter_.Enter(nullptr, nullptr);
  if (saw_unresolved_ && !diagnostics_->has_errors()) {
    reporter_.Report(DiagId::kTypeUndetermined, "a tensor has no type", "resolve the types first");
  }
}

// --- The head

void Verification::CheckHead() {
  if (!IsValidName(program_.name)) {
    reporter_.Report(DiagId::kProgramName,
                     absl::StrCat("'", program_.name, "' cannot name a program"));
  }
  if (program_.warps < 1 || program_.warps > kMaxWarps) {
    reporter_.Report(DiagId::kProgramHead, absl::StrCat("a thread block has 1 to ", kMaxWarps,
                                                        " warps, not ", program_.warps));
  }
  CheckTarget();
  CheckParams();
  CheckConsts();
  CheckLayoutNames();
  CheckGrid();
}

void Verification::CheckTarget() {
  if (program_.target.empty() || IsTargetName(program_.target)) return;
  reporter_.Report(DiagId::kProgramHead, absl::StrCat("'", program_.target, "' is not a target"),
                   "targets are sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_120a, or any");
}

void Verification::CheckParams() {
  for (VarId id : program_.params) {
    const Var& var = VarAt(id);
    DefineVar(id);
    if (!var.is_pointer && var.type.is_subbyte()) {
      reporter_.Report(DiagId::kProgramHead,
                       absl::StrCat("the parameter '", var.name, "' has type ", var.type.name(),
                                    ", which is not whole bytes"),
                       "pass a wider integer, or a pointer");
    }
    const bool aligned =
        var.align == 0 || (var.is_pointer && var.align > 0 && var.align <= kMaxAlign &&
                           (var.align & (var.align - 1)) == 0);
    if (!aligned) {
      reporter_.Report(
          DiagId::kProgramHead,
          absl::StrCat("the parameter '", var.name, "' cannot be aligned to ", var.align, " bytes"),
          "pointers take align(n), n a power of two");
    }
    const bool divisible =
        var.divisible == 1 || (!var.is_pointer && var.type.is_integer() && var.divisible > 0);
    if (!divisible) {
      reporter_.Report(
          DiagId::kProgramHead,
          absl::StrCat("the parameter '", var.name, "' cannot be divisible by ", var.divisible),
          "integers take div(n), n at least 1");
    }
  }
}

void Verification::CheckConsts() {
  for (VarId id : program_.consts) {
    const Var& var = VarAt(id);
    if (var.value == nullptr) {
      reporter_.Report(DiagId::kConstant, absl::StrCat("the const '", var.name, "' has no value"));
    } else {
      CheckExpr(var.value);
      if (!constants_.Code(*var.value) || var.value->type != var.type) {
        reporter_.Report(DiagId::kConstant,
                         absl::StrCat("the const '", var.name, "' is ",
                                      PrintExpr(program_, *var.value), ", which is not constant"),
                         "a const is made of literals and consts before it; use let otherwise");
      }
    }
    DefineVar(id);
  }
}

void Verification::CheckLayoutNames() {
  for (const LayoutAlias& alias : program_.layouts) DefineName(alias.name);
}

bool Verification::KnownAtLaunch(const Expr& e) const {
  if (e.kind == ExprKind::kIndex || e.is_pointer) return false;
  if (e.kind == ExprKind::kVar) {
    const VarKind kind = VarAt(e.var).kind;
    return kind == VarKind::kParam || kind == VarKind::kConst;
  }
  return std::all_of(e.args.begin(), e.args.end(),
                     [this](const ExprPtr& arg) { return KnownAtLaunch(*arg); });
}

void Verification::CheckGrid() {
  const size_t rank = program_.grid.size();
  if (rank < 1 || rank > 3) {
    reporter_.Report(DiagId::kProgramGrid,
                     absl::StrCat("the grid has ", rank, " extents, and needs 1 to 3"),
                     "write grid x, y before the first instruction");
    return;
  }
  for (size_t d = 0; d < rank; ++d) {
    const Expr& extent = *program_.grid[d];
    CheckExpr(program_.grid[d]);
    const std::string text = PrintExpr(program_, extent);
    if (!IsInteger(extent) || !KnownAtLaunch(extent)) {
      reporter_.Report(DiagId::kProgramGrid, absl::StrCat("the grid extent ", text,
                                                          " is not an integer of parameters and "
                                                          "constants"));
      continue;
    }
    const std::optional<int64_t> value = constants_.Int(extent);
    if (value && (*value < 0 || *value > kMaxGrid[d])) {
      reporter_.Report(DiagId::kProgramGrid, absl::StrCat("the grid extent ", text, " is ", *value,
                                                          ", not 0 to ", kMaxGrid[d]));
    }
  }
}

// --- Names

void Verification::DefineName(const std::string& name) {
  if (!IsValidName(name)) {
    reporter_.Report(DiagId::kProgramName, absl::StrCat("'", name, "' cannot be a name"),
                     "names are letters, digits and _, and no reserved word or type");
  }
  if (++names_[name] > 1) {
    reporter_.Report(DiagId::kProgramName, absl::StrCat("the name '", name, "' is taken"),
                     "names that are visible at once differ");
  }
  bindings_.push_back({name, kNoTensor, kNoVar});
}

void Verification::DefineVar(VarId id) {
  if (var_visible_[static_cast<size_t>(id)]) {
    reporter_.Report(DiagId::kRedefined,
                     absl::StrCat("'", VarAt(id).name, "' is defined a second time"));
    return;
  }
  DefineName(VarAt(id).name);
  var_visible_[static_cast<size_t>(id)] = true;
  bindings_.back().var = id;
}

void Verification::DefineTensor(TensorId id) {
  TensorState& state = tensors_[static_cast<size_t>(id)];
  if (state.defined) {
    reporter_.Report(DiagId::kRedefined,
                     absl::StrCat("'", At(id).name, "' is defined a second time"));
    return;
  }
  DefineName(At(id).name);
  state.defined = true;
  state.visible = true;
  state.block = block_;
  bindings_.back().tensor = id;
}

// --- Expressions

void Verification::CheckExpr(const ExprPtr& expr, Allow allow, int index_rank) {
  CheckNode(*expr, allow, index_rank);
}

void Verification::CheckNode(const Expr& e, Allow allow, int index_rank) {
  switch (e.kind) {
    case ExprKind::kLiteral:
      return;
    case ExprKind::kVar:
      if (!var_visible_[static_cast<size_t>(e.var)]) {
        reporter_.Report(DiagId::kUndefined,
                         absl::StrCat("'", VarAt(e.var).name, "' is not defined here"));
      }
      if (e.is_pointer && allow != Allow::kPointer) {
        reporter_.Report(DiagId::kPointerValue,
                         absl::StrCat("the pointer '", VarAt(e.var).name, "' is not a value"),
                         "make a tensor of it with global_view");
      }
      return;
    case ExprKind::kIndex:
      if (allow != Allow::kIndices) {
        reporter_.Report(DiagId::kElementIndex,
                         absl::StrCat("#", e.index, " stands outside the value of 'register'"));
      } else if (e.index < 0 || e.index >= index_rank) {
        reporter_.Report(DiagId::kElementIndex,
                         absl::StrCat("#", e.index, " is beyond the ", index_rank, " dimensions"));
      }
      return;
    case ExprKind::kCast:
    case ExprKind::kOp:
      break;
  }
  for (const ExprPtr& arg : e.args) {
    CheckNode(*arg, allow == Allow::kPointer ? Allow::kScalars : allow, index_rank);
  }
  const bool divides = e.kind == ExprKind::kOp && e.type.is_integer() &&
                       (e.op == ExprOp::kDiv || e.op == ExprOp::kMod || e.op == ExprOp::kCeilDiv);
  if (divides && constants_.Int(*e.args[1]) == 0) {
    reporter_.Report(DiagId::kConstantDivision,
                     absl::StrCat(PrintExpr(program_, e), " divides by the constant 0"));
  }
}

// --- Statements

void Verification::CheckBlock(const Block& block, StmtPath path, const Loops& loops) {
  const size_t mark = bindings_.size();
  const Block* outer = block_;
  for (const Stmt& stmt : block.stmts) {
    block_ = &block;
    reporter_.Enter(&stmt, &path);
    CheckStmt(stmt, path, loops);
    ++path.index;
    if (reporter_.full()) break;
  }
  block_ = outer;
  for (; bindings_.size() > mark; bindings_.pop_back()) {
    const Binding& binding = bindings_.back();
    --names_[binding.name];
    if (binding.tensor != kNoTensor) tensors_[static_cast<size_t>(binding.tensor)].visible = false;
    if (binding.var != kNoVar) var_visible_[static_cast<size_t>(binding.var)] = false;
  }
}

void Verification::CheckStmt(const Stmt& stmt, const StmtPath& path, const Loops& loops) {
  const auto inner = [&](const char* name) {
    return StmtPath{&path, BlockOwnerName(stmt), name, 0};
  };
  if (const Instruction* in = std::get_if<Instruction>(&stmt.node)) {
    CheckInstruction(*in);
  } else if (const ForStmt* loop = std::get_if<ForStmt>(&stmt.node)) {
    CheckFor(*loop, inner("body"), loops);
  } else if (const IfStmt* branch = std::get_if<IfStmt>(&stmt.node)) {
    CheckCondition(*branch->condition);
    CheckBlock(branch->then_body, inner("then"), loops);
    CheckBlock(branch->else_body, inner("else"), loops);
  } else if (const WhileStmt* loop = std::get_if<WhileStmt>(&stmt.node)) {
    CheckCondition(*loop->condition);
    CheckBlock(loop->body, inner("body"), Loops{loops.depth + 1, loops.unroll});
  } else if (const DefineStmt* define = std::get_if<DefineStmt>(&stmt.node)) {
    CheckDefine(*define);
  } else if (const AssignStmt* assign = std::get_if<AssignStmt>(&stmt.node)) {
    CheckAssign(*assign);
  } else if (loops.depth == 0) {
    const bool is_break = std::holds_alternative<BreakStmt>(stmt.node);
    reporter_.Report(DiagId::kOutsideLoop,
                     absl::StrCat("'", is_break ? "break" : "continue", "' stands outside a loop"));
  }
}

void Verification::CheckFor(const ForStmt& loop, const StmtPath& path, const Loops& loops) {
  const Var& var = VarAt(loop.var);
  for (const ExprPtr* bound : {&loop.begin, &loop.end, &loop.step}) {
    CheckExpr(*bound);
    if (!IsInteger(**bound) || (*bound)->type != var.type) {
      reporter_.Report(
          DiagId::kLoop,
          absl::StrCat("the bounds and step of a loop are integers of the variable's "
                       "type, and ",
                       PrintExpr(program_, **bound), " is of type ", (*bound)->type.name()));
    }
  }
  if (constants_.Int(*loop.step) == 0) {
    reporter_.Report(DiagId::kLoop, "the step of the loop is 0");
  }
  const std::optional<int64_t> product = CheckedMul(loops.unroll, UnrollCopies(loop));
  Loops inner{loops.depth + 1, product.value_or(INT64_MAX)};
  if (inner.unroll > options_.limits.max_unroll) {
    reporter_.Report(DiagId::kLimitUnroll,
                     absl::StrCat("unrolling makes ",
                                  product ? absl::StrCat(*product) : std::string("more than 2^63"),
                                  " copies of the body, more than ", options_.limits.max_unroll),
                     "unroll this loop or those around it less");
    inner.unroll = 1;
  }
  const size_t mark = bindings_.size();
  DefineVar(loop.var);
  CheckBlock(loop.body, path, inner);
  for (; bindings_.size() > mark; bindings_.pop_back()) {
    --names_[bindings_.back().name];
    if (bindings_.back().var != kNoVar) {
      var_visible_[static_cast<size_t>(bindings_.back().var)] = false;
    }
  }
}

int64_t Verification::UnrollCopies(const ForStmt& loop) {
  if (loop.unroll == 1) return 1;
  if (loop.unroll < 1 && loop.unroll != kUnrollFull) {
    reporter_.Report(DiagId::kUnroll,
                     absl::StrCat("a loop cannot be unrolled ", loop.unroll, " times"));
    return 1;
  }
  const std::optional<int64_t> begin = constants_.Int(*loop.begin);
  const std::optional<int64_t> end = constants_.Int(*loop.end);
  const std::optional<int64_t> step = constants_.Int(*loop.step);
  if (!begin || !end || !step || *step == 0) {
    if (loop.unroll != kUnrollFull) return loop.unroll;
    reporter_.Report(DiagId::kUnroll,
                     "a loop whose bounds are not constant cannot be unrolled whole",
                     "give a count: unroll 4");
    return 1;
  }
  const __int128 distance =
      *step > 0 ? static_cast<__int128>(*end) - *begin : static_cast<__int128>(*begin) - *end;
  const __int128 stride = *step > 0 ? static_cast<__int128>(*step) : -static_cast<__int128>(*step);
  const __int128 trips = distance <= 0 ? 0 : (distance + stride - 1) / stride;
  const int64_t copies = trips > INT64_MAX ? INT64_MAX : static_cast<int64_t>(trips);
  const int64_t wanted = loop.unroll == kUnrollFull ? copies : std::min(copies, loop.unroll);
  return std::max<int64_t>(1, wanted);
}

void Verification::CheckCondition(const Expr& condition) {
  CheckNode(condition, Allow::kScalars, 0);
  if (condition.type.is_bool() && !condition.is_pointer) return;
  reporter_.Report(DiagId::kCondition,
                   absl::StrCat("the condition ", PrintExpr(program_, condition), " is of type ",
                                condition.type.name(), ", not bool"),
                   "compare it: x != 0");
}

void Verification::CheckDefine(const DefineStmt& define) {
  CheckExpr(define.value);
  const Var& var = VarAt(define.var);
  if (define.value->type != var.type) {
    reporter_.Report(DiagId::kAssignment,
                     absl::StrCat("'", var.name, "' is of type ", var.type.name(),
                                  ", and its value of type ", define.value->type.name()));
  }
  if (var.kind != VarKind::kLet && var.kind != VarKind::kMutable) {
    reporter_.Report(DiagId::kRedefined,
                     absl::StrCat("'", var.name, "' is not a variable that let or var defines"));
    return;
  }
  DefineVar(define.var);
}

void Verification::CheckAssign(const AssignStmt& assign) {
  CheckExpr(assign.value);
  const Var& var = VarAt(assign.var);
  if (!var_visible_[static_cast<size_t>(assign.var)]) {
    reporter_.Report(DiagId::kUndefined, absl::StrCat("'", var.name, "' is not defined here"));
  }
  if (var.kind != VarKind::kMutable) {
    reporter_.Report(DiagId::kAssignment, absl::StrCat("'", var.name, "' cannot be set"),
                     "define it with var");
  } else if (var.type != assign.value->type) {
    reporter_.Report(DiagId::kAssignment,
                     absl::StrCat("'", var.name, "' is of type ", var.type.name(),
                                  ", and its new value of type ", assign.value->type.name()));
  }
}

// --- Entry points

void Verify(const Program& program, const VerifyOptions& options, DiagnosticList* diagnostics) {
  Verification(program, options, diagnostics).Run();
}

absl::Status Verify(const Program& program, const VerifyOptions& options) {
  DiagnosticList diagnostics;
  Verify(program, options, &diagnostics);
  return diagnostics.ToStatus();
}

namespace {

// Errors of the resolver and of the verifier, in the order of the text.
absl::Status InOrder(const DiagnosticList& list) {
  std::vector<Diagnostic> diagnostics = list.diagnostics();
  std::stable_sort(
      diagnostics.begin(), diagnostics.end(),
      [](const Diagnostic& a, const Diagnostic& b) { return a.span.line < b.span.line; });
  return MakeStatus(std::move(diagnostics));
}

void ResolveAndVerify(Program* program, const VerifyOptions& options, DiagnosticList* diagnostics) {
  // Beyond the limits nothing else is looked at: the verifier says so.
  if (CheckLimits(*program, options.limits).ok()) {
    ResolveTypes(program, options.limits, diagnostics);
  }
  Verify(*program, options, diagnostics);
}

}  // namespace

absl::Status ResolveAndVerify(Program* program, const VerifyOptions& options) {
  DiagnosticList diagnostics;
  ResolveAndVerify(program, options, &diagnostics);
  return InOrder(diagnostics);
}

absl::Status ResolveAndVerify(Module* module, const VerifyOptions& options) {
  DiagnosticList diagnostics;
  absl::flat_hash_set<absl::string_view> names;
  for (Program& program : module->programs) {
    if (!names.insert(program.name).second) {
      diagnostics.Add(DiagId::kProgramName, program.name,
                      absl::StrCat("there are two programs '", program.name, "'"));
    }
    ResolveAndVerify(&program, options, &diagnostics);
  }
  return InOrder(diagnostics);
}

absl::StatusOr<Module> LoadText(absl::string_view text, const Limits& limits) {
  absl::StatusOr<Module> module = ParseText(text, limits);
  if (!module.ok()) return module.status();
  if (absl::Status checked = ResolveAndVerify(&*module, VerifyOptions{limits, false});
      !checked.ok()) {
    return checked;
  }
  return module;
}

}  // namespace tilus::ir

#include "ir/analysis.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/checked.h"
#include "types/codec.h"

namespace tilus::ir {
namespace {

// Whether a / b, not exact, rounds toward the larger number when it is truncated.
bool CeilAddsOne(DataType type, uint64_t a, uint64_t b) {
  if (b == 0) return false;
  const uint64_t rest = EvaluateBinary(ScalarOp::kMod, type, a, b);
  if (rest == 0) return false;
  if (!type.is_signed()) return true;
  return (DecodeToInt64(type, rest) > 0) == (DecodeToInt64(type, b) > 0);
}

uint64_t CeilDivCode(DataType type, uint64_t a, uint64_t b) {
  const uint64_t quotient = EvaluateBinary(ScalarOp::kDiv, type, a, b);
  if (!CeilAddsOne(type, a, b)) return quotient;
  return EvaluateBinary(ScalarOp::kAdd, type, quotient, EncodeFromInt64(type, 1));
}

// The largest power of two that divides n; 0 for 0.
int64_t PowerOfTwoPart(int64_t n) { return n & -n; }

int64_t Magnitude(int64_t value) { return value == INT64_MIN ? int64_t{1} << 62 : std::abs(value); }

__int128 Wide(int64_t value) { return value; }

std::optional<Range> Narrow(__int128 min, __int128 max) {
  if (min < INT64_MIN || max > INT64_MAX) return std::nullopt;
  return Range{static_cast<int64_t>(min), static_cast<int64_t>(max)};
}

// The exact bounds of a binary operation on ranges; nullopt where unknown or out of 64 bits.
std::optional<Range> ExactRange(ExprOp op, const Range& a, const Range& b) {
  switch (op) {
    case ExprOp::kAdd:
      return Narrow(Wide(a.min) + b.min, Wide(a.max) + b.max);
    case ExprOp::kSub:
      return Narrow(Wide(a.min) - b.max, Wide(a.max) - b.min);
    case ExprOp::kMul: {
      const __int128 corners[] = {Wide(a.min) * b.min, Wide(a.min) * b.max, Wide(a.max) * b.min,
                                  Wide(a.max) * b.max};
      return Narrow(*std::min_element(corners, corners + 4),
                    *std::max_element(corners, corners + 4));
    }
    case ExprOp::kDiv:
      if (b.min <= 0) return std::nullopt;
      return Range{a.min / (a.min < 0 ? b.min : b.max), a.max / (a.max < 0 ? b.max : b.min)};
    case ExprOp::kCeilDiv: {
      if (b.min <= 0 || a.min < 0) return std::nullopt;
      return Range{CeilDiv(a.min, b.max), CeilDiv(a.max, b.min)};
    }
    case ExprOp::kMod:
      if (b.min <= 0) return std::nullopt;
      return Range{a.min < 0 ? std::max(a.min, 1 - b.max) : 0,
                   a.max < 0 ? 0 : std::min(a.max, b.max - 1)};
    case ExprOp::kMin:
      return Range{std::min(a.min, b.min), std::min(a.max, b.max)};
    case ExprOp::kMax:
      return Range{std::max(a.min, b.min), std::max(a.max, b.max)};
    case ExprOp::kBitAnd:
      if (a.min >= 0 && b.min >= 0) return Range{0, std::min(a.max, b.max)};
      if (a.min >= 0) return Range{0, a.max};
      if (b.min >= 0) return Range{0, b.max};
      return std::nullopt;
    case ExprOp::kShl:
      if (b.min != b.max || b.min < 0 || b.min > 62) return std::nullopt;
      return Narrow(Wide(a.min) * (Wide(1) << b.min), Wide(a.max) * (Wide(1) << b.min));
    case ExprOp::kShr:
      if (b.min != b.max || b.min < 0 || b.min > 62) return std::nullopt;
      return Range{a.min >> b.min, a.max >> b.min};
    default:
      return std::nullopt;
  }
}

bool Inside(const Range& inner, const Range& outer) {
  return outer.min <= inner.min && inner.max <= outer.max;
}

}  // namespace

std::optional<Range> RangeOfType(DataType type) {
  if (type.is_bool()) return Range{0, 1};
  if (!type.is_integer()) return std::nullopt;
  const int bits = type.bits();
  if (type.is_signed()) {
    return Range{bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1)),
                 static_cast<int64_t>(LowBits(bits - 1))};
  }
  if (bits == 64) return std::nullopt;
  return Range{0, static_cast<int64_t>(LowBits(bits))};
}

uint64_t EvaluateOp(const Expr& op, absl::Span<const uint64_t> codes) {
  const DataType type = op.args.back()->type;
  if (op.op == ExprOp::kSelect) return codes[0] != 0 ? codes[1] : codes[2];
  if (op.op == ExprOp::kCeilDiv) return CeilDivCode(type, codes[0], codes[1]);
  const ScalarOp scalar = *ScalarOpOf(op.op);
  return codes.size() == 1 ? EvaluateUnary(scalar, type, codes[0])
                           : EvaluateBinary(scalar, type, codes[0], codes[1]);
}

std::optional<int64_t> EvaluateIntOp(const Expr& op, absl::Span<const int64_t> args) {
  uint64_t codes[3];
  for (size_t i = 0; i < args.size(); ++i) {
    const DataType type = op.args[i]->type;
    if (type.is_float()) return std::nullopt;
    codes[i] = EncodeFromInt64(type, args[i]);
  }
  return DecodeToInt64(op.type, EvaluateOp(op, absl::MakeConstSpan(codes, args.size())));
}

// --- Constants

Constants::Constants(const Program& program) : codes_(program.vars.size()) {
  for (VarId id : program.consts) {
    const Var& var = program.vars[static_cast<size_t>(id)];
    if (var.value != nullptr) codes_[static_cast<size_t>(id)] = Code(*var.value);
  }
}

std::optional<uint64_t> Constants::Code(const Expr& e) const {
  switch (e.kind) {
    case ExprKind::kLiteral:
      return e.code;
    case ExprKind::kVar:
      return codes_[static_cast<size_t>(e.var)];
    case ExprKind::kIndex:
      return std::nullopt;
    case ExprKind::kCast: {
      const std::optional<uint64_t> arg = Code(*e.args[0]);
      if (!arg) return std::nullopt;
      return ConvertCode(e.args[0]->type, e.type, *arg);
    }
    case ExprKind::kOp:
      break;
  }
  uint64_t codes[3];
  for (size_t i = 0; i < e.args.size(); ++i) {
    const std::optional<uint64_t> arg = Code(*e.args[i]);
    if (!arg) return std::nullopt;
    codes[i] = *arg;
  }
  return EvaluateOp(e, absl::MakeConstSpan(codes, e.args.size()));
}

std::optional<int64_t> Constants::Int(const Expr& e) const {
  if (e.type.is_float() || e.is_pointer) return std::nullopt;
  const std::optional<uint64_t> code = Code(e);
  if (!code) return std::nullopt;
  return DecodeToInt64(e.type, *code);
}

// --- Facts: gathering

Facts::Facts(const Program& program)
    : program_(&program),
      constants_(program),
      definitions_(program.vars.size()),
      known_(program.vars.size()) {
  CollectParams();
  Collect(program.body);
}

void Facts::CollectParams() {
  for (size_t i = 0; i < known_.size(); ++i) known_[i].range = RangeOfType(program_->vars[i].type);
  for (VarId id : program_->params) {
    KnownOf(id).divisor = std::max<int64_t>(1, program_->vars[static_cast<size_t>(id)].divisible);
  }
  for (VarId id : program_->consts) {
    const Var& var = program_->vars[static_cast<size_t>(id)];
    if (var.value == nullptr) continue;
    Definition& definition = definitions_[static_cast<size_t>(id)];
    definition.kind = Definition::kConst;
    definition.value = &var.value;
    KnownOf(id) = {Divisor(*var.value), RangeOf(*var.value)};
  }
}

void Facts::Collect(const Block& block) {
  for (const Stmt& stmt : block.stmts) {
    if (const Instruction* in = std::get_if<Instruction>(&stmt.node)) {
      CollectIndices(*in);
    } else if (const ForStmt* loop = std::get_if<ForStmt>(&stmt.node)) {
      CollectLoop(*loop);
      Collect(loop->body);
    } else if (const WhileStmt* loop = std::get_if<WhileStmt>(&stmt.node)) {
      Collect(loop->body);
    } else if (const IfStmt* branch = std::get_if<IfStmt>(&stmt.node)) {
      Collect(branch->then_body);
      Collect(branch->else_body);
    } else if (const DefineStmt* define = std::get_if<DefineStmt>(&stmt.node)) {
      if (program_->vars[static_cast<size_t>(define->var)].kind != VarKind::kLet) continue;
      Definition& definition = definitions_[static_cast<size_t>(define->var)];
      definition.kind = Definition::kLet;
      definition.value = &define->value;
      KnownOf(define->var) = {Divisor(*define->value), RangeOf(*define->value)};
    }
  }
}

void Facts::CollectIndices(const Instruction& in) {
  constexpr int64_t kLargestGrid[] = {INT32_MAX, 65535, 65535};
  const size_t count = std::min(in.index_results.size(), program_->grid.size());
  for (size_t d = 0; d < count && d < 3; ++d) {
    Definition& definition = definitions_[static_cast<size_t>(in.index_results[d])];
    definition.kind = Definition::kBlockIndex;
    definition.grid_dim = static_cast<int>(d);
    // A block exists, so the extent is at least 1.
    const std::optional<Range> extent = RangeOf(*program_->grid[d]);
    const int64_t most = std::min(kLargestGrid[d], extent ? extent->max : INT64_MAX);
    KnownOf(in.index_results[d]).range = Range{0, std::max<int64_t>(1, most) - 1};
  }
}

void Facts::CollectLoop(const ForStmt& loop) {
  Definition& definition = definitions_[static_cast<size_t>(loop.var)];
  definition.kind = Definition::kLoop;
  definition.loop = &loop;
  Known& known = KnownOf(loop.var);
  const std::optional<Range> begin = RangeOf(*loop.begin);
  const std::optional<Range> end = RangeOf(*loop.end);
  const std::optional<Range> step = RangeOf(*loop.step);
  const bool up = step && step->min > 0;
  const bool down = step && step->max < 0;
  if (begin && end && up) {
    known.range = Range{begin->min, std::max(begin->min, end->max - 1)};
  } else if (begin && end && down) {
    known.range = Range{std::min(begin->max, end->min + 1), begin->max};
  }
  // The variable may wrap after the last iteration, but then it is not seen.
  known.divisor = std::max<int64_t>(1, std::gcd(Divisor(*loop.begin), Divisor(*loop.step)));
}

// --- Facts: ranges

std::optional<Range> Facts::RangeOf(const Expr& e) const {
  if (const std::optional<int64_t> value = Constant(e)) {
    if (e.type == kU64 && *value < 0) return std::nullopt;
    return Range{*value, *value};
  }
  switch (e.kind) {
    case ExprKind::kLiteral:
      return std::nullopt;
    case ExprKind::kVar:
      return e.is_pointer ? std::nullopt : known_[static_cast<size_t>(e.var)].range;
    case ExprKind::kIndex:
      return Range{0, INT32_MAX};
    case ExprKind::kCast:
      return RangeOfCast(e);
    case ExprKind::kOp:
      return RangeOfOp(e);
  }
  return std::nullopt;
}

std::optional<Range> Facts::RangeOfCast(const Expr& e) const {
  const std::optional<Range> type = RangeOfType(e.type);
  const std::optional<Range> arg = RangeOf(*e.args[0]);
  if (e.type.is_float() || e.type.is_bool() || !arg) return type;
  if (e.type == kU64) return arg->min >= 0 ? arg : std::nullopt;
  return Inside(*arg, *type) ? arg : type;
}

std::optional<Range> Facts::RangeOfOp(const Expr& e) const {
  const std::optional<Range> type = RangeOfType(e.type);
  if (!type || e.type.is_bool()) return type;
  if (e.op == ExprOp::kSelect) {
    const std::optional<Range> a = RangeOf(*e.args[1]);
    const std::optional<Range> b = RangeOf(*e.args[2]);
    if (!a || !b) return type;
    return Range{std::min(a->min, b->min), std::max(a->max, b->max)};
  }
  const std::optional<Range> a = RangeOf(*e.args[0]);
  std::optional<Range> exact;
  if (a && e.op == ExprOp::kNeg) {
    exact = ExactRange(ExprOp::kSub, Range{0, 0}, *a);
  } else if (e.args.size() == 2) {
    const std::optional<Range> b = RangeOf(*e.args[1]);
    if (a && b) exact = ExactRange(e.op, *a, *b);
  }
  return exact && Inside(*exact, *type) ? exact : type;
}

// Whether the exact result of an operation of two operands always fits its type.
bool Facts::NeverWraps(const Expr& op) const {
  const std::optional<Range> type = RangeOfType(op.type);
  const std::optional<Range> a = RangeOf(*op.args[0]);
  const std::optional<Range> b = RangeOf(*op.args[1]);
  if (!type || !a || !b) return false;
  const std::optional<Range> exact = ExactRange(op.op, *a, *b);
  return exact && Inside(*exact, *type);
}

// --- Facts: divisors

int64_t Facts::Divisor(const Expr& e) const {
  if (const std::optional<int64_t> value = Constant(e)) return Magnitude(*value);
  switch (e.kind) {
    case ExprKind::kVar:
      return e.is_pointer ? 1 : known_[static_cast<size_t>(e.var)].divisor;
    case ExprKind::kCast: {
      if (!e.type.is_integer() || !e.args[0]->type.is_integer()) return 1;
      const int64_t divisor = Divisor(*e.args[0]);
      const std::optional<Range> arg = RangeOf(*e.args[0]);
      const std::optional<Range> type = RangeOfType(e.type);
      return arg && type && Inside(*arg, *type) ? divisor : PowerOfTwoPart(divisor);
    }
    case ExprKind::kOp:
      return e.type.is_integer() ? DivisorOfOp(e) : 1;
    default:
      return 1;
  }
}

int64_t Facts::DivisorOfOp(const Expr& e) const {
  if (e.op == ExprOp::kSelect) return std::gcd(Divisor(*e.args[1]), Divisor(*e.args[2]));
  const int64_t a = Divisor(*e.args[0]);
  if (e.args.size() == 1) return e.op == ExprOp::kNeg ? a : 1;
  const int64_t b = Divisor(*e.args[1]);
  const std::optional<int64_t> constant = Constant(*e.args[1]);
  switch (e.op) {
    case ExprOp::kAdd:
    case ExprOp::kSub:
      return NeverWraps(e) ? std::gcd(a, b) : PowerOfTwoPart(std::gcd(a, b));
    case ExprOp::kMul: {
      const bool exact = NeverWraps(e);
      const std::optional<int64_t> product =
          exact ? CheckedMul(a, b) : CheckedMul(PowerOfTwoPart(a), PowerOfTwoPart(b));
      return product ? *product : std::max(PowerOfTwoPart(a), PowerOfTwoPart(b));
    }
    case ExprOp::kDiv:
    case ExprOp::kCeilDiv:
      return constant && *constant > 0 && a % *constant == 0 ? a / *constant : 1;
    case ExprOp::kMod:
    case ExprOp::kMin:
    case ExprOp::kMax:
      return std::gcd(a, b);
    case ExprOp::kShl: {
      if (!constant || *constant < 0 || *constant > 61) return 1;
      const int64_t scaled = PowerOfTwoPart(a);
      return CheckedMul(scaled, int64_t{1} << *constant).value_or(scaled);
    }
    case ExprOp::kShr:
      if (!constant || *constant < 0 || *constant > 61) return 1;
      return a % (int64_t{1} << *constant) == 0 ? a >> *constant : 1;
    case ExprOp::kBitAnd:
      return a == 0 || b == 0 ? 0 : std::max(PowerOfTwoPart(a), PowerOfTwoPart(b));
    case ExprOp::kBitOr:
    case ExprOp::kBitXor:
      return PowerOfTwoPart(std::gcd(a, b));
    default:
      return 1;
  }
}

// --- Facts: bounds

const Expr& Facts::ThroughLets(const Expr& e) const {
  const Expr* at = &e;
  for (int steps = 0; steps < 64 && at->kind == ExprKind::kVar; ++steps) {
    const Definition& definition = DefinitionOf(at->var);
    if (definition.kind != Definition::kLet) break;
    at = definition.value->get();
  }
  return *at;
}

const Expr* Facts::UpperBoundOf(VarId var) const {
  const Definition& definition = DefinitionOf(var);
  if (definition.kind == Definition::kBlockIndex) {
    return program_->grid[static_cast<size_t>(definition.grid_dim)].get();
  }
  if (definition.kind != Definition::kLoop) return nullptr;
  const std::optional<Range> begin = RangeOf(*definition.loop->begin);
  const std::optional<Range> step = RangeOf(*definition.loop->step);
  const bool counts_up = begin && begin->min >= 0 && step && step->min > 0;
  return counts_up ? definition.loop->end.get() : nullptr;
}

bool Facts::Within(const Expr& offset, int64_t size, const Expr& extent) const {
  const std::optional<Range> at = RangeOf(offset);
  const std::optional<Range> end = RangeOf(extent);
  if (at && end && at->min >= 0) {
    const std::optional<int64_t> last = CheckedAdd(at->max, size);
    if (last && *last <= end->min) return true;
  }
  const Expr& e = ThroughLets(offset);
  if (e.kind == ExprKind::kOp && e.op == ExprOp::kAdd) {
    return WithinScaled(*e.args[0], e.args[1].get(), size, extent) ||
           WithinScaled(*e.args[1], e.args[0].get(), size, extent);
  }
  return WithinScaled(e, nullptr, size, extent);
}

// v * c + rest, where v < extent / c, and 0 <= rest and rest + size <= c.
bool Facts::WithinScaled(const Expr& scaled, const Expr* rest, int64_t size,
                         const Expr& extent) const {
  const Expr* counter = &ThroughLets(scaled);
  int64_t scale = 1;
  if (counter->kind == ExprKind::kOp && counter->op == ExprOp::kMul) {
    const Expr& a = *counter->args[0];
    const Expr& b = *counter->args[1];
    const std::optional<int64_t> left = Constant(a);
    const std::optional<int64_t> right = Constant(b);
    if (!left && !right) return false;
    scale = right ? *right : *left;
    counter = &ThroughLets(right ? a : b);
  }
  // The product cannot wrap when the extent is of its type.
  const DataType type = scaled.type;
  while (counter->kind == ExprKind::kCast && counter->args[0]->type.is_integer() &&
         counter->args[0]->type.bits() < type.bits()) {
    counter = &ThroughLets(*counter->args[0]);
  }
  if (counter->kind != ExprKind::kVar || scale <= 0) return false;
  const Expr* bound = UpperBoundOf(counter->var);
  if (bound == nullptr) return false;
  if (rest != nullptr) {
    const std::optional<Range> range = RangeOf(*rest);
    if (!range || range->min < 0 || range->max > scale - size) return false;
  }
  if (size > scale) return false;
  bound = &ThroughLets(*bound);
  const Expr& limit = ThroughLets(extent);
  if (limit.type != type || !type.is_signed()) return false;
  if (scale == 1 && SameExpr(*bound, limit)) return true;
  const bool divides =
      bound->kind == ExprKind::kOp && (bound->op == ExprOp::kDiv || bound->op == ExprOp::kCeilDiv);
  if (!divides || Constant(*bound->args[1]) != scale) return false;
  if (!SameExpr(ThroughLets(*bound->args[0]), limit)) return false;
  return bound->op == ExprOp::kDiv || Divisor(limit) % scale == 0;
}

// --- Single questions

std::optional<int64_t> ConstantInt(const Program& program, const Expr& expr) {
  if (expr.kind == ExprKind::kLiteral) return LiteralInt(expr);
  return Constants(program).Int(expr);
}

int64_t Divisibility(const Program& program, const Expr& expr) {
  return Facts(program).Divisor(expr);
}

std::optional<Range> RangeOf(const Program& program, const Expr& expr) {
  return Facts(program).RangeOf(expr);
}

}  // namespace tilus::ir

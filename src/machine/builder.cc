#include "machine/builder.h"

#include <utility>

#include "machine/fold.h"

namespace tilus::machine {
namespace {

Op MovOf(RegClass c) {
  switch (c) {
    case RegClass::kPred: return Op::kMovPred;
    case RegClass::kB16: return Op::kMovB16;
    case RegClass::kB32: return Op::kMovB32;
    case RegClass::kB64: return Op::kMovB64;
  }
  return Op::kMovB32;
}

// The class of a value that stands at `spec`.
RegClass ClassAt(const OperandSpec& spec, const Modifiers& mods) {
  switch (spec.kind) {
    case OperandKind::kPred: return RegClass::kPred;
    case OperandKind::kB16: return RegClass::kB16;
    case OperandKind::kB64: case OperandKind::kGlobal: return RegClass::kB64;
    case OperandKind::kOfType: return ClassOf(mods.type);
    case OperandKind::kOfFrom: return ClassOf(mods.from);
    default: return RegClass::kB32;
  }
}

Modifiers AccessModifiers(Type type, size_t vec, const Builder::Hint& hint) {
  Modifiers mods;
  mods.type = type;
  mods.vec = static_cast<uint8_t>(vec);
  mods.cache = hint.cache;
  mods.order = hint.order;
  mods.scope = hint.scope;
  return mods;
}

}  // namespace

Builder::Builder(Kernel* kernel) : kernel_(kernel) {
  if (kernel_->body == kNoIndex) kernel_->body = kernel_->NewBlock();
  block_ = kernel_->body;
}

uint32_t Builder::AddPath(absl::string_view path) {
  kernel_->paths.emplace_back(path);
  return static_cast<uint32_t>(kernel_->paths.size() - 1);
}

Reg Builder::NewValue(RegClass c) {
  const Reg r = kernel_->NewReg(c);
  if (is_value_.size() <= r.id) is_value_.resize(2 * size_t{r.id} + 16, false);
  is_value_[r.id] = true;
  return r;
}

bool Builder::IsValue(Operand o) const {
  return !o.is_reg() || (o.value < is_value_.size() && is_value_[o.value]);
}

Instr& Builder::Emit(Op op, absl::Span<const Operand> dsts, absl::Span<const Operand> srcs,
                     Modifiers mods) {
  Instr instr;
  instr.op = op;
  instr.num_dst = static_cast<uint16_t>(dsts.size());
  instr.num_src = static_cast<uint16_t>(srcs.size());
  instr.mods = mods;
  instr.guard = guard_;
  instr.path = path_;
  const uint32_t first = static_cast<uint32_t>(kernel_->operands.size());
  kernel_->operands.insert(kernel_->operands.end(), dsts.begin(), dsts.end());
  kernel_->operands.insert(kernel_->operands.end(), srcs.begin(), srcs.end());
  // Immediates where PTX takes none. The moves go in front, without the guard.
  size_t at = 0;
  for (const OperandSpec& spec : InfoOf(op).src_specs()) {
    const size_t count = spec.count == 0 ? mods.vec : spec.count;
    for (size_t i = 0; i < count && at < srcs.size(); ++i, ++at) {
      const size_t index = first + dsts.size() + at;
      if (!spec.register_only || !kernel_->operands[index].is_imm()) continue;
      const Guard saved = std::exchange(guard_, Guard());
      const RegClass c = ClassAt(spec, mods);
      const Reg r = NewValue(c);
      Emit(MovOf(c), {r}, {kernel_->operands[index]});
      kernel_->operands[index] = r;
      guard_ = saved;
    }
  }
  instr.first_operand = first;
  Node node;
  node.index = static_cast<uint32_t>(kernel_->instrs.size());
  kernel_->instrs.push_back(instr);
  Append(node);
  return kernel_->instrs.back();
}

Instr& Builder::Emit(Op op, std::initializer_list<Operand> dsts,
                     std::initializer_list<Operand> srcs, Modifiers mods) {
  return Emit(op, absl::MakeConstSpan(dsts.begin(), dsts.size()),
              absl::MakeConstSpan(srcs.begin(), srcs.size()), mods);
}

Operand Builder::Value(Op op, std::initializer_list<Operand> srcs, Modifiers mods) {
  std::array<Operand, 4> current;
  size_t count = 0;
  for (const Operand& src : srcs) current[count++] = src;
  for (;;) {
    const Folded folded = Fold(op, mods, absl::MakeConstSpan(current.data(), count));
    if (folded.kind == Folded::Kind::kSame) break;
    if (folded.kind == Folded::Kind::kValue) {
      if (IsValue(folded.value)) return folded.value;
      // A variable: what it holds now.
      const RegClass c = kernel_->ClassOf(folded.value.reg());
      const Reg r = NewValue(c);
      Emit(MovOf(c), {r}, {folded.value});
      return r;
    }
    op = folded.op;
    mods = Modifiers();
    count = folded.num_srcs;
    for (size_t i = 0; i < count; ++i) current[i] = folded.srcs[i];
  }
  const Reg r = NewValue(ClassAt(InfoOf(op).dst_specs()[0], mods));
  const Operand d = r;
  Emit(op, absl::MakeConstSpan(&d, 1), absl::MakeConstSpan(current.data(), count), mods);
  return r;
}

void Builder::Mov(Reg d, Operand source) { Emit(MovOf(kernel_->ClassOf(d)), {d}, {source}); }

Reg Builder::Copy(RegClass c, Operand source) {
  const Reg r = NewReg(c);
  Mov(r, source);
  return r;
}

Reg Builder::Materialize(RegClass c, Operand source) {
  if (source.is_reg()) return source.reg();
  const Reg r = NewValue(c);
  Mov(r, source);
  return r;
}

Reg Builder::Read(Special special) {
  const Reg r = NewValue(RegClass::kB32);
  Mov(r, Operand::Of(special));
  return r;
}

Operand Builder::PackB32(Operand low, Operand high) { return Value(Op::kPackB32, {low, high}); }
Operand Builder::PackB64(Operand low, Operand high) { return Value(Op::kPackB64, {low, high}); }
void Builder::UnpackB32(Reg low, Reg high, Operand source) {
  Emit(Op::kUnpackB32, {low, high}, {source});
}
void Builder::UnpackB64(Reg low, Reg high, Operand source) {
  Emit(Op::kUnpackB64, {low, high}, {source});
}

Operand Builder::Lop3B32(Operand a, Operand b, Operand c, uint8_t table) {
  return Value(Op::kLop3B32, {a, b, c, ImmU32(table)});
}
Operand Builder::BfiB32(Operand field, Operand into, Operand position, Operand length) {
  return Value(Op::kBfiB32, {field, into, position, length});
}

Operand Builder::Cvt(Type to, Type from, Operand source, Round round) {
  Modifiers mods;
  mods.type = to;
  mods.from = from;
  mods.round = round;
  return Value(Op::kCvt, {source}, mods);
}

Operand Builder::CvtSaturate(Type to, Type from, Operand source, Round round) {
  Modifiers mods;
  mods.type = to;
  mods.from = from;
  mods.round = round;
  mods.saturate = true;
  return Value(Op::kCvt, {source}, mods);
}

Reg Builder::LdParam(uint32_t index) {
  Modifiers mods;
  mods.type = kernel_->params[index].type;
  const Reg r = NewValue(ClassOf(mods.type));
  Emit(Op::kLdParam, {r}, {Operand::Param(index)}, mods);
  return r;
}

void Builder::LdGlobal(absl::Span<const Reg> d, Type type, Operand address, Hint hint) {
  const std::vector<Operand> dsts(d.begin(), d.end());
  Emit(Op::kLdGlobal, dsts, {&address, 1}, AccessModifiers(type, d.size(), hint));
}

void Builder::LdShared(absl::Span<const Reg> d, Type type, Operand address) {
  const std::vector<Operand> dsts(d.begin(), d.end());
  Emit(Op::kLdShared, dsts, {&address, 1}, AccessModifiers(type, d.size(), Hint{}));
}

Reg Builder::LdGlobal(Type type, Operand address, Hint hint) {
  const Reg r = NewValue(ClassOf(type));
  LdGlobal({r}, type, address, hint);
  return r;
}

Reg Builder::LdShared(Type type, Operand address) {
  const Reg r = NewValue(ClassOf(type));
  LdShared({r}, type, address);
  return r;
}

void Builder::StGlobal(Operand address, Type type, absl::Span<const Operand> values, Hint hint) {
  std::vector<Operand> srcs = {address};
  srcs.insert(srcs.end(), values.begin(), values.end());
  Emit(Op::kStGlobal, {}, srcs, AccessModifiers(type, values.size(), hint));
}

void Builder::StShared(Operand address, Type type, absl::Span<const Operand> values) {
  std::vector<Operand> srcs = {address};
  srcs.insert(srcs.end(), values.begin(), values.end());
  Emit(Op::kStShared, {}, srcs, AccessModifiers(type, values.size(), Hint{}));
}

Reg Builder::Atom(Op op, Type type, Operand address, Operand value, Hint hint) {
  const Reg r = NewValue(ClassOf(type));
  Emit(op, {r}, {address, value}, AccessModifiers(type, 1, hint));
  return r;
}

Reg Builder::AtomCas(Op op, Type type, Operand address, Operand compared, Operand value,
                     Hint hint) {
  const Reg r = NewValue(ClassOf(type));
  Emit(op, {r}, {address, compared, value}, AccessModifiers(type, 1, hint));
  return r;
}

void Builder::Red(Op op, Type type, Operand address, Operand value, Hint hint) {
  Emit(op, {}, {address, value}, AccessModifiers(type, 1, hint));
}

void Builder::CpAsync(Operand shared, Operand global, int size, Operand source_bytes,
                      CopyPath path) {
  const Op op = size == 4   ? Op::kCpAsyncCa4
                : size == 8 ? Op::kCpAsyncCa8
                : path == CopyPath::kBypassL1 ? Op::kCpAsyncCg16
                                              : Op::kCpAsyncCa16;
  Emit(op, {}, {shared, global, source_bytes});
}

void Builder::Mma(Op op, absl::Span<const Reg> d, absl::Span<const Reg> a, absl::Span<const Reg> b,
                  absl::Span<const Reg> c) {
  std::array<Operand, 16> operands;
  size_t count = 0;
  for (absl::Span<const Reg> group : {d, a, b, c}) {
    for (Reg r : group) operands[count++] = r;
  }
  Emit(op, absl::MakeConstSpan(operands.data(), d.size()),
       absl::MakeConstSpan(operands.data() + d.size(), count - d.size()));
}

void Builder::Ldmatrix(Op op, absl::Span<const Reg> d, Operand address) {
  const std::vector<Operand> dsts(d.begin(), d.end());
  Emit(op, dsts, {&address, 1});
}

void Builder::Stmatrix(Op op, Operand address, absl::Span<const Reg> values) {
  std::vector<Operand> srcs = {address};
  srcs.insert(srcs.end(), values.begin(), values.end());
  Emit(op, {}, srcs);
}

Reg Builder::Shfl(Op op, Operand value, Operand lane) {
  const Reg r = NewValue(RegClass::kB32);
  // The clamp: lane 31, but 0 where lanes count downward.
  const Operand clamp = ImmU32(op == Op::kShflUp ? 0 : 31);
  Emit(op, {r}, {value, lane, clamp, ImmU32(0xffffffff)});
  return r;
}

Reg Builder::VoteAny(Operand pred) {
  const Reg r = NewValue(RegClass::kPred);
  Emit(Op::kVoteAny, {r}, {pred, ImmU32(0xffffffff)});
  return r;
}
Reg Builder::VoteAll(Operand pred) {
  const Reg r = NewValue(RegClass::kPred);
  Emit(Op::kVoteAll, {r}, {pred, ImmU32(0xffffffff)});
  return r;
}
Reg Builder::VoteBallot(Operand pred) {
  const Reg r = NewValue(RegClass::kB32);
  Emit(Op::kVoteBallot, {r}, {pred, ImmU32(0xffffffff)});
  return r;
}

void Builder::Fence(machine::Scope scope) {
  Modifiers mods;
  mods.scope = scope;
  Emit(Op::kFence, {}, {}, mods);
}

void Builder::Printf(absl::string_view format, absl::Span<const Operand> values) {
  std::vector<Operand> srcs = {ImmU32(static_cast<uint32_t>(kernel_->strings.size()))};
  kernel_->strings.emplace_back(format);
  srcs.insert(srcs.end(), values.begin(), values.end());
  Emit(Op::kVprintf, {}, srcs);
}

void Builder::Open(Node node) {
  OpenNode open;
  open.block = block_;
  open.node = static_cast<uint32_t>(kernel_->blocks[block_].nodes.size());
  Append(node);
  open_.push_back(open);
  block_ = node.index;
}

void Builder::BeginIf(Guard condition) {
  Node node;
  node.kind = Node::Kind::kIf;
  node.guard = condition;
  node.index = kernel_->NewBlock();
  Open(node);
}

void Builder::BeginElse() {
  const uint32_t block = kernel_->NewBlock();
  InnermostNode().other = block;
  block_ = block;
}

void Builder::EndIf() {
  block_ = open_.back().block;
  open_.pop_back();
}

void Builder::BeginLoop() {
  Node node;
  node.kind = Node::Kind::kLoop;
  node.index = kernel_->NewBlock();
  Open(node);
}

void Builder::BeginLatch() { BeginElse(); }

void Builder::EndLoop() {
  const OpenNode open = open_.back();
  if (open.counter.valid()) {
    BeginLatch();
    AddS32(open.counter, open.counter, ImmS32(open.step));
  }
  EndIf();
}

void Builder::Break(Guard guard) {
  Node node;
  node.kind = Node::Kind::kBreak;
  node.guard = guard;
  Append(node);
}

void Builder::Continue(Guard guard) {
  Node node;
  node.kind = Node::Kind::kContinue;
  node.guard = guard;
  Append(node);
}

Reg Builder::BeginFor(Operand begin, Operand end, int32_t step) {
  const Reg counter = Copy(RegClass::kB32, begin);
  BeginLoop();
  open_.back().counter = counter;
  open_.back().step = step;
  const Reg done = NewReg(RegClass::kPred);
  SetpS32(done, step > 0 ? Compare::kGe : Compare::kLe, counter, end);
  Break(When(done));
  return counter;
}

}  // namespace tilus::machine

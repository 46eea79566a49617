// Builds a Kernel instruction by instruction.
//
// Every opcode of the families in ops.def has two methods, one that makes a register for its
// answer and one that writes a given register:
//   Reg sum = b.AddS32(x, ImmS32(4));      b.AddS32(sum, sum, y);
// Comparisons take the Compare first: Reg p = b.SetpS32(Compare::kLt, i, n).
//
// The value forms fold as they go: constants when all sources are immediates; x + 0, x * 1, x & ~0,
// shifts by 0; multiplication and unsigned division by powers of two become shifts and masks. So
// they give an Operand, an immediate or a register; Materialize() makes it a register. A register
// that a value form gave holds that value for good (it may be shared): do not write it in place.
// Variables are registers of NewReg(), BeginFor() or Copy(); a value form never returns one.
//
// An immediate where PTX takes none is moved to a register first.
//
// C++ evaluates the arguments of a call in any order: name the parts of an expression when two of
// them emit code, b.AddS32(b.MulLoS32(...), b.ShlB32(...)), or the compiler that built the library
// decides the order of the instructions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "machine/kernel.h"

namespace tilus::machine {

class Builder {
 public:
  // Appends to `kernel`'s body, which is made when there is none. The kernel outlives the builder.
  explicit Builder(Kernel* kernel);

  Kernel& kernel() { return *kernel_; }
  // A variable, to be written in place.
  Reg NewReg(RegClass c) { return kernel_->NewReg(c); }

  // ---- Context of the instructions that follow.
  // The tile instruction that they come from (kNoIndex: none).
  void SetPath(uint32_t path) { path_ = path; }
  uint32_t AddPath(absl::string_view path);
  // The guard of the instructions that follow; Guard() for none. The result of a value form is
  // undefined where the guard fails.
  void SetGuard(Guard guard) { guard_ = guard; }
  Guard guard() const { return guard_; }

  // ---- The families of ops.def.
#define TILUS_OP(...)
#define TILUS_UNARY(Name, ...)                                                  \
  Operand Name(Operand a) { return Value(Op::k##Name, {a}); }                   \
  void Name(Reg d, Operand a) { Emit(Op::k##Name, {d}, {a}); }
#define TILUS_BINARY(Name, ...)                                                 \
  Operand Name(Operand a, Operand b) { return Value(Op::k##Name, {a, b}); }     \
  void Name(Reg d, Operand a, Operand b) { Emit(Op::k##Name, {d}, {a, b}); }
#define TILUS_COMMUTATIVE(Name, ...) TILUS_BINARY(Name, )
#define TILUS_TERNARY(Name, ...)                                                         \
  Operand Name(Operand a, Operand b, Operand c) { return Value(Op::k##Name, {a, b, c}); } \
  void Name(Reg d, Operand a, Operand b, Operand c) { Emit(Op::k##Name, {d}, {a, b, c}); }
#define TILUS_COMPARE(Name, ...)                                                     \
  Operand Name(Compare compare, Operand a, Operand b) {                              \
    return Value(Op::k##Name, {a, b}, CompareModifiers(compare));                    \
  }                                                                                  \
  void Name(Reg d, Compare compare, Operand a, Operand b) {                          \
    Emit(Op::k##Name, {d}, {a, b}, CompareModifiers(compare));                       \
  }
#include "machine/ops.def"
#undef TILUS_OP

  // ---- Moves.
  // Into a register that exists, chosen by its class.
  void Mov(Reg d, Operand source);
  // A new variable with the value of `source`.
  Reg Copy(RegClass c, Operand source);
  // `source` itself when it is a register, else a new register holding it.
  Reg Materialize(RegClass c, Operand source);
  Reg Read(Special special);
  Operand PackB32(Operand low, Operand high);  // halves (b16)
  Operand PackB64(Operand low, Operand high);  // words (b32)
  void UnpackB32(Reg low, Reg high, Operand source);
  void UnpackB64(Reg low, Reg high, Operand source);

  // ---- Rows with modifiers or constants.
  Operand Lop3B32(Operand a, Operand b, Operand c, uint8_t table);
  Operand BfiB32(Operand field, Operand into, Operand position, Operand length);
  Operand Cvt(Type to, Type from, Operand source, Round round = Round::kNone);
  Operand CvtSaturate(Type to, Type from, Operand source, Round round = Round::kNone);

  // ---- Memory. Addresses are a register (or the shared base) with Operand::Plus for the offset.
  // The value of parameter `index` as its declared type.
  Reg LdParam(uint32_t index);
  struct Hint {
    Cache cache = Cache::kDefault;
    Order order = Order::kWeak;
    Scope scope = Scope::kNone;
  };
  // 1, 2 or 4 registers; for each width the class is ClassOf(type).
  void LdGlobal(absl::Span<const Reg> d, Type type, Operand address) {
    LdGlobal(d, type, address, Hint{});
  }
  void LdGlobal(absl::Span<const Reg> d, Type type, Operand address, Hint hint);
  void StGlobal(Operand address, Type type, absl::Span<const Operand> values) {
    StGlobal(address, type, values, Hint{});
  }
  void StGlobal(Operand address, Type type, absl::Span<const Operand> values, Hint hint);
  Reg LdGlobal(Type type, Operand address) { return LdGlobal(type, address, Hint{}); }
  Reg LdGlobal(Type type, Operand address, Hint hint);
  void LdShared(absl::Span<const Reg> d, Type type, Operand address);
  Reg LdShared(Type type, Operand address);
  void StShared(Operand address, Type type, absl::Span<const Operand> values);

  // op is an Atom... (not Cas) row: the old value; a Red... row: Red().
  Reg Atom(Op op, Type type, Operand address, Operand value) {
    return Atom(op, type, address, value, Hint{});
  }
  Reg Atom(Op op, Type type, Operand address, Operand value, Hint hint);
  Reg AtomCas(Op op, Type type, Operand address, Operand compared, Operand value) {
    return AtomCas(op, type, address, compared, value, Hint{});
  }
  Reg AtomCas(Op op, Type type, Operand address, Operand compared, Operand value, Hint hint);
  void Red(Op op, Type type, Operand address, Operand value) {
    Red(op, type, address, value, Hint{});
  }
  void Red(Op op, Type type, Operand address, Operand value, Hint hint);

  // `size` is 4, 8 or 16; `bypass_l1` rows exist for 16. source_bytes: how many are read.
  enum class CopyPath : uint8_t { kThroughL1, kBypassL1 };
  void CpAsync(Operand shared, Operand global, int size, Operand source_bytes, CopyPath path);
  void CpAsyncCommitGroup() { Emit(Op::kCpAsyncCommitGroup, {}, {}); }
  void CpAsyncWaitGroup(int pending) {
    Emit(Op::kCpAsyncWaitGroup, {}, {ImmU32(static_cast<uint32_t>(pending))});
  }
  void CpAsyncWaitAll() { Emit(Op::kCpAsyncWaitAll, {}, {}); }

  // ---- Warp and block. Mma takes any Mma... row; d may be c.
  void Mma(Op op, absl::Span<const Reg> d, absl::Span<const Reg> a, absl::Span<const Reg> b,
           absl::Span<const Reg> c);
  void Ldmatrix(Op op, absl::Span<const Reg> d, Operand address);
  void Stmatrix(Op op, Operand address, absl::Span<const Reg> values);
  // op is a Shfl... row; all 32 lanes, no segments.
  Reg Shfl(Op op, Operand value, Operand lane);
  Reg VoteAny(Operand pred);
  Reg VoteAll(Operand pred);
  Reg VoteBallot(Operand pred);
  void BarSync(Operand id, Operand threads) { Emit(Op::kBarSync, {}, {id, threads}); }
  void BarArrive(Operand id, Operand threads) { Emit(Op::kBarArrive, {}, {id, threads}); }
  void SyncThreads() { BarSync(ImmU32(0), ImmU32(kernel_->num_threads)); }
  void SyncWarp() { Emit(Op::kBarWarpSync, {}, {ImmU32(0xffffffff)}); }
  void Fence(machine::Scope scope);
  void Exit() { Emit(Op::kExit, {}, {}); }
  void Trap() { Emit(Op::kTrap, {}, {}); }
  // `format` as C's printf: %d %u %x take b32, %lld %llu %f %g b64 (floats as f64).
  void Printf(absl::string_view format, absl::Span<const Operand> values);

  // ---- Structure. Begin... and End... nest; Else belongs to the innermost If.
  void BeginIf(Guard condition);
  void BeginElse();
  void EndIf();
  void BeginLoop();
  // What follows, to EndLoop, runs at the end of each round, also after a Continue.
  void BeginLatch();
  void EndLoop();
  void Break(Guard guard = {});
  void Continue(Guard guard = {});
  // for (i = begin; i < end; i += step), signed 32-bit; gives i, which the body may read. end may
  // be a register that the body does not write.
  Reg BeginFor(Operand begin, Operand end, int32_t step);
  void EndFor() { EndLoop(); }

  // ---- Any row, no folding. Sizes must agree with the row (the verifier checks).
  Instr& Emit(Op op, absl::Span<const Operand> dsts, absl::Span<const Operand> srcs,
              Modifiers mods = {});
  Instr& Emit(Op op, std::initializer_list<Operand> dsts, std::initializer_list<Operand> srcs,
              Modifiers mods = {});
  // Any pure row with one destination, with folding.
  Operand Value(Op op, std::initializer_list<Operand> srcs, Modifiers mods = {});

  static Modifiers CompareModifiers(Compare compare) {
    Modifiers mods;
    mods.compare = compare;
    return mods;
  }

 private:
  struct OpenNode {
    uint32_t block;  // where the If or Loop node stands
    uint32_t node;   // its index there
    // Of a counted loop: its counter and step, for the latch.
    Reg counter;
    int32_t step = 0;
  };

  void Append(Node node) { kernel_->blocks[block_].nodes.push_back(node); }
  Node& InnermostNode() { return kernel_->blocks[open_.back().block].nodes[open_.back().node]; }
  void Open(Node node);
  // A register that holds one value for good, and may be shared.
  Reg NewValue(RegClass c);
  bool IsValue(Operand o) const;

  Kernel* kernel_;
  uint32_t block_;
  uint32_t path_ = kNoIndex;
  Guard guard_;
  std::vector<OpenNode> open_;
  std::vector<bool> is_value_;  // by register id
};

// Sets the guard for a scope: { GuardScope g(&b, When(p)); b.StGlobal(...); }
class GuardScope {
 public:
  GuardScope(Builder* builder, Guard guard) : builder_(builder), saved_(builder->guard()) {
    builder_->SetGuard(guard);
  }
  ~GuardScope() { builder_->SetGuard(saved_); }
  GuardScope(const GuardScope&) = delete;
  GuardScope& operator=(const GuardScope&) = delete;

 private:
  Builder* builder_;
  Guard saved_;
};

}  // namespace tilus::machine

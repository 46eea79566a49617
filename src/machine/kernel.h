// The thread-level IR: what one thread of a kernel executes.
//
// A Kernel is a tree of structured nodes (instruction, if, loop, break, continue) over mutable
// virtual registers; it is not SSA, so an accumulator stays in its register through a loop.
// Everything lives in flat vectors of the kernel and refers to other things by index: blocks hold
// nodes, nodes name instructions or blocks, instructions name a range of the operand pool. A pass
// that drops an instruction drops its node; what it leaves behind in the vectors is not printed.
//
// Memory: global (64-bit addresses), shared (32-bit addresses, one region of the block that begins
// at Operand::SharedBase(), aligned to 1024 bytes) and parameters (read by kLdParam).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "machine/op.h"
#include "machine/type.h"

namespace tilus::machine {

inline constexpr uint32_t kNoIndex = 0xffffffff;

struct Reg {
  uint32_t id = kNoIndex;
  bool valid() const { return id != kNoIndex; }
  friend bool operator==(Reg a, Reg b) { return a.id == b.id; }
  friend bool operator!=(Reg a, Reg b) { return a.id != b.id; }
};

// A source or destination of an instruction. `value` is the register id, the immediate's bits
// (zero-extended from the width of the place it stands in), the Special or the parameter index.
// `offset` is used by addresses and parameters: bytes added to the base.
struct Operand {
  enum class Kind : uint8_t { kReg, kImm, kSpecial, kSharedBase, kParam };
  Kind kind = Kind::kImm;
  int32_t offset = 0;
  uint64_t value = 0;

  Operand() = default;
  Operand(Reg r) : kind(Kind::kReg), value(r.id) {}  // NOLINT: implicit by design
  static Operand Imm(uint64_t bits) { return Operand(Kind::kImm, bits, 0); }
  static Operand SharedBase(int32_t offset = 0) { return Operand(Kind::kSharedBase, 0, offset); }
  static Operand Param(uint32_t index, int32_t offset = 0) {
    return Operand(Kind::kParam, index, offset);
  }
  static Operand Of(Special s) { return Operand(Kind::kSpecial, static_cast<uint64_t>(s), 0); }

  // The same address `bytes` further.
  Operand Plus(int32_t bytes) const { return Operand(kind, value, offset + bytes); }

  bool is_reg() const { return kind == Kind::kReg; }
  bool is_imm() const { return kind == Kind::kImm; }
  bool is_imm(uint64_t bits) const { return kind == Kind::kImm && value == bits; }
  Reg reg() const { return Reg{static_cast<uint32_t>(value)}; }
  Special special() const { return static_cast<Special>(value); }
  friend bool operator==(const Operand& a, const Operand& b) {
    return a.kind == b.kind && a.offset == b.offset && a.value == b.value;
  }
  friend bool operator!=(const Operand& a, const Operand& b) { return !(a == b); }

 private:
  Operand(Kind k, uint64_t v, int32_t o) : kind(k), offset(o), value(v) {}
};

// Immediates by type. F16 and BF16 take the bit pattern.
inline Operand ImmS32(int32_t v) { return Operand::Imm(static_cast<uint32_t>(v)); }
inline Operand ImmU32(uint32_t v) { return Operand::Imm(v); }
inline Operand ImmS64(int64_t v) { return Operand::Imm(static_cast<uint64_t>(v)); }
inline Operand ImmB16(uint16_t v) { return Operand::Imm(v); }
Operand ImmF32(float v);
Operand ImmF64(double v);

// When an instruction, break or continue takes effect: always, when a predicate is true, or unless
// it is true.
struct Guard {
  Reg pred;
  bool negated = false;
  bool always() const { return !pred.valid(); }
};
inline Guard When(Reg pred) { return Guard{pred, false}; }
inline Guard Unless(Reg pred) { return Guard{pred, true}; }

// Modifiers; which of them an opcode takes is in the table. All others stay at their defaults.
struct Modifiers {
  Type type = Type::kNone;
  Type from = Type::kNone;  // cvt: the source type
  Compare compare = Compare::kNone;
  Round round = Round::kNone;
  bool saturate = false;
  uint8_t vec = 1;  // 1, 2 or 4 elements of a load or store
  Cache cache = Cache::kDefault;
  Order order = Order::kWeak;
  Scope scope = Scope::kNone;
  friend bool operator==(const Modifiers&, const Modifiers&) = default;
};

struct Instr {
  Op op{};
  uint16_t num_dst = 0;
  uint16_t num_src = 0;
  Modifiers mods;
  Guard guard;
  uint32_t first_operand = 0;  // destinations, then sources, in Kernel::operands
  uint32_t path = kNoIndex;    // of the tile instruction it came from, in Kernel::paths
};

// One node of a block.
struct Node {
  enum class Kind : uint8_t {
    kInstr,     // index = instruction
    kIf,        // guard.pred; index = block when it holds, other = block when not, or kNoIndex
    kLoop,      // index = body, other = latch or kNoIndex: runs after the body and after a continue
    kBreak,     // out of the innermost loop, under guard
    kContinue,  // to the latch of the innermost loop, under guard
  };
  Kind kind = Kind::kInstr;
  uint32_t index = kNoIndex;
  uint32_t other = kNoIndex;
  Guard guard;
};

struct Block {
  std::vector<Node> nodes;
};

struct Param {
  std::string name;
  Type type = Type::kB32;  // kB32/kB64/kB16/kB8...; pointers kB64; byte arrays kNone
  uint32_t size = 4;       // bytes
  uint32_t align = 4;      // bytes
  bool is_pointer = false;
  std::string pointee;         // "f16", "u8", ...; for humans and for the host's checks
  uint32_t pointee_align = 1;  // bytes that the pointer is known to be aligned to
};

// How the shared region is declared. kStatic is limited to 48 KiB; a kDynamic kernel is launched
// with Kernel::shared_bytes of dynamic shared memory.
enum class SharedStorage : uint8_t { kDynamic, kStatic };
inline constexpr uint32_t kMaxStaticSharedBytes = 48 * 1024;

// What a kernel asks of its target beyond what its instructions ask.
struct TargetRequirement {
  uint16_t min_sm = 80;
  // Non-empty: only this target, by name ("sm_90a").
  std::string only;
};

struct Kernel {
  std::string name;
  std::vector<Param> params;
  uint32_t num_threads = 32;  // a multiple of 32, at most 1024; one-dimensional
  uint32_t min_blocks_per_sm = 0;  // 0 = not stated
  uint32_t shared_bytes = 0;
  SharedStorage shared_storage = SharedStorage::kDynamic;
  TargetRequirement requirement;

  std::vector<RegClass> regs;      // class of each register, by id
  std::vector<Operand> operands;   // the pool
  std::vector<Instr> instrs;
  std::vector<Block> blocks;
  uint32_t body = kNoIndex;        // the root block
  std::vector<std::string> strings;  // of printf, without the terminating zero
  std::vector<std::string> paths;    // of tile instructions

  RegClass ClassOf(Reg r) const { return regs[r.id]; }
  Reg NewReg(RegClass c) {
    regs.push_back(c);
    return Reg{static_cast<uint32_t>(regs.size() - 1)};
  }
  uint32_t NewBlock() {
    blocks.emplace_back();
    return static_cast<uint32_t>(blocks.size() - 1);
  }
  absl::Span<const Operand> Dsts(const Instr& i) const {
    return absl::MakeConstSpan(operands.data() + i.first_operand, i.num_dst);
  }
  absl::Span<const Operand> Srcs(const Instr& i) const {
    return absl::MakeConstSpan(operands.data() + i.first_operand + i.num_dst, i.num_src);
  }
  // Valid until an operand is added.
  absl::Span<Operand> MutableDsts(const Instr& i) {
    return absl::MakeSpan(operands.data() + i.first_operand, i.num_dst);
  }
  absl::Span<Operand> MutableSrcs(const Instr& i) {
    return absl::MakeSpan(operands.data() + i.first_operand + i.num_dst, i.num_src);
  }
  // The path of a tile instruction, or empty.
  absl::string_view PathOf(const Instr& i) const {
    return i.path < paths.size() ? absl::string_view(paths[i.path]) : absl::string_view();
  }
  uint32_t dynamic_shared_bytes() const {
    return shared_storage == SharedStorage::kDynamic ? shared_bytes : 0;
  }
};

// Kernels that are printed into one PTX file.
struct Module {
  std::vector<Kernel> kernels;
};

// What an instruction needs of the target: its row's requirement, raised by its modifiers (cvt
// between some types, rounding of tf32).
Requirement RequirementOf(const Instr& instr);

// The bytes that a load or store moves per thread: element size times vec; 0 for other ops.
int AccessBytes(const Instr& instr);

}  // namespace tilus::machine

// The op table: everything that the verifier, the printers, the passes and the simulator need to
// know about an opcode, from the rows of ops.def. An opcode is added by adding a row (and its
// meaning in src/simulate, which checks that it covers the table).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "machine/type.h"

namespace tilus::machine {

enum class Op : uint16_t {
#define TILUS_OP(name, ...) k##name,
#include "machine/ops.def"
#undef TILUS_OP
};

inline constexpr int kNumOps = 0
#define TILUS_OP(name, ...) +1
#include "machine/ops.def"
#undef TILUS_OP
    ;

// What an operand position takes. An operand group is one value, or a tuple of registers that PTX
// writes in braces (vectors and fragments); each element is an operand of the instruction.
enum class OperandKind : uint8_t {
  kNone,
  kPred, kB16, kB32, kB64,  // a value of the class
  kOfType,                  // a value of ClassOf(mods.type)
  kOfFrom,                  // a value of ClassOf(mods.from)
  kGlobal,                  // a generic/global address: kB64 register + offset
  kShared,                  // a shared address: kB32 register, or the shared base, + offset
  kConst,                   // an immediate, always
  kParam,                   // a kernel parameter + offset
  kSource,                  // mov: a value of the destination's class, a special register, or the
                            // shared base
  kRest,                    // any number of registers of any class, to the end
};

struct OperandSpec {
  OperandKind kind = OperandKind::kNone;
  uint8_t count = 1;           // elements; 0 = mods.vec of them
  bool tuple = false;          // in braces, even when it is one
  bool register_only = false;  // no immediate
};

// Flags of an opcode.
enum OpFlag : uint16_t {
  kPure = 1 << 0,         // no effect but its destinations, the same answer for the same operands
  kReads = 1 << 1,        // reads memory
  kWrites = 1 << 2,       // writes memory
  kBarrier = 1 << 3,      // orders memory or waits for other threads
  kAsync = 1 << 4,        // starts, commits or waits for an asynchronous copy
  kConvergent = 1 << 5,   // its answer depends on which lanes run it together
  kControl = 1 << 6,      // ends the thread
  kOutside = 1 << 7,      // seen outside the kernel (printf)
  kCommutative = 1 << 8,  // the first two sources may be exchanged
};

// The lowest PTX ISA version (major * 10 + minor) and sm (80, 89, ...) that accept something.
struct Requirement {
  uint8_t ptx = 70;
  uint8_t sm = 80;
};

inline constexpr int kMaxSpecs = 6;

struct OpInfo {
  Op op{};
  const char* name = "";      // "AddS32"
  const char* mnemonic = "";  // the PTX template, see ops.def
  std::array<OperandSpec, kMaxSpecs> specs{};  // destinations first
  uint8_t num_dst_specs = 0;
  uint8_t num_src_specs = 0;
  uint32_t types = 0;  // allowed mods.type, bit = 1 << Type; 0 = takes none
  uint16_t flags = 0;
  Requirement requirement;
  // Modifiers that the template mentions.
  bool takes_compare = false, takes_round = false, takes_saturate = false, takes_cache = false,
       takes_vector = false, takes_scope = false, takes_order = false, takes_from = false;

  bool Has(OpFlag flag) const { return (flags & flag) != 0; }
  absl::Span<const OperandSpec> dst_specs() const {
    return absl::MakeConstSpan(specs.data(), num_dst_specs);
  }
  absl::Span<const OperandSpec> src_specs() const {
    return absl::MakeConstSpan(specs.data() + num_dst_specs, num_src_specs);
  }
};

const OpInfo& InfoOf(Op op);

constexpr uint32_t TypeBit(Type type) { return uint32_t{1} << static_cast<int>(type); }

}  // namespace tilus::machine

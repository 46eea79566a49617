// A kernel decoded for execution: the tree of nodes as a flat array with jump targets, operands as
// places in the register file.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "machine/kernel.h"
#include "simulate/semantics.h"
#include "simulate/simulate.h"

namespace tilus::simulate {

// Where an operand lives. The register file of a warp holds, one after the other, 32 lanes of
// uint32_t (b16 and b32), 32 lanes of uint64_t (b64) or one uint32_t with a bit per lane (pred).
// Constants lie in a table of the same form that all warps share.
struct Place {
  uint32_t offset = 0;  // bytes, from Warp::base[is_constant]
  uint32_t slot = 0;    // of Warp::states
  int32_t add = 0;      // of addresses: bytes added
  machine::RegClass reg_class{};
  bool is_constant = false;
};

// One step of the flat program.
struct Inst {
  enum class Kind : uint8_t {
    kOp,    // run(warp, inst, lanes)
    kIf,    // target = what follows when no lane takes it: the else part or kEndIf
    kElse,  // target = kEndIf
    kEndIf,
    kLoop,
    kLatch,    // lanes that continued come back
    kEndLoop,  // target = behind kLoop
    kBreak,
    kContinue,
    kEnd,
  };
  Kind kind = Kind::kEnd;
  UndefinedRule rule{};
  machine::Op op{};
  bool guarded = false;
  bool guard_negated = false;
  uint8_t access_bytes = 0;  // of a load or store: per lane
  uint16_t num_dst = 0;
  uint16_t num_src = 0;
  Handler run = nullptr;
  const Place* operands = nullptr;  // destinations, then sources
  Place guard;
  uint32_t target = 0;                  // kOp, kBreak, kContinue: where to go when no lane is left
  uint32_t source = machine::kNoIndex;  // in Kernel::instrs
  machine::Modifiers mods;

  const Place& dst(int i) const { return operands[i]; }
  const Place& src(int i) const { return operands[num_dst + i]; }
};

struct Code {
  const machine::Kernel* kernel = nullptr;
  std::vector<Inst> insts;
  std::vector<Place> operands;
  std::vector<uint8_t> constants;
  uint32_t register_bytes = 0;  // of one warp's register file
  uint32_t num_slots = 0;
  // Registers of a warp that hold the special registers.
  std::array<Place, machine::kNumSpecials> specials;
};

// `arguments` are those of kernel.params: loads of parameters become constants.
Code Decode(const machine::Kernel& kernel, absl::Span<const Argument> arguments);

// The simulated address of the block's shared region.
inline constexpr uint32_t kSharedBase = 1024;

}  // namespace tilus::simulate

// Instructions: one generic record, its meaning in the instruction table (instructions.def).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/expr.h"
#include "ir/tensor.h"

namespace tilus::ir {

enum class ResultKind : uint8_t { kNone, kIndices, kGlobal, kShared, kRegister };

// Attributes an instruction may carry, as bits of a set.
enum Attr : uint32_t {
  kAttrStrides = 1u << 0,  // strides=[exprs]: of a global view, in elements (kept in TensorDecl)
  kAttrClean = 1u << 1,    // clean: the workspace is zero at launch and left zero
  kAttrDims = 1u << 2,     // dims=[ints]: the memory tensor's dimensions that the tile's map to
  kAttrCache = 1u << 3,    // cache=name: a cache hint
  kAttrTile = 1u << 4,     // : type[shape] names a tile although there is no result
  kAttrBits = 1u << 5,     // bits=n: first bit of each thread that a view takes
  kAttrLabel = 1u << 6,    // label="text": what print calls it
};

enum Trait : uint32_t {
  kInPlace = 1u << 0,      // the result may be an existing tensor
  kElementwise = 1u << 1,  // one element of each operand makes one of the result
  kReads = 1u << 2,        // reads memory
  kWrites = 1u << 3,       // writes memory, or is seen outside
  kAsync = 1u << 4,
  kBarrier = 1u << 5,
  kEndsBlock = 1u << 6,
};

enum class Opcode : uint8_t {
#define TILUS_INSTRUCTION(name, text, wire, result, operands, attributes, traits, summary) name,
#include "ir/instructions.def"
#undef TILUS_INSTRUCTION
};

struct InstructionInfo {
  Opcode opcode;
  const char* name;  // as written in text
  int wire;
  ResultKind result;
  const char* operands;  // the letters of instructions.def
  uint32_t attributes;   // set of Attr
  uint32_t traits;       // set of Trait
  const char* summary;
};
const InstructionInfo& InfoOf(Opcode opcode);
const InstructionInfo* FindInstruction(absl::string_view name);  // nullptr when there is none
const InstructionInfo* FindInstructionByWire(int wire);
// What an elementwise instruction computes of each element; nullopt for `where` and for
// instructions that are not elementwise.
std::optional<ScalarOp> ScalarOpOf(Opcode opcode);
absl::Span<const InstructionInfo> AllInstructions();

enum class CacheHint : uint8_t { kDefault, kStreaming, kLastUse, kNoL1 };  // text: cache=streaming

// A tensor, with offsets where it is a tile of memory (one per dimension of the memory tensor), or
// a scalar.
struct TensorOperand {
  TensorId tensor = kNoTensor;
  std::vector<ExprPtr> offsets;  // empty for register tensors; for memory: one per dimension
  bool has_offsets = false;      // false: spelled without brackets, all offsets 0
};
using Operand = std::variant<TensorOperand, ExprPtr>;

struct Instruction {
  Opcode opcode{};
  std::vector<Operand> operands;        // in the order of the table, the destination last
  TensorId result = kNoTensor;          // global, shared and register results
  std::vector<VarId> index_results;     // kIndices
  bool in_place = false;                // `result` was defined before, and is overwritten
  std::optional<std::vector<int>> dims; // kAttrDims; absent: the last dimensions
  CacheHint cache = CacheHint::kDefault;
  std::optional<DataType> tile_dtype;   // kAttrTile
  std::vector<ExprPtr> tile_shape;      // kAttrTile
  std::optional<int64_t> bits;          // kAttrBits
  std::string label;                    // kAttrLabel
};

// The tensor of a TensorOperand, or kNoTensor for a scalar.
TensorId TensorOf(const Operand& operand);
// The expression of a scalar operand, or nullptr.
const ExprPtr& ScalarOf(const Operand& operand);

}  // namespace tilus::ir

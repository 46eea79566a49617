// The table of meanings: what each opcode does to the lanes of a warp.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "machine/op.h"

namespace tilus::simulate {

struct Inst;
struct Warp;

// Runs an instruction for the lanes of `lanes` (not empty).
using Handler = void (*)(Warp& warp, const Inst& inst, uint32_t lanes);

// Which bits of an answer are undefined when bits of the sources are.
enum class UndefinedRule : uint8_t {
  kNone,   // the handler sees to it, or the answer never is
  kAll,    // all, by any bit
  kCarry,  // those from the lowest undefined bit upward
  kAnd,
  kOr,          // not where the other source is a defined 0 (or 1)
  kBits,        // the same bits
  kLop3,        // where the table depends on them
  kStructure1,  // the bits move as the first source says; all others decide where to
  kStructure2,  // ... the first two sources
  kHalves,      // by 16-bit halves
  kPair,        // the high half by the first source, the low half by the second
  kBytePairs,   // two bytes become two halves, or the other way round
};

struct Semantics {
  machine::Op op{};
  Handler run = nullptr;
  UndefinedRule rule = UndefinedRule::kNone;
};

// The row of an opcode; `run` is null when the table lacks it, which a test excludes.
const Semantics& SemanticsOf(machine::Op op);

// The families of rows.
absl::Span<const Semantics> MoveSemantics();
absl::Span<const Semantics> IntegerSemantics();
absl::Span<const Semantics> BitSemantics();
absl::Span<const Semantics> CompareSemantics();
absl::Span<const Semantics> FloatSemantics();
absl::Span<const Semantics> HalfSemantics();
absl::Span<const Semantics> ConvertSemantics();
absl::Span<const Semantics> MemorySemantics();
absl::Span<const Semantics> AtomicSemantics();
absl::Span<const Semantics> AsyncSemantics();
absl::Span<const Semantics> MatrixSemantics();
absl::Span<const Semantics> MmaSemantics();
absl::Span<const Semantics> LaneSemantics();
absl::Span<const Semantics> ControlSemantics();

}  // namespace tilus::simulate

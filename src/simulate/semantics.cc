#include "simulate/semantics.h"

#include <array>
#include <cstddef>

namespace tilus::simulate {
namespace {

using Table = std::array<Semantics, machine::kNumOps>;

Table MakeTable() {
  Table table{};
  const absl::Span<const Semantics> families[] = {
      MoveSemantics(),   IntegerSemantics(), BitSemantics(),     CompareSemantics(),
      FloatSemantics(),  HalfSemantics(),    ConvertSemantics(), MemorySemantics(),
      AtomicSemantics(), AsyncSemantics(),   MatrixSemantics(),  MmaSemantics(),
      LaneSemantics(),   ControlSemantics(),
  };
  for (const absl::Span<const Semantics> family : families) {
    for (const Semantics& row : family) table[static_cast<size_t>(row.op)] = row;
  }
  return table;
}

}  // namespace

const Semantics& SemanticsOf(machine::Op op) {
  static const Table table = MakeTable();
  return table[static_cast<size_t>(op)];
}

}  // namespace tilus::simulate

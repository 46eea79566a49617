// The instruction table.
#include "ir/instruction.h"

#include <gtest/gtest.h>

#include <set>

namespace tilus::ir {
namespace {

TEST(Instructions, RowsAreFoundByNameAndWire) {
  std::set<int> wires;
  for (const InstructionInfo& info : AllInstructions()) {
    EXPECT_EQ(&InfoOf(info.opcode), &info);
    EXPECT_EQ(FindInstruction(info.name), &info);
    EXPECT_EQ(FindInstructionByWire(info.wire), &info);
    EXPECT_TRUE(wires.insert(info.wire).second) << info.name;
    EXPECT_NE(std::string(info.summary), "");
  }
  EXPECT_EQ(FindInstruction("nothing"), nullptr);
  EXPECT_EQ(FindInstructionByWire(-1), nullptr);
}

// An elementwise row is the scalar operation of its name, of as many operands; `where` is the one
// that types/arithmetic.h does not have.
TEST(Instructions, ElementwiseRowsAreScalarOperations) {
  for (const InstructionInfo& info : AllInstructions()) {
    const std::optional<ScalarOp> op = ScalarOpOf(info.opcode);
    const bool expected = (info.traits & kElementwise) != 0 && info.opcode != Opcode::kWhere;
    ASSERT_EQ(op.has_value(), expected) << info.name;
    if (!op) continue;
    EXPECT_EQ(GetScalarOpInfo(*op).arity, static_cast<int>(std::string(info.operands).size()));
    EXPECT_EQ(info.result, ResultKind::kRegister);
  }
}

}  // namespace
}  // namespace tilus::ir

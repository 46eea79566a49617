#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "type_models.h"
#include "types/arithmetic.h"
#include "types/codec.h"

namespace tilus {
namespace {

using Wide = __int128;
using UWide = unsigned __int128;

// The value of an integer code, by definition.
Wide Value(DataType type, uint64_t code) {
  const Wide value = code & CodeMask(type);
  const bool negative = type.kind() == TypeKind::kInt && ((code >> (type.bits() - 1)) & 1);
  return negative ? value - (Wide{1} << type.bits()) : value;
}
uint64_t Wrap(DataType type, Wide value) { return static_cast<uint64_t>(value) & CodeMask(type); }

Wide ModelBinary(ScalarOp op, DataType type, Wide a, Wide b) {
  const Wide count = b < 0 ? 1000 : b;
  switch (op) {
    case ScalarOp::kAdd: return a + b;
    case ScalarOp::kSub: return a - b;
    // Unsigned: the product of two 64-bit values needs all 128 bits.
    case ScalarOp::kMul:
      return static_cast<Wide>(static_cast<UWide>(a) * static_cast<UWide>(b));
    case ScalarOp::kDiv: return b == 0 ? 0 : a / b;
    case ScalarOp::kMod: return b == 0 ? a : a % b;
    case ScalarOp::kMin: return std::min(a, b);
    case ScalarOp::kMax: return std::max(a, b);
    case ScalarOp::kAnd: return a & b;
    case ScalarOp::kOr: return a | b;
    case ScalarOp::kXor: return a ^ b;
    case ScalarOp::kShl:
      return count >= type.bits() ? 0 : static_cast<Wide>(static_cast<UWide>(a) << count);
    case ScalarOp::kShr: return count >= type.bits() ? (a < 0 ? -1 : 0) : a >> count;
    case ScalarOp::kEq: return a == b;
    case ScalarOp::kNe: return a != b;
    case ScalarOp::kLt: return a < b;
    case ScalarOp::kLe: return a <= b;
    case ScalarOp::kGt: return a > b;
    case ScalarOp::kGe: return a >= b;
    default: ADD_FAILURE(); return 0;
  }
}

std::vector<ScalarOp> BinaryOps() {
  std::vector<ScalarOp> ops;
  for (const ScalarOpInfo& info : AllScalarOps()) {
    if (info.arity == 2) ops.push_back(info.op);
  }
  return ops;
}

void CheckBinary(ScalarOp op, DataType type, uint64_t a, uint64_t b) {
  const Wide expected = ModelBinary(op, type, Value(type, a), Value(type, b));
  ASSERT_EQ(EvaluateBinary(op, type, a, b), Wrap(ScalarOpResultType(op, type), expected))
      << GetScalarOpInfo(op).name << " " << type.name() << " " << a << " " << b;
}

TEST(IntegerArithmeticTest, AllOperandsOfNarrowTypes) {
  for (int bits = 1; bits <= 6; ++bits) {
    for (DataType type : {DataType::UInt(bits), DataType::Int(bits)}) {
      for (ScalarOp op : BinaryOps()) {
        for (uint64_t a = 0; a <= CodeMask(type); ++a) {
          for (uint64_t b = 0; b <= CodeMask(type); ++b) CheckBinary(op, type, a, b);
        }
      }
    }
  }
}

TEST(IntegerArithmeticTest, RandomAndExtremeOperandsOfEveryType) {
  std::mt19937_64 random(21);
  for (DataType type : IntegerTypes()) {
    std::vector<uint64_t> operands = {0, 1, 2, CodeMask(type), CodeMask(type) - 1,
                                      LowBits(type.bits() - 1), LowBits(type.bits() - 1) + 1,
                                      static_cast<uint64_t>(type.bits()),
                                      static_cast<uint64_t>(type.bits()) - 1};
    for (int i = 0; i < 60; ++i) operands.push_back(random() >> (i % 64));  // surplus bits too
    for (ScalarOp op : BinaryOps()) {
      for (uint64_t a : operands) {
        for (uint64_t b : operands) CheckBinary(op, type, a, b);
      }
    }
  }
}

TEST(IntegerArithmeticTest, UnaryAndTernary) {
  std::mt19937_64 random(22);
  for (DataType type : IntegerTypes()) {
    for (int i = 0; i < 200; ++i) {
      const uint64_t a = i == 0 ? LowBits(type.bits() - 1) + 1 : random();
      const uint64_t b = random(), c = random();
      const Wide x = Value(type, a), y = Value(type, b), z = Value(type, c);
      ASSERT_EQ(EvaluateUnary(ScalarOp::kNeg, type, a), Wrap(type, -x));
      ASSERT_EQ(EvaluateUnary(ScalarOp::kAbs, type, a), Wrap(type, x < 0 ? -x : x));
      ASSERT_EQ(EvaluateUnary(ScalarOp::kNot, type, a), Wrap(type, ~x));
      ASSERT_EQ(EvaluateTernary(ScalarOp::kFma, type, a, b, c),
                (Wrap(type, x) * Wrap(type, y) + Wrap(type, z)) & CodeMask(type));
      ASSERT_EQ(EvaluateTernary(ScalarOp::kClip, type, a, b, c),
                Wrap(type, std::min(std::max(x, y), z)));
    }
  }
}

TEST(IntegerArithmeticTest, TheNamedEdgeCases) {
  const uint64_t int_min = 0x80000000;
  EXPECT_EQ(EvaluateBinary(ScalarOp::kDiv, kI32, 5, 0), 0u);
  EXPECT_EQ(EvaluateBinary(ScalarOp::kMod, kI32, 5, 0), 5u);
  EXPECT_EQ(EvaluateBinary(ScalarOp::kDiv, kI32, int_min, 0xffffffff), int_min);
  EXPECT_EQ(EvaluateBinary(ScalarOp::kMod, kI32, int_min, 0xffffffff), 0u);
  EXPECT_EQ(EvaluateBinary(ScalarOp::kDiv, kI64, uint64_t{1} << 63, ~uint64_t{0}),
            uint64_t{1} << 63);
  EXPECT_EQ(EvaluateBinary(ScalarOp::kDiv, kI8, 0xf9, 2), 0xfdu);  // -7 / 2 = -3
  EXPECT_EQ(EvaluateBinary(ScalarOp::kMod, kI8, 0xf9, 2), 0xffu);  // -7 % 2 = -1
  EXPECT_EQ(EvaluateBinary(ScalarOp::kShl, kU32, 1, 32), 0u);
  EXPECT_EQ(EvaluateBinary(ScalarOp::kShr, kU32, int_min, 32), 0u);
  EXPECT_EQ(EvaluateBinary(ScalarOp::kShr, kI32, int_min, 40), 0xffffffffu);
  EXPECT_EQ(EvaluateBinary(ScalarOp::kShl, kI8, 1, 0xff), 0u);  // by -1: at least the width
  EXPECT_EQ(EvaluateBinary(ScalarOp::kAdd, DataType::UInt(4), 15, 1), 0u);
  EXPECT_EQ(EvaluateUnary(ScalarOp::kAbs, kI8, 0x80), 0x80u);
}

TEST(BoolArithmeticTest, IsLogical) {
  for (uint64_t a : {0, 1}) {
    EXPECT_EQ(EvaluateUnary(ScalarOp::kNot, kBool, a), 1 - a);
    for (uint64_t b : {0, 1}) {
      EXPECT_EQ(EvaluateBinary(ScalarOp::kAnd, kBool, a, b), a & b);
      EXPECT_EQ(EvaluateBinary(ScalarOp::kOr, kBool, a, b), a | b);
      EXPECT_EQ(EvaluateBinary(ScalarOp::kXor, kBool, a, b), a ^ b);
      EXPECT_EQ(EvaluateBinary(ScalarOp::kMin, kBool, a, b), std::min(a, b));
      EXPECT_EQ(EvaluateBinary(ScalarOp::kMax, kBool, a, b), std::max(a, b));
      EXPECT_EQ(EvaluateBinary(ScalarOp::kEq, kBool, a, b), a == b);
      EXPECT_EQ(EvaluateBinary(ScalarOp::kNe, kBool, a, b), a != b);
      EXPECT_EQ(EvaluateBinary(ScalarOp::kLt, kBool, a, b), a < b);
      EXPECT_EQ(EvaluateBinary(ScalarOp::kGe, kBool, a, b), a >= b);
    }
  }
  EXPECT_EQ(EvaluateBinary(ScalarOp::kXor, kBool, 2, 4), 0u);  // both true
}

TEST(ScalarOpTableTest, NamesFindTheirRowAndFunctionsMatchIt) {
  for (const ScalarOpInfo& info : AllScalarOps()) {
    EXPECT_EQ(ParseScalarOp(info.name), info.op);
    EXPECT_EQ(GetScalarOpInfo(info.op).name, info.name);
    for (DataType type : AllDataTypes()) {
      const bool allowed = IsScalarOpAllowed(info.op, type);
      EXPECT_EQ(FindUnary(info.op, type) != nullptr, allowed && info.arity == 1) << info.name;
      EXPECT_EQ(FindBinary(info.op, type) != nullptr, allowed && info.arity == 2) << info.name;
      EXPECT_EQ(FindTernary(info.op, type) != nullptr, allowed && info.arity == 3) << info.name;
      if (allowed) continue;
      EXPECT_EQ(EvaluateUnary(info.op, type, 1), 0u);
      EXPECT_EQ(EvaluateBinary(info.op, type, 1, 1), 0u);
      EXPECT_EQ(EvaluateTernary(info.op, type, 1, 1, 1), 0u);
    }
  }
  EXPECT_EQ(ParseScalarOp("addd"), std::nullopt);
  EXPECT_FALSE(IsScalarOpAllowed(ScalarOp::kAdd, kBool));
  EXPECT_FALSE(IsScalarOpAllowed(ScalarOp::kAnd, kF32));
  EXPECT_FALSE(IsScalarOpAllowed(ScalarOp::kExp, kI32));
  EXPECT_EQ(ScalarOpResultType(ScalarOp::kLt, kF16), kBool);
  EXPECT_EQ(ScalarOpResultType(ScalarOp::kAdd, kF16), kF16);
}

}  // namespace
}  // namespace tilus

#include "machine/conversion.h"

namespace tilus::machine {
namespace {

constexpr Requirement kBase{70, 80};
constexpr Requirement kHopper{78, 90};

bool IsDirected(Round r) { return r >= Round::kRn && r <= Round::kRp; }
bool IsIntegral(Round r) { return r >= Round::kRni && r <= Round::kRpi; }

// True when every value of `from` is one of `to`.
bool Holds(Type to, Type from) {
  if (IsSigned(to) == IsSigned(from)) return BitsOf(to) >= BitsOf(from);
  return IsSigned(to) && BitsOf(to) > BitsOf(from);
}

// How much a float type holds; bf16 and f16 hold neither the other.
int Rank(Type t) { return t == Type::kF64 ? 3 : t == Type::kF32 ? 2 : 1; }

std::optional<Requirement> Integers(Type to, Type from, Round round, bool sat) {
  if (round != Round::kNone || (sat && Holds(to, from))) return std::nullopt;
  return kBase;
}

std::optional<Requirement> IntegerAndFloat(Type integer, Type real, bool round_ok, bool sat) {
  if (!round_ok || real == Type::kTF32) return std::nullopt;
  if (real != Type::kBF16) return kBase;
  if (sat || BitsOf(integer) < 32) return std::nullopt;
  return kHopper;
}

std::optional<Requirement> Floats(Type to, Type from, Round round, bool sat) {
  const bool bf16 = to == Type::kBF16 || from == Type::kBF16;
  if (from == Type::kTF32 || (sat && (bf16 || to == Type::kTF32))) return std::nullopt;
  if (to == Type::kTF32) {
    if (from != Type::kF32) return std::nullopt;
    if (round == Round::kRna) return kBase;
    if (round == Round::kRn || round == Round::kRz) return kHopper;
    return std::nullopt;
  }
  if (to == from) {
    if (!IsIntegral(round) && !(sat && round == Round::kNone)) return std::nullopt;
    return bf16 ? kHopper : kBase;
  }
  if (Rank(to) > Rank(from)) {
    if (round != Round::kNone) return std::nullopt;
    if (!bf16) return kBase;
    return to == Type::kF32 ? Requirement{71, 80} : kHopper;
  }
  if (!IsDirected(round)) return std::nullopt;
  return bf16 && from != Type::kF32 ? kHopper : kBase;
}

}  // namespace

std::optional<Requirement> ConversionRequirement(Type to, Type from, Round round, Saturation sat) {
  const bool saturate = sat == Saturation::kYes;
  if (IsInteger(to) && IsInteger(from)) return Integers(to, from, round, saturate);
  if (IsFloat(to) && IsInteger(from)) return IntegerAndFloat(from, to, IsDirected(round), saturate);
  if (IsInteger(to) && IsFloat(from)) return IntegerAndFloat(to, from, IsIntegral(round), saturate);
  if (IsFloat(to) && IsFloat(from)) return Floats(to, from, round, saturate);
  return std::nullopt;
}

}  // namespace tilus::machine

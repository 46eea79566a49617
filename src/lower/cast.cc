// Cast: element by element through compute form, or two at a time by a recipe.
//
// A recipe makes a pair of f16 or bf16 from two fields of the source wherever they are: the fields
// are moved to the two halves of a word and turned into floats by bit placement and one operation.
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "ir/local_map.h"
#include "lower/arithmetic.h"
#include "lower/context.h"
#include "lower/elements.h"
#include "lower/families.h"
#include "types/codec.h"

namespace tilus::lower {
namespace {

using machine::Builder;
using machine::ImmU32;
using machine::RegClass;

// Lop3 tables of (a & b) | c and (a & b) ^ c.
constexpr uint8_t kAndOr = 0xea;
constexpr uint8_t kAndXor = 0x6a;

// The field's mask in both halves.
constexpr uint32_t BothHalves(uint32_t half) { return half | half << 16; }

// Fields low and high as (low & mask) | (high & mask) << 16, each at bit `align` of its half, on
// top of `base`: the bits of `base` are or'ed in or, with kAndXor, flipped.
Operand GatherPair(Builder& b, const ElementReader& reader, int64_t low, int64_t high, int align,
                   uint32_t mask, uint32_t base, uint8_t table) {
  const Operand x = reader.FieldAt(low, align);
  const Operand y = reader.FieldAt(high, align + 16);
  if (x == y) return b.Lop3B32(x, ImmU32(BothHalves(mask)), ImmU32(base), table);
  const Operand first = b.Lop3B32(x, ImmU32(mask), ImmU32(base), table);
  return b.Lop3B32(y, ImmU32(mask << 16), first, table);
}

// Integers: the code in the mantissa of a power of two whose unit is 1, minus that power. For
// signed types the sign bit is flipped, which adds 2^(bits - 1).
struct IntRecipe {
  DataType target;
  uint32_t magic;    // the power of two
  int max_bits;      // of the mantissa below it
};
constexpr IntRecipe kIntRecipes[] = {
    {kF16, 0x6400, 10},  // 1024
    {kBF16, 0x4300, 7},  // 128
};

std::optional<Operand> IntPair(Builder& b, const ElementReader& reader, DataType from, DataType to,
                               int64_t low, int64_t high) {
  for (const IntRecipe& recipe : kIntRecipes) {
    if (recipe.target != to || !from.is_integer() || from.bits() > recipe.max_bits) continue;
    const uint32_t mask = (1u << from.bits()) - 1;
    const uint32_t sign = from.is_signed() ? 1u << (from.bits() - 1) : 0;
    const Operand biased = GatherPair(b, reader, low, high, 0, mask,
                                      BothHalves(recipe.magic | sign), kAndXor);
    const Operand bias = b.Materialize(RegClass::kB32, ImmU32(BothHalves(recipe.magic | sign)));
    const Operand word = b.Materialize(RegClass::kB32, biased);
    return to == kF16 ? b.SubF16x2(word, bias) : b.SubBF16x2(word, bias);
  }
  return std::nullopt;
}

// Floats without NaN and infinity that are narrower in every part: exponent and mantissa where the
// target has them, then a multiplication by the power of two between the biases. Exact, subnormals
// included: neither format's multiplication flushes them.
std::optional<Operand> FloatPair(Builder& b, const ElementReader& reader, DataType from,
                                 DataType to, int64_t low, int64_t high) {
  if (from.kind() != TypeKind::kFloat || from.bits() > 8 || from.has_nan()) return std::nullopt;
  if (to != kF16 && to != kBF16) return std::nullopt;
  const int exponent = to.exponent_bits(), mantissa = to.mantissa_bits();
  if (from.exponent_bits() > exponent || from.mantissa_bits() > mantissa) return std::nullopt;
  const int power = to.exponent_bias() - from.exponent_bias();
  const uint64_t scale = EncodeFromDouble(to, static_cast<double>(uint64_t{1} << (power < 63 ? power : 0)));
  if (power >= 63 || DecodeToDouble(to, scale) != static_cast<double>(uint64_t{1} << power)) {
    return std::nullopt;
  }
  const int drop = exponent - from.exponent_bits();
  const uint32_t field = (1u << (from.bits() - 1)) - 1;
  const Operand top = b.Materialize(
      RegClass::kB32, GatherPair(b, reader, low, high, 16 - from.bits(),
                                 ((field << 1) | 1) << (16 - from.bits()), 0, kAndOr));
  const uint32_t body = field << (mantissa - from.mantissa_bits());
  const Operand sign = b.AndB32(top, ImmU32(0x80008000));
  const Operand moved = b.ShrU32(top, ImmU32(static_cast<uint32_t>(drop)));
  const Operand value =
      b.Materialize(RegClass::kB32, b.Lop3B32(moved, ImmU32(BothHalves(body)), sign, kAndOr));
  const Operand factor =
      b.Materialize(RegClass::kB32, ImmU32(BothHalves(static_cast<uint32_t>(scale))));
  return to == kF16 ? b.MulF16x2(value, factor) : b.MulBF16x2(value, factor);
}

using PairRecipe = std::optional<Operand> (*)(Builder& b, const ElementReader& reader,
                                              DataType from, DataType to, int64_t low,
                                              int64_t high);
constexpr PairRecipe kPairRecipes[] = {&IntPair, &FloatPair};

std::optional<RegisterFile> CastByPairs(Builder& b, const ElementReader& reader, DataType from,
                                        DataType to, absl::Span<const int> map) {
  if (to.bits() != 16 || map.size() % 2 != 0) return std::nullopt;
  for (PairRecipe recipe : kPairRecipes) {
    RegisterFile file;
    for (size_t i = 0; i < map.size(); i += 2) {
      const std::optional<Operand> pair = recipe(b, reader, from, to, map[i], map[i + 1]);
      if (!pair) break;
      file.words.push_back(b.Materialize(RegClass::kB32, *pair));
    }
    if (file.words.size() * 2 == map.size()) return file;
  }
  return std::nullopt;
}

}  // namespace

absl::Status LowerCast(Context& ctx, const ir::Instruction& instruction) {
  Builder& b = ctx.b();
  const ir::TensorId source_id = ir::TensorOf(instruction.operands[0]);
  const ir::Tensor& source = ctx.tensor(source_id);
  const ir::Tensor& result = ctx.tensor(instruction.result);
  const std::optional<std::vector<int>> map = ir::LocalMap(*result.layout, *source.layout);
  if (!map) {
    return ctx.Error(DiagId::kInternal, "a cast would need elements of other threads", "");
  }
  const ElementReader reader(b, ctx.Words(source_id), source.dtype);
  if (std::optional<RegisterFile> file =
          CastByPairs(b, reader, source.dtype, result.dtype, *map)) {
    ctx.CommitResult(instruction, *file);
    return absl::OkStatus();
  }
  const ArithmeticOptions options{ctx.options().sm, ctx.program().fast};
  std::vector<Operand> codes;
  for (int local : *map) {
    if (source.dtype == result.dtype) {
      codes.push_back(reader.Code(local));
      continue;
    }
    // f32 NaNs are canonical after a cast, also where the value is not otherwise converted.
    const Operand value = EmitConvert(b, options, source.dtype, result.dtype,
                                      reader.Compute(options, local));
    codes.push_back(ComputeToCode(b, options, result.dtype, value));
  }
  ctx.CommitResult(instruction, PackElements(b, result.dtype, codes));
  return absl::OkStatus();
}

}  // namespace tilus::lower

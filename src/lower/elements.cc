#include "lower/elements.h"

#include "base/checked.h"

namespace tilus::lower {
namespace {

using machine::ImmU32;
using machine::RegClass;

uint32_t Mask(int bits) { return bits >= 32 ? ~0u : (1u << bits) - 1; }

}  // namespace

Operand ElementReader::Code(int64_t i) const {
  const int bits = type_.bits();
  if (bits == 64) return b_.PackB64(Word(2 * i), Word(2 * i + 1));
  const int64_t first = i * bits;
  const int shift = static_cast<int>(first % 32);
  const Operand low = Word(first / 32);
  if (bits == 32) return low;
  if (shift + bits > 32) {
    const Operand joined =
        b_.ShfRWrapB32(low, Word(first / 32 + 1), ImmU32(static_cast<uint32_t>(shift)));
    return b_.AndB32(joined, ImmU32(Mask(bits)));
  }
  if (shift + bits == 32) return b_.ShrU32(low, ImmU32(static_cast<uint32_t>(shift)));
  if (shift == 0) return b_.AndB32(low, ImmU32(Mask(bits)));
  return b_.BfeU32(low, ImmU32(static_cast<uint32_t>(shift)), ImmU32(static_cast<uint32_t>(bits)));
}

Operand ElementReader::Compute(const ArithmeticOptions& options, int64_t i) const {
  const int bits = type_.bits();
  const int shift = static_cast<int>(i * bits % 32);
  if (ComputeTypeOf(type_) == ComputeType::kS32 && bits < 32 && shift + bits <= 32) {
    const Operand word = Word(i * bits / 32);
    if (shift + bits == 32) return b_.ShrS32(word, ImmU32(static_cast<uint32_t>(shift)));
    return b_.BfeS32(word, ImmU32(static_cast<uint32_t>(shift)),
                     ImmU32(static_cast<uint32_t>(bits)));
  }
  return CodeToCompute(b_, options, type_, Code(i));
}

Operand ElementReader::FieldAt(int64_t i, int align) const {
  const int64_t first = i * type_.bits();
  const int shift = static_cast<int>(first % 32);
  const Operand low = Word(first / 32);
  if (shift + type_.bits() <= 32) {
    if (shift >= align) return b_.ShrU32(low, ImmU32(static_cast<uint32_t>(shift - align)));
    return b_.ShlB32(low, ImmU32(static_cast<uint32_t>(align - shift)));
  }
  const Operand high = Word(first / 32 + 1);
  if (shift >= align) {
    return b_.ShfRWrapB32(low, high, ImmU32(static_cast<uint32_t>(shift - align)));
  }
  // The field must move up past the word's end: it is all in the upper part of high:low << n.
  return b_.ShlB32(b_.ShfRWrapB32(low, high, ImmU32(static_cast<uint32_t>(shift))),
                   ImmU32(static_cast<uint32_t>(align)));
}

RegisterFile PackElements(machine::Builder& b, DataType type, absl::Span<const Operand> codes) {
  const int bits = type.bits();
  RegisterFile file;
  if (bits == 64) {
    for (const Operand& code : codes) {
      const Reg low = b.NewReg(RegClass::kB32), high = b.NewReg(RegClass::kB32);
      b.UnpackB64(low, high, code);
      file.words.push_back(low);
      file.words.push_back(high);
    }
    return file;
  }
  const int64_t total = static_cast<int64_t>(codes.size()) * bits;
  std::vector<Operand> words(static_cast<size_t>(CeilDiv(total, 32)), ImmU32(0));
  for (size_t i = 0; i < codes.size(); ++i) {
    const int64_t first = static_cast<int64_t>(i) * bits;
    const size_t w = static_cast<size_t>(first / 32);
    const int shift = static_cast<int>(first % 32);
    if (bits == 16 && shift == 16) {
      words[w] = b.PrmtB32(words[w], codes[i], ImmU32(0x5410));
      continue;
    }
    words[w] = b.OrB32(words[w], b.ShlB32(codes[i], ImmU32(static_cast<uint32_t>(shift))));
    if (shift + bits > 32) {
      words[w + 1] = b.ShrU32(codes[i], ImmU32(static_cast<uint32_t>(32 - shift)));
    }
  }
  for (const Operand& word : words) file.words.push_back(b.Materialize(RegClass::kB32, word));
  return file;
}

}  // namespace tilus::lower

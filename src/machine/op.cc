#include "machine/op.h"

#include <string_view>

namespace tilus::machine {
namespace {

// Values of {type}.
constexpr uint32_t kMemoryTypes =
    TypeBit(Type::kB8) | TypeBit(Type::kB16) | TypeBit(Type::kB32) | TypeBit(Type::kB64) |
    TypeBit(Type::kS8) | TypeBit(Type::kU8) | TypeBit(Type::kS16) | TypeBit(Type::kU16);
constexpr uint32_t kBitTypes = TypeBit(Type::kB32) | TypeBit(Type::kB64);
constexpr uint32_t kIntTypes = TypeBit(Type::kS32) | TypeBit(Type::kU32) | TypeBit(Type::kS64) |
                               TypeBit(Type::kU64);
constexpr uint32_t kAddTypes = TypeBit(Type::kS32) | TypeBit(Type::kU32) | TypeBit(Type::kU64) |
                               TypeBit(Type::kF32) | TypeBit(Type::kF64);
// Pairs are checked by conversion.h.
constexpr uint32_t kCvtTypes =
    kIntTypes | TypeBit(Type::kS8) | TypeBit(Type::kU8) | TypeBit(Type::kS16) |
    TypeBit(Type::kU16) | TypeBit(Type::kF16) | TypeBit(Type::kBF16) | TypeBit(Type::kTF32) |
    TypeBit(Type::kF32) | TypeBit(Type::kF64);

constexpr OperandKind KindOf(char letter) {
  switch (letter) {
    case 'p': return OperandKind::kPred;
    case 'h': return OperandKind::kB16;
    case 'r': return OperandKind::kB32;
    case 'd': return OperandKind::kB64;
    case 'T': return OperandKind::kOfType;
    case 'F': return OperandKind::kOfFrom;
    case 'G': return OperandKind::kGlobal;
    case 'S': return OperandKind::kShared;
    case 'P': return OperandKind::kParam;
    case 'K': return OperandKind::kConst;
    case 'M': return OperandKind::kSource;
    case '*': return OperandKind::kRest;
    default: return OperandKind::kNone;
  }
}

// One operand of a signature from `at`, which moves behind it.
constexpr OperandSpec ParseSpec(std::string_view s, size_t& at) {
  OperandSpec spec;
  spec.kind = KindOf(s[at++]);
  if (at < s.size() && s[at] == '{') {
    spec.tuple = true;
    spec.count = s[at + 1] == 'v' ? 0 : static_cast<uint8_t>(s[at + 1] - '0');
    at += 3;
  }
  if (at < s.size() && s[at] == '!') {
    spec.register_only = true;
    ++at;
  }
  return spec;
}

constexpr bool Mentions(std::string_view mnemonic, std::string_view modifier) {
  return mnemonic.find(modifier) != std::string_view::npos;
}

constexpr OpInfo MakeInfo(Op op, const char* name, const char* mnemonic, std::string_view signature,
                          uint32_t types, int flags, int ptx, int sm) {
  OpInfo info;
  info.op = op;
  info.name = name;
  info.mnemonic = mnemonic;
  info.types = types;
  info.flags = static_cast<uint16_t>(flags);
  info.requirement = {static_cast<uint8_t>(ptx), static_cast<uint8_t>(sm)};
  bool sources = false;
  for (size_t at = 0; at < signature.size();) {
    if (signature[at] == ' ') {
      ++at;
    } else if (signature[at] == '=') {
      sources = true;
      ++at;
    } else {
      OperandSpec spec = ParseSpec(signature, at);
      if (!sources) spec.register_only = true;
      info.specs[info.num_dst_specs + info.num_src_specs] = spec;
      ++(sources ? info.num_src_specs : info.num_dst_specs);
    }
  }
  const std::string_view text = mnemonic;
  info.takes_compare = Mentions(text, "{compare}");
  info.takes_round = Mentions(text, "{round}");
  info.takes_saturate = Mentions(text, "{sat}");
  info.takes_cache = Mentions(text, "{cache}");
  info.takes_vector = Mentions(text, "{vec}");
  info.takes_scope = Mentions(text, "{scope}");
  info.takes_order = Mentions(text, "{order}");
  info.takes_from = Mentions(text, "{from}");
  return info;
}

constexpr OpInfo kTable[] = {
#define TILUS_OP(name, mnemonic, signature, types, flags, ptx, sm) \
  MakeInfo(Op::k##name, #name, mnemonic, signature, types, flags, ptx, sm),
#include "machine/ops.def"
#undef TILUS_OP
};

}  // namespace

const OpInfo& InfoOf(Op op) { return kTable[static_cast<size_t>(op)]; }

}  // namespace tilus::machine

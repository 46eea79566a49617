#include "machine/mnemonic.h"

namespace tilus::machine {
namespace {

void AppendSuffix(std::string* out, absl::string_view text) {
  if (text.empty()) return;
  out->push_back('.');
  out->append(text.data(), text.size());
}

void AppendModifier(std::string* out, absl::string_view name, const Modifiers& mods) {
  switch (name[0]) {
    case 't': out->append(TypeName(mods.type)); return;  // {type}, after a dot of the template
    case 'f': out->append(TypeName(mods.from)); return;
    case 'r': AppendSuffix(out, RoundName(mods.round)); return;
    case 's':
      if (name == "sat") {
        if (mods.saturate) AppendSuffix(out, "sat");
      } else {
        AppendSuffix(out, ScopeName(mods.scope));
      }
      return;
    case 'v':
      if (mods.vec > 1) AppendSuffix(out, mods.vec == 2 ? "v2" : "v4");
      return;
    case 'o': AppendSuffix(out, OrderName(mods.order)); return;
    default:
      AppendSuffix(out, name == "cache" ? CacheName(mods.cache) : CompareName(mods.compare));
  }
}

}  // namespace

void AppendMnemonic(std::string* out, const Instr& instr) {
  for (const char* at = InfoOf(instr.op).mnemonic; *at != '\0' && *at != ' '; ++at) {
    if (*at != '{') {
      out->push_back(*at);
      continue;
    }
    const char* begin = ++at;
    while (*at != '}') ++at;
    AppendModifier(out, absl::string_view(begin, static_cast<size_t>(at - begin)), instr.mods);
  }
}

absl::string_view OperandTemplate(const OpInfo& info) {
  const absl::string_view text = info.mnemonic;
  const size_t space = text.find(' ');
  return space == absl::string_view::npos ? absl::string_view() : text.substr(space + 1);
}

}  // namespace tilus::machine

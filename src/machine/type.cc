#include "machine/type.h"

namespace tilus::machine {

const char* TypeName(Type type) {
  static constexpr const char* kNames[] = {"",    "b8",  "b16", "b32",  "b64",  "s8",  "s16", "s32",
                                           "s64", "u8",  "u16", "u32",  "u64",  "f16", "bf16",
                                           "tf32", "f32", "f64"};
  return kNames[static_cast<int>(type)];
}

const char* ClassName(RegClass c) {
  static constexpr const char* kNames[] = {"pred", "b16", "b32", "b64"};
  return kNames[static_cast<int>(c)];
}

const char* CompareName(Compare compare) {
  static constexpr const char* kNames[] = {"",   "eq", "ne",  "lt",  "le",
                                           "gt", "ge", "neu", "num", "nan"};
  return kNames[static_cast<int>(compare)];
}

const char* RoundName(Round round) {
  static constexpr const char* kNames[] = {"",    "rn",  "rz",  "rm",  "rp",
                                           "rna", "rni", "rzi", "rmi", "rpi"};
  return kNames[static_cast<int>(round)];
}

const char* CacheName(Cache cache) {
  static constexpr const char* kNames[] = {
      "", "nc", "L1::no_allocate", "nc.L1::no_allocate", "L1::evict_first", "L1::evict_last",
      "cg", "cs"};
  return kNames[static_cast<int>(cache)];
}

const char* OrderName(Order order) {
  static constexpr const char* kNames[] = {"", "volatile", "relaxed", "acquire", "release",
                                           "acq_rel"};
  return kNames[static_cast<int>(order)];
}

const char* ScopeName(Scope scope) {
  static constexpr const char* kNames[] = {"", "cta", "cluster", "gpu", "sys"};
  return kNames[static_cast<int>(scope)];
}

const char* SpecialName(Special special) {
  static constexpr const char* kNames[] = {
      "%tid.x",    "%ntid.x",   "%laneid",   "%ctaid.x",     "%ctaid.y", "%ctaid.z",
      "%nctaid.x", "%nctaid.y", "%nctaid.z", "%lanemask_lt", "%smid",    "%dynamic_smem_size"};
  return kNames[static_cast<int>(special)];
}

}  // namespace tilus::machine

// Register classes and the instruction types of the thread-level IR.
//
// A register is a bag of bits; the instruction says how to read them (an .f16x2 add and an .s32
// add both work on kB32 registers), which is what makes View free.
#pragma once

#include <cstdint>

namespace tilus::machine {

enum class RegClass : uint8_t { kPred, kB16, kB32, kB64 };

// Bits of a register of the class (1 for kPred).
constexpr int BitsOf(RegClass c) {
  return c == RegClass::kPred ? 1 : c == RegClass::kB16 ? 16 : c == RegClass::kB32 ? 32 : 64;
}

// Types of instructions that take them as a modifier (loads, stores, atomics, cvt). Most opcodes
// have their type in the name. Packed types (f16x2, ...) only occur in opcode names.
enum class Type : uint8_t {
  kNone,
  kB8, kB16, kB32, kB64,
  kS8, kS16, kS32, kS64,
  kU8, kU16, kU32, kU64,
  kF16, kBF16, kTF32, kF32, kF64,
};

// The register class that holds a value of the type. Integers under 32 bits (and kB8) live in kB32
// registers, sign-extended (kS8, kS16) or zero-extended (kB8, kU8, kU16); kB16, kF16, kBF16 in
// kB16. A store or cvt reads the low bits only.
constexpr RegClass ClassOf(Type type) {
  switch (type) {
    case Type::kB16: case Type::kF16: case Type::kBF16:
      return RegClass::kB16;
    case Type::kB64: case Type::kS64: case Type::kU64: case Type::kF64:
      return RegClass::kB64;
    default:
      return RegClass::kB32;
  }
}

// Bits of the value in memory.
constexpr int BitsOf(Type type) {
  switch (type) {
    case Type::kNone: return 0;
    case Type::kB8: case Type::kS8: case Type::kU8: return 8;
    case Type::kB16: case Type::kS16: case Type::kU16: case Type::kF16: case Type::kBF16:
      return 16;
    case Type::kB64: case Type::kS64: case Type::kU64: case Type::kF64: return 64;
    default: return 32;
  }
}

constexpr bool IsSigned(Type type) { return type >= Type::kS8 && type <= Type::kS64; }
constexpr bool IsUnsigned(Type type) { return type >= Type::kU8 && type <= Type::kU64; }
constexpr bool IsInteger(Type type) { return type >= Type::kS8 && type <= Type::kU64; }
constexpr bool IsFloat(Type type) { return type >= Type::kF16; }

// The PTX suffix: "b32", "s8", "f16", "tf32"; "" for kNone.
const char* TypeName(Type type);
const char* ClassName(RegClass c);  // "pred", "b16", "b32", "b64"

// Comparison of setp. kLt..kGe on floats are ordered (false with a NaN); kNeu is "unordered or not
// equal", the C `!=`. kNum and kNan test for NaN. Integers take kEq..kGe only.
enum class Compare : uint8_t { kNone, kEq, kNe, kLt, kLe, kGt, kGe, kNeu, kNum, kNan };
const char* CompareName(Compare compare);

// Rounding of cvt: to nearest even, toward zero, down, up, to nearest with ties away (tf32); the
// ...i forms round to an integral value (float to integer, or float to the same float).
enum class Round : uint8_t { kNone, kRn, kRz, kRm, kRp, kRna, kRni, kRzi, kRmi, kRpi };
const char* RoundName(Round round);

// Cache behaviour of a global access. kNonCoherent promises that nobody writes the data while the
// kernel runs.
enum class Cache : uint8_t {
  kDefault,
  kNonCoherent,               // ld.global.nc
  kNoAllocate,                // ld.global.L1::no_allocate, st likewise
  kNonCoherentNoAllocate,     // ld.global.nc.L1::no_allocate
  kEvictFirst,                // .L1::evict_first
  kEvictLast,                 // .L1::evict_last
  kCg,                        // .cg: L2 only
  kCs,                        // .cs: streaming
};
const char* CacheName(Cache cache);

// Memory order of an access or atomic, and the threads that it concerns. kWeak and kNone print
// nothing (an atomic is then relaxed at gpu scope); kRelaxed and beyond need a scope. A volatile
// access is not cached, merged or removed.
enum class Order : uint8_t { kWeak, kVolatile, kRelaxed, kAcquire, kRelease, kAcqRel };
enum class Scope : uint8_t { kNone, kCta, kCluster, kGpu, kSys };
const char* OrderName(Order order);
const char* ScopeName(Scope scope);

// Read-only registers of the hardware. There is no warpid: PTX lets it change while a thread runs;
// the warp's index is tid.x / 32 (made uniform by a shuffle from lane 0).
enum class Special : uint8_t {
  kTidX, kNtidX, kLaneId,
  kCtaidX, kCtaidY, kCtaidZ,
  kNctaidX, kNctaidY, kNctaidZ,
  kLanemaskLt, kSmid, kDynamicSmemSize,
};
inline constexpr int kNumSpecials = static_cast<int>(Special::kDynamicSmemSize) + 1;
const char* SpecialName(Special special);  // "%tid.x"

}  // namespace tilus::machine

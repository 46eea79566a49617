// Kernels of one pure instruction, and values to run it on.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "run_kernel.h"

namespace tilus::simulate {

inline constexpr uint64_t kEdges64[] = {
    0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000,
    0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
    0x8000000000000000, 0xfffffffffffffffe, 0xffffffffffffffff,
    // Floats: f32 1, -1, inf, -inf, NaN, subnormal, largest; f64 the same.
    0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x00000001, 0x7f7fffff,
    0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000, 0xfff0000000000000,
    0x7ff8000000000000, 0x7fefffffffffffff, 0x3fe0000000000000, 0x4330000000000001,
    // f16 and bf16: 1, -1, inf, NaN, subnormal, largest.
    0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x0001, 0x7bff, 0x3f80, 0xbf80, 0x7f80, 0x7fc0, 0x7f7f};

inline RegClass ClassOfSpec(machine::OperandKind kind, Type type, Type from) {
  switch (kind) {
    case machine::OperandKind::kPred:
      return RegClass::kPred;
    case machine::OperandKind::kB16:
      return RegClass::kB16;
    case machine::OperandKind::kB64:
      return RegClass::kB64;
    case machine::OperandKind::kOfType:
      return ClassOf(type);
    case machine::OperandKind::kOfFrom:
      return ClassOf(from);
    default:
      return RegClass::kB32;
  }
}

inline uint64_t Mask(RegClass c) {
  return BitsOf(c) == 64 ? ~uint64_t{0} : (uint64_t{1} << BitsOf(c)) - 1;
}

// Fills `kernel` with one instruction on many tuples of sources: out[i] = op(srcs[i]...), the
// answer zero-extended. `in` and `out` outlive the runs. Gives the number of blocks of 32 threads.
inline int64_t BuildOpKernel(TestKernel* kernel, Op op, machine::Modifiers mods,
                             const std::vector<std::vector<uint64_t>>& srcs,
                             std::vector<uint64_t>* in, std::vector<uint64_t>* out) {
  const size_t n = srcs.size(), num_src = srcs[0].size();
  in->assign(n * num_src, 0);
  out->assign(n, 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t s = 0; s < num_src; ++s) (*in)[i * num_src + s] = srcs[i][s];
  }
  TestKernel& k = *kernel;
  Builder& b = k.b();
  const Operand source = k.Buffer(in), target = k.Buffer(out);
  const Operand count = ImmU32(static_cast<uint32_t>(n));
  const Operand index = b.MadLoS32(b.Read(Special::kCtaidX), ImmU32(32), k.Tid());
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kLt, index, count))));
  const Operand at = k.At(source, index, static_cast<uint32_t>(8 * num_src));
  std::vector<Operand> operands;
  size_t s = 0;
  for (const auto& spec : machine::InfoOf(op).src_specs()) {
    for (int j = 0; j < spec.count; ++j, ++s) {
      const int32_t offset = static_cast<int32_t>(8 * s);
      if (spec.kind == machine::OperandKind::kConst) {
        operands.push_back(Operand::Imm(srcs[0][s]));
        continue;
      }
      const RegClass c = ClassOfSpec(spec.kind, mods.type, mods.from);
      if (c == RegClass::kPred) {
        const Reg word = k.LoadGlobal(at.Plus(offset));
        operands.push_back(b.Materialize(c, b.SetpU32(Compare::kNe, word, ImmU32(0))));
      } else {
        const Type type = c == RegClass::kB16   ? Type::kB16
                          : c == RegClass::kB64 ? Type::kB64
                                                : Type::kB32;
        operands.push_back(k.LoadGlobal(at.Plus(offset), type));
      }
    }
  }
  const RegClass c = ClassOfSpec(machine::InfoOf(op).dst_specs()[0].kind, mods.type, mods.from);
  const Reg d = b.NewReg(c);
  b.Emit(op, {Operand(d)}, operands, mods);
  const Operand result = k.At(target, index, 8);
  if (c == RegClass::kPred) {
    b.StGlobal(result, Type::kB32, {b.SelpB32(ImmU32(1), ImmU32(0), d)});
  } else {
    const Type type = c == RegClass::kB16   ? Type::kB16
                      : c == RegClass::kB64 ? Type::kB64
                                            : Type::kB32;
    b.StGlobal(result, type, {d});
  }
  b.EndIf();
  return static_cast<int64_t>((n + 31) / 32);
}

// Tuples of edge values and of random ones.
inline std::vector<std::vector<uint64_t>> Tuples(Op op, machine::Modifiers mods,
                                                 std::mt19937_64* random,
                                                 size_t num_random = 1500) {
  std::vector<RegClass> classes;
  for (const auto& spec : machine::InfoOf(op).src_specs()) {
    for (int j = 0; j < spec.count; ++j) {
      classes.push_back(ClassOfSpec(spec.kind, mods.type, mods.from));
    }
  }
  std::vector<std::vector<uint64_t>> tuples;
  const auto edge = [&] { return kEdges64[(*random)() % std::size(kEdges64)]; };
  if (classes.size() <= 2) {
    for (const uint64_t a : kEdges64) {
      for (const uint64_t b : kEdges64) {
        tuples.push_back({a & Mask(classes[0])});
        if (classes.size() == 2) tuples.back().push_back(b & Mask(classes[1]));
        if (classes.size() == 1) break;
      }
    }
  }
  for (size_t i = 0; i < num_random; ++i) {
    tuples.emplace_back();
    for (const RegClass c : classes) {
      const uint64_t r = (*random)();
      const uint64_t value = r % 3 == 0   ? edge()
                             : r % 3 == 1 ? (*random)() >> ((*random)() % 64)
                                          : (*random)();
      tuples.back().push_back(value & Mask(c));
    }
  }
  return tuples;
}

}  // namespace tilus::simulate

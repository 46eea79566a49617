// The simulator against the hardware: every instruction on edge values and random ones, bit for
// bit where the machine's answer is specified. Skipped where there is no GPU; an error instead when
// the environment has TILUS_REQUIRE_GPU=1.
#include <stdlib.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <random>

#include "../op_kernels.h"
#include "base/status_macros.h"
#include "driver/device.h"
#include "driver/memory.h"
#include "driver/module.h"
#include "driver/stream.h"
#include "machine/conversion.h"
#include "ptx/ptx.h"
#include "types/codec.h"

namespace tilus::simulate {
namespace {

using machine::InfoOf;
using machine::Modifiers;
using machine::Round;

// Whether the answer may be any NaN: of two NaN operands, or a signalling one.
bool UnspecifiedNan(Op op, const Modifiers& mods, const std::vector<uint64_t>& srcs) {
  DataType type = kF64;
  if (op == Op::kCvt) {
    type = mods.from == Type::kF32    ? kF32
           : mods.from == Type::kF16  ? kF16
           : mods.from == Type::kBF16 ? kBF16
                                      : kF64;
    if (!machine::IsFloat(mods.from) || !machine::IsFloat(mods.type)) return false;
  } else if (InfoOf(op).dst_specs()[0].kind != machine::OperandKind::kB64) {
    return false;
  }
  int nans = 0;
  bool signalling = false;
  for (const uint64_t s : srcs) {
    if (!IsNan(type, s)) continue;
    ++nans;
    signalling |= (s >> (type.mantissa_bits() - 1) & 1) == 0;
  }
  return nans > 1 || signalling;
}

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto count = driver::DeviceCount();
    if (count.ok() && *count > 0) {
      context_ = *driver::Context::Retain(0);
      const auto info = *driver::GetDeviceInfo(0);
      sm_ = info.compute_major * 10 + info.compute_minor;
      for (const ptx::Target& target : ptx::Targets()) {
        if (!target.arch_specific && target.sm <= sm_) target_ = target;
      }
      return;
    }
    const char* required = getenv("TILUS_REQUIRE_GPU");
    const std::string reason =
        count.ok() ? "no CUDA device" : std::string(count.status().message());
    if (required != nullptr && std::string(required) == "1") FAIL() << reason;
    GTEST_SKIP() << reason;
  }

  // Runs the kernel on the GPU with copies of its buffers, then in the simulator with the buffers
  // themselves. Gives what the GPU left in the last buffer.
  std::vector<uint8_t> RunBoth(TestKernel* k, int64_t blocks) {
    std::vector<uint8_t> result;
    const absl::Status status = RunOnGpu(k, blocks, &result);
    EXPECT_TRUE(status.ok()) << status;
    k->RunClean({blocks, 1, 1});
    return status.ok() ? result : std::vector<uint8_t>();
  }

  absl::Status RunOnGpu(TestKernel* k, int64_t blocks, std::vector<uint8_t>* result) {
    TILUS_ASSIGN_OR_RETURN(const std::string text, ptx::PrintPtx(k->kernel(), *target_));
    TILUS_ASSIGN_OR_RETURN(const auto module, driver::Module::Load(context_, text));
    TILUS_ASSIGN_OR_RETURN(const auto function, driver::Function::Find(module, "test"));
    std::vector<driver::DeviceAddress> addresses;
    std::vector<void*> pointers;
    for (const Argument& argument : k->arguments()) {
      const size_t bytes = static_cast<size_t>(argument.bytes);
      TILUS_ASSIGN_OR_RETURN(const auto address, driver::Alloc(*context_, bytes));
      TILUS_RETURN_IF_ERROR(driver::CopyToDevice(
          *context_, address, reinterpret_cast<const void*>(argument.value), bytes));
      addresses.push_back(address);
    }
    for (auto& address : addresses) pointers.push_back(&address);
    TILUS_RETURN_IF_ERROR(driver::Launch(function, {static_cast<uint32_t>(blocks), 1, 1},
                                         k->kernel().num_threads, k->kernel().shared_bytes, nullptr,
                                         pointers.data()));
    TILUS_RETURN_IF_ERROR(driver::ContextSynchronize(*context_));
    result->resize(static_cast<size_t>(k->arguments().back().bytes));
    TILUS_RETURN_IF_ERROR(
        driver::CopyToHost(*context_, result->data(), addresses.back(), result->size()));
    for (const auto address : addresses) {
      TILUS_RETURN_IF_ERROR(driver::Free(*context_, address));
    }
    return absl::OkStatus();
  }

  // Bits of the simulator and the GPU for one tuple; true when the difference is allowed.
  using Allowed = std::function<bool(const std::vector<uint64_t>&, uint64_t, uint64_t)>;

  void CompareOp(Op op, Modifiers mods, const std::string& name, const Allowed& allowed) {
    std::mt19937_64 random(static_cast<uint64_t>(op) * 7 + 1);
    auto tuples = Tuples(op, mods, &random);
    if (op == Op::kLop3B32) {
      for (auto& t : tuples) t[3] = 0xe8;
    }
    std::vector<uint64_t> in, out;
    TestKernel k;
    const int64_t blocks = BuildOpKernel(&k, op, mods, tuples, &in, &out);
    const auto bytes = RunBoth(&k, blocks);
    if (bytes.size() != out.size() * 8) return;
    std::vector<uint64_t> gpu(out.size());
    std::memcpy(gpu.data(), bytes.data(), bytes.size());
    int wrong = 0;
    std::string examples;
    for (size_t i = 0; i < out.size(); ++i) {
      if (out[i] == gpu[i]) continue;
      if (allowed(tuples[i], out[i], gpu[i]) || UnspecifiedNan(op, mods, tuples[i])) continue;
      if (++wrong > 3) continue;
      absl::StrAppend(&examples, "\n  (");
      for (const uint64_t s : tuples[i]) absl::StrAppend(&examples, " ", absl::Hex(s));
      absl::StrAppend(&examples, " ): simulator ", absl::Hex(out[i]), ", GPU ", absl::Hex(gpu[i]));
    }
    EXPECT_EQ(wrong, 0) << name << " of " << out.size() << examples;
  }

  std::shared_ptr<driver::Context> context_;
  int sm_ = 0;
  std::optional<ptx::Target> target_;
};

bool Never(const std::vector<uint64_t>&, uint64_t, uint64_t) { return false; }

float F32(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

// Approximations: within 2^-11 relatively (the error of tanh.approx), or within 2^-20 absolutely;
// what is tiny may be flushed to zero.
bool Close(const std::vector<uint64_t>&, uint64_t a, uint64_t b) {
  const float x = F32(a), y = F32(b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) == std::isnan(y);
  if (std::isinf(x) || std::isinf(y)) return x == y;
  return std::fabs(x - y) <= 0x1p-11f * std::fabs(x) || std::fabs(x - y) <= 0x1p-20f;
}

// sin and cos reduce their argument with an error that grows with it.
bool CloseSine(const std::vector<uint64_t>& srcs, uint64_t a, uint64_t b) {
  const float source = std::fabs(F32(srcs[0]));
  if (Close(srcs, a, b)) return true;
  return std::isfinite(source) &&
         (source > 0x1p15f || std::fabs(F32(a) - F32(b)) <= 0x1p-22f * source);
}

TEST_F(GpuTest, PureInstructions) {
  for (int i = 0; i < machine::kNumOps; ++i) {
    const Op op = static_cast<Op>(i);
    const machine::OpInfo& info = InfoOf(op);
    if (!info.Has(machine::kPure) || info.Has(machine::kConvergent) || info.num_dst_specs != 1 ||
        info.dst_specs()[0].count != 1 || info.takes_from || op == Op::kLdParam ||
        info.requirement.sm > sm_) {
      continue;
    }
    const std::string mnemonic = info.mnemonic;
    const bool approximate = mnemonic.find(".approx") != std::string::npos ||
                             mnemonic.find(".full") != std::string::npos;
    const bool division = mnemonic.starts_with("div.s") || mnemonic.starts_with("div.u") ||
                          mnemonic.starts_with("rem.");
    Allowed allowed = Never;
    if (approximate) allowed = Close;
    if (op == Op::kSinApproxF32 || op == Op::kCosApproxF32) allowed = CloseSine;
    if (division) allowed = [](const auto& srcs, uint64_t, uint64_t) { return srcs[1] == 0; };
    std::vector<Modifiers> variants(1);
    if (info.takes_compare) {
      variants.clear();
      for (int c = 1; c <= (op <= Op::kSetpU64 ? 6 : 9); ++c) {
        variants.push_back(Builder::CompareModifiers(static_cast<Compare>(c)));
      }
    }
    for (const Modifiers& mods : variants) CompareOp(op, mods, info.name, allowed);
  }
}

TEST_F(GpuTest, Conversions) {
  const Type types[] = {Type::kS8,  Type::kU8,  Type::kS16, Type::kU16, Type::kS32,
                        Type::kU32, Type::kS64, Type::kU64, Type::kF16, Type::kBF16,
                        Type::kF32, Type::kF64, Type::kTF32};
  for (const Type to : types) {
    for (const Type from : types) {
      for (int round = 0; round <= static_cast<int>(Round::kRpi); ++round) {
        for (const bool saturate : {false, true}) {
          Modifiers mods;
          mods.type = to;
          mods.from = from;
          mods.round = static_cast<Round>(round);
          mods.saturate = saturate;
          const auto need = machine::ConversionRequirement(
              to, from, mods.round,
              saturate ? machine::Saturation::kYes : machine::Saturation::kNo);
          if (!need || need->sm > sm_) continue;
          CompareOp(Op::kCvt, mods,
                    absl::StrCat("cvt", machine::RoundName(mods.round), saturate ? ".sat" : "", ".",
                                 machine::TypeName(to), ".", machine::TypeName(from)),
                    Never);
        }
      }
    }
  }
}

TEST_F(GpuTest, Shuffles) {
  std::mt19937 random(11);
  for (const Op op : {Op::kShflIdx, Op::kShflUp, Op::kShflDown, Op::kShflBfly}) {
    for (int round = 0; round < 8; ++round) {
      // Rows of value, b and c; c is one of a warp's: segments of 4 to 32 lanes.
      std::vector<uint32_t> in(96), out(32);
      const uint32_t c = (32 - (4u << (random() % 4))) << 8 | (random() % 32);
      for (uint32_t t = 0; t < 32; ++t) {
        in[t] = random();
        in[32 + t] = random() % 32;
        in[64 + t] = c;
      }
      TestKernel k;
      const Operand source = k.Buffer(&in), target = k.Buffer(&out);
      std::vector<Operand> srcs;
      for (int row = 0; row < 3; ++row) {
        srcs.push_back(k.LoadGlobal(k.At(source, k.Tid(), 4).Plus(128 * row)));
      }
      srcs.push_back(ImmU32(0xffffffff));
      const Reg d = k.b().NewReg(RegClass::kB32);
      k.b().Emit(op, {Operand(d)}, srcs);
      k.StoreByTid(target, d);
      const auto bytes = RunBoth(&k, 1);
      EXPECT_EQ(std::memcmp(bytes.data(), out.data(), 128), 0) << InfoOf(op).name << " " << c;
    }
  }
}

TEST_F(GpuTest, LdmatrixAndStmatrix) {
  const std::pair<Op, int> rows[] = {
      {Op::kLdmatrixX1, 1},      {Op::kLdmatrixX2, 2},      {Op::kLdmatrixX4, 4},
      {Op::kLdmatrixX1Trans, 1}, {Op::kLdmatrixX2Trans, 2}, {Op::kLdmatrixX4Trans, 4},
      {Op::kStmatrixX1, 1},      {Op::kStmatrixX2, 2},      {Op::kStmatrixX4, 4},
      {Op::kStmatrixX1Trans, 1}, {Op::kStmatrixX2Trans, 2}, {Op::kStmatrixX4Trans, 4}};
  for (const auto& [op, n] : rows) {
    if (InfoOf(op).requirement.sm > sm_) continue;
    std::vector<uint32_t> in(256), out(256);
    for (uint32_t i = 0; i < 256; ++i) in[i] = i * 0x01000193u + 7;
    TestKernel k(32, 1024);
    Builder& b = k.b();
    const Operand source = k.Buffer(&in), target = k.Buffer(&out);
    const Operand row = k.SharedAt(b.AndB32(b.MulLoS32(k.Tid(), ImmU32(5)), ImmU32(31)), 16);
    const auto each = [&](const std::function<void(Operand)>& visit) {
      for (uint32_t i = 0; i < 8; ++i) visit(b.AddS32(k.Tid(), ImmU32(32 * i)));
    };
    each([&](Operand i) {
      b.StShared(k.SharedAt(i, 4), Type::kB32, {k.LoadGlobal(k.At(source, i, 4))});
    });
    b.SyncThreads();
    std::vector<Reg> r;
    for (int m = 0; m < n; ++m) {
      r.push_back(b.Materialize(
          RegClass::kB32, b.MulLoS32(k.Tid(), ImmU32(0x00030007u + static_cast<uint32_t>(m)))));
    }
    if (op >= Op::kStmatrixX1) {
      b.Stmatrix(op, row, r);
    } else {
      for (Reg& reg : r) reg = b.NewReg(RegClass::kB32);
      b.Ldmatrix(op, r, row);
      b.SyncThreads();
      for (int m = 0; m < n; ++m) {
        b.StShared(k.SharedAt(k.Tid(), 4).Plus(128 * m), Type::kB32, {r[static_cast<size_t>(m)]});
      }
    }
    b.SyncThreads();
    each([&](Operand i) {
      b.StGlobal(k.At(target, i, 4), Type::kB32, {k.LoadShared(k.SharedAt(i, 4))});
    });
    const auto bytes = RunBoth(&k, 1);
    EXPECT_EQ(std::memcmp(bytes.data(), out.data(), bytes.size()), 0) << InfoOf(op).name;
  }
}

TEST_F(GpuTest, Mma) {
  struct Row {
    Op op;
    int a, b, c, k;
    enum { kF16, kBF16, kTF32, kInteger } type;
    bool half_sum = false;
  };
  const Row rows[] = {{Op::kMmaM16N8K8F32F16, 2, 1, 4, 8, Row::kF16},
                      {Op::kMmaM16N8K8F16F16, 2, 1, 2, 8, Row::kF16, true},
                      {Op::kMmaM16N8K8F32BF16, 2, 1, 4, 8, Row::kBF16},
                      {Op::kMmaM16N8K16F32F16, 4, 2, 4, 16, Row::kF16},
                      {Op::kMmaM16N8K16F16F16, 4, 2, 2, 16, Row::kF16, true},
                      {Op::kMmaM16N8K16F32BF16, 4, 2, 4, 16, Row::kBF16},
                      {Op::kMmaM16N8K4F32TF32, 2, 1, 4, 4, Row::kTF32},
                      {Op::kMmaM16N8K8F32TF32, 4, 2, 4, 8, Row::kTF32},
                      {Op::kMmaM16N8K16S32S8S8, 2, 1, 4, 16, Row::kInteger},
                      {Op::kMmaM16N8K32S32S8S8, 4, 2, 4, 32, Row::kInteger},
                      {Op::kMmaM16N8K32S32S8U8, 4, 2, 4, 32, Row::kInteger},
                      {Op::kMmaM16N8K32S32U8S8, 4, 2, 4, 32, Row::kInteger},
                      {Op::kMmaM16N8K32S32U8U8, 4, 2, 4, 32, Row::kInteger}};
  std::mt19937 random(13);
  constexpr int64_t kBlocks = 64;
  for (const Row& row : rows) {
    const uint32_t n = static_cast<uint32_t>(row.a + row.b + row.c);
    std::vector<uint32_t> in(kBlocks * 32 * n), out(kBlocks * 32 * static_cast<size_t>(row.c));
    for (size_t i = 0; i < in.size(); ++i) {
      const auto real = [&] { return (static_cast<double>(random() % 4096) - 2048) / 512; };
      const bool is_c = i % n >= static_cast<size_t>(row.a + row.b);
      const auto pair = [&](DataType t) {
        return static_cast<uint32_t>(EncodeFromDouble(t, real()) | EncodeFromDouble(t, real())
                                                                       << 16);
      };
      in[i] =
          row.type == Row::kInteger ? random()
          : is_c ? (row.half_sum ? pair(kF16) : std::bit_cast<uint32_t>(static_cast<float>(real())))
          : row.type == Row::kF16  ? pair(kF16)
          : row.type == Row::kBF16 ? pair(kBF16)
                                   : std::bit_cast<uint32_t>(static_cast<float>(real() * 1.2345));
    }
    TestKernel k;
    Builder& b = k.b();
    const Operand source = k.Buffer(&in), target = k.Buffer(&out);
    const Operand index = b.MadLoS32(b.Read(Special::kCtaidX), ImmU32(32), k.Tid());
    std::vector<Reg> r;
    for (uint32_t i = 0; i < n; ++i) {
      r.push_back(k.LoadGlobal(k.At(source, index, 4 * n).Plus(static_cast<int32_t>(4 * i))));
    }
    const absl::Span<const Reg> all = r;
    const absl::Span<const Reg> c = all.subspan(static_cast<size_t>(row.a + row.b));
    b.Mma(row.op, c, all.subspan(0, static_cast<size_t>(row.a)),
          all.subspan(static_cast<size_t>(row.a), static_cast<size_t>(row.b)), c);
    for (int i = 0; i < row.c; ++i) {
      b.StGlobal(k.At(target, index, static_cast<uint32_t>(4 * row.c)).Plus(4 * i), Type::kB32,
                 {c[static_cast<size_t>(i)]});
    }
    const auto bytes = RunBoth(&k, kBlocks);
    ASSERT_EQ(bytes.size(), out.size() * 4);
    std::vector<uint32_t> gpu(out.size());
    std::memcpy(gpu.data(), bytes.data(), bytes.size());
    // |products| <= 16 (25 for tf32): the bound of the semantics, 2 (K + 1) 2^-23 sum |a||b|.
    const double bound = row.half_sum ? 2 * (row.k + 1) * 0x1p-10 * 16 * row.k * 0.05
                                      : 2 * (row.k + 1) * 0x1p-23 * 25 * row.k;
    double worst = 0;
    size_t different = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      if (row.type == Row::kInteger) {
        ASSERT_EQ(out[i], gpu[i]) << InfoOf(row.op).name;
        continue;
      }
      different += out[i] != gpu[i];
      for (int h = 0; h < (row.half_sum ? 2 : 1); ++h) {
        const double x =
            row.half_sum ? DecodeToDouble(kF16, out[i] >> (16 * h) & 0xffff) : F32(out[i]);
        const double y =
            row.half_sum ? DecodeToDouble(kF16, gpu[i] >> (16 * h) & 0xffff) : F32(gpu[i]);
        worst = std::max(worst, std::fabs(x - y));
      }
    }
    EXPECT_LE(worst, bound) << InfoOf(row.op).name;
    printf("%s: largest difference %g, %zu of %zu registers differ\n", InfoOf(row.op).name, worst,
           different, out.size());
  }
}

TEST_F(GpuTest, AtomicsOfOneThread) {
  const std::pair<Op, Type> rows[] = {
      {Op::kAtomGlobalAdd, Type::kS32}, {Op::kAtomGlobalAdd, Type::kU64},
      {Op::kAtomGlobalAdd, Type::kF32}, {Op::kAtomGlobalAdd, Type::kF64},
      {Op::kAtomGlobalMin, Type::kS32}, {Op::kAtomGlobalMin, Type::kU32},
      {Op::kAtomGlobalMin, Type::kS64}, {Op::kAtomGlobalMax, Type::kU64},
      {Op::kAtomGlobalMax, Type::kS32}, {Op::kAtomGlobalAnd, Type::kB32},
      {Op::kAtomGlobalOr, Type::kB64},  {Op::kAtomGlobalXor, Type::kB32},
      {Op::kAtomGlobalExch, Type::kB64}};
  for (const auto& [op, type] : rows) {
    std::vector<uint64_t> in, memory;
    for (const uint64_t a : kEdges64) {
      for (const uint64_t b : kEdges64) {
        memory.push_back(a);
        in.push_back(b);
      }
    }
    const Type whole = BitsOf(type) == 64 ? Type::kB64 : Type::kB32;
    TestKernel k;
    Builder& b = k.b();
    const Operand source = k.Buffer(&in), target = k.Buffer(&memory);
    const Operand index = b.MadLoS32(b.Read(Special::kCtaidX), ImmU32(32), k.Tid());
    b.BeginIf(
        When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kLt, index,
                                                      ImmU32(static_cast<uint32_t>(in.size()))))));
    b.Atom(op, type, k.At(target, index, 8), k.LoadGlobal(k.At(source, index, 8), whole));
    b.EndIf();
    std::vector<uint64_t> before = memory;
    const auto bytes = RunBoth(&k, static_cast<int64_t>((in.size() + 31) / 32));
    std::vector<uint64_t> gpu(memory.size());
    std::memcpy(gpu.data(), bytes.data(), bytes.size());
    int wrong = 0;
    for (size_t i = 0; i < gpu.size(); ++i) {
      if (gpu[i] == memory[i]) continue;
      if (type == Type::kF64 && UnspecifiedNan(Op::kAddF64, {}, {before[i], in[i]})) continue;
      if (++wrong <= 3) {
        ADD_FAILURE() << InfoOf(op).name << " " << machine::TypeName(type) << std::hex << " "
                      << before[i] << " " << in[i] << ": simulator " << memory[i] << ", GPU "
                      << gpu[i];
      }
    }
  }
}

TEST_F(GpuTest, AsynchronousCopies) {
  for (const int size : {4, 8, 16}) {
    std::vector<uint32_t> in(256), out(128);
    for (uint32_t i = 0; i < 256; ++i) in[i] = i * 0x9e3779b9u;
    TestKernel k(32, 512);
    Builder& b = k.b();
    const Operand source = k.Buffer(&in), target = k.Buffer(&out);
    const Operand at = k.SharedAt(k.Tid(), 16);
    b.StShared(at, Type::kB32, {k.Tid(), k.Tid(), k.Tid(), k.Tid()});
    b.CpAsync(at, k.At(source, k.Tid(), 16), size,
              b.RemU32(k.Tid(), ImmU32(static_cast<uint32_t>(size) + 1)),
              Builder::CopyPath::kThroughL1);
    b.CpAsyncCommitGroup();
    b.CpAsyncWaitGroup(0);
    const Reg r[4] = {b.NewReg(RegClass::kB32), b.NewReg(RegClass::kB32), b.NewReg(RegClass::kB32),
                      b.NewReg(RegClass::kB32)};
    b.LdShared(r, Type::kB32, at);
    b.StGlobal(k.At(target, k.Tid(), 16), Type::kB32, {r[0], r[1], r[2], r[3]});
    const auto bytes = RunBoth(&k, 1);
    EXPECT_EQ(std::memcmp(bytes.data(), out.data(), bytes.size()), 0) << size;
  }
}

}  // namespace
}  // namespace tilus::simulate

// mma.sync m16n8kK: D = A B + C over the fragments of a warp.
//
// With g = lane / 4 and t = lane % 4, register r of A holds row g + 8 (r % 2) and, with E elements
// a register, columns 4 E (r / 2) + E t to E t + E - 1 behind it; register r of B holds the same
// rows of k at column g; the accumulators are rows g and g + 8, columns 2 t and 2 t + 1.
//
// Floats: the K products are summed in f64, in order of k from 0, then C is added, and the sum is
// rounded once to the accumulator's type. The hardware's sum is less exact; the bound of the
// semantics covers both. tf32 sources count without their low 13 bits. Integers wrap.
#include <cmath>

#include "simulate/access.h"
#include "simulate/converge.h"
#include "types/codec.h"
#include "types/half.h"

namespace tilus::simulate {
namespace {

using machine::Op;

constexpr int kM = 16;
constexpr int kN = 8;

// ---- Elements of A and B: how many a register holds, and what they stand for.
struct F16 {
  using Value = double;
  static constexpr int kPerRegister = 2;
  static Value Get(uint32_t r, int e) { return F16ToF32(static_cast<uint16_t>(r >> (16 * e))); }
};
struct BF16 {
  using Value = double;
  static constexpr int kPerRegister = 2;
  static Value Get(uint32_t r, int e) { return BF16ToF32(static_cast<uint16_t>(r >> (16 * e))); }
};
struct TF32 {
  using Value = double;
  static constexpr int kPerRegister = 1;
  static Value Get(uint32_t r, int) { return std::bit_cast<float>(r & 0xffffe000); }
};
struct S8 {
  using Value = int32_t;
  static constexpr int kPerRegister = 4;
  static Value Get(uint32_t r, int e) { return static_cast<int8_t>(r >> (8 * e)); }
};
struct U8 {
  using Value = int32_t;
  static constexpr int kPerRegister = 4;
  static Value Get(uint32_t r, int e) { return static_cast<uint8_t>(r >> (8 * e)); }
};

// ---- Accumulators.
struct F32Sum {
  static constexpr int kPerRegister = 1;
  static double Get(uint32_t r, int) { return std::bit_cast<float>(r); }
  static uint32_t Put(double sum) { return ToLane<float>(static_cast<float>(sum)); }
};
struct F16Sum {
  static constexpr int kPerRegister = 2;
  static double Get(uint32_t r, int e) { return F16ToF32(static_cast<uint16_t>(r >> (16 * e))); }
  static uint32_t Put(double sum) {
    return std::isnan(sum) ? kNanHalf : static_cast<uint32_t>(EncodeFromDouble(kF16, sum));
  }
};
struct S32Sum {
  static constexpr int kPerRegister = 1;
  static int32_t Get(uint32_t r, int) { return static_cast<int32_t>(r); }
  static uint32_t Put(int32_t sum) { return static_cast<uint32_t>(sum); }
};

// Which rows of A, columns of B and accumulators hold undefined bits.
struct UndefinedParts {
  bool row[kM] = {};
  bool column[kN] = {};
  bool sum[kM][kN] = {};
};

template <typename A, typename B, typename Sum, int kK>
class Mma {
  static constexpr int kE = A::kPerRegister;
  static constexpr int kARegisters = kM * kK / (kLanes * kE);
  static constexpr int kBRegisters = kN * kK / (kLanes * kE);
  static constexpr int kSumRegisters = 4 / Sum::kPerRegister;
  using Value = typename A::Value;
  using Accumulator = decltype(Sum::Get(0, 0));

 public:
  static void Run(Warp& warp, const Inst& inst, uint32_t lanes) {
    if (!RequireAllLanes(warp, inst, lanes)) return;
    Value a[kM][kK], b[kK][kN];
    Accumulator d[kM][kN] = {};
    LoadA(warp, inst, a);
    LoadB(warp, inst, b);
    Multiply(a, b, d);
    const bool undefined = warp.UndefinedSources(inst, kAllLanes) != 0;
    UndefinedParts parts;
    if (undefined) FindUndefined(warp, inst, &parts);
    AddAndStore(warp, inst, d);
    StoreUndefined(warp, inst, undefined, parts);
  }

 private:
  static constexpr int RowOf(int lane, int r) { return lane / 4 + 8 * (r % 2); }
  static constexpr int DepthOf(int lane, int r, int e) { return r * 4 * kE + lane % 4 * kE + e; }
  // Of accumulator i of 4.
  static constexpr int SumRow(int lane, int i) { return lane / 4 + 8 * (i / 2); }
  static constexpr int SumColumn(int lane, int i) { return lane % 4 * 2 + i % 2; }

  static const Place& SourceC(const Inst& inst, int i) {
    return inst.src(kARegisters + kBRegisters + i / Sum::kPerRegister);
  }

  static void LoadA(const Warp& warp, const Inst& inst, Value (&a)[kM][kK]) {
    for (int r = 0; r < kARegisters; ++r) {
      const uint32_t* lanes = warp.B32(inst.src(r));
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int e = 0; e < kE; ++e) {
          a[RowOf(lane, r)][DepthOf(lane, r / 2, e)] = A::Get(lanes[lane], e);
        }
      }
    }
  }

  static void LoadB(const Warp& warp, const Inst& inst, Value (&b)[kK][kN]) {
    for (int r = 0; r < kBRegisters; ++r) {
      const uint32_t* lanes = warp.B32(inst.src(kARegisters + r));
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int e = 0; e < kE; ++e) {
          b[DepthOf(lane, r, e)][lane / 4] = B::Get(lanes[lane], e);
        }
      }
    }
  }

  static void Multiply(const Value (&a)[kM][kK], const Value (&b)[kK][kN],
                       Accumulator (&d)[kM][kN]) {
    for (int m = 0; m < kM; ++m) {
      for (int k = 0; k < kK; ++k) {
        // Products of 32 bytes stay far from the limits of 32 bits.
        for (int n = 0; n < kN; ++n) d[m][n] += a[m][k] * b[k][n];
      }
    }
  }

  static Accumulator Plus(Accumulator x, Accumulator y) {
    if constexpr (std::is_integral_v<Accumulator>) {
      return static_cast<int32_t>(static_cast<uint32_t>(x) + static_cast<uint32_t>(y));
    } else {
      return x + y;
    }
  }

  static void AddAndStore(const Warp& warp, const Inst& inst, const Accumulator (&d)[kM][kN]) {
    // D may be C: all of C is read before any of D is written.
    alignas(64) uint32_t out[kSumRegisters][kLanes] = {};
    for (int i = 0; i < 4; ++i) {
      const uint32_t* c = warp.B32(SourceC(inst, i));
      const int r = i / Sum::kPerRegister, e = i % Sum::kPerRegister;
      for (int lane = 0; lane < kLanes; ++lane) {
        const Accumulator sum = Plus(d[SumRow(lane, i)][SumColumn(lane, i)], Sum::Get(c[lane], e));
        out[r][lane] |= Sum::Put(sum) << (32 / Sum::kPerRegister * e % 32);
      }
    }
    for (int r = 0; r < kSumRegisters; ++r) WriteLanes(warp, inst.dst(r), kAllLanes, out[r]);
  }

  static uint64_t SumMask(int i) {
    return Sum::kPerRegister == 1 ? 0xffffffff : uint64_t{0xffff} << (16 * (i % 2));
  }

  static void FindUndefined(const Warp& warp, const Inst& inst, UndefinedParts* parts) {
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int r = 0; r < kARegisters; ++r) {
        if (warp.UndefinedBits(inst.src(r), lane) != 0) parts->row[RowOf(lane, r)] = true;
      }
      for (int r = 0; r < kBRegisters; ++r) {
        if (warp.UndefinedBits(inst.src(kARegisters + r), lane) != 0) {
          parts->column[lane / 4] = true;
        }
      }
      for (int i = 0; i < 4; ++i) {
        if ((warp.UndefinedBits(SourceC(inst, i), lane) & SumMask(i)) != 0) {
          parts->sum[SumRow(lane, i)][SumColumn(lane, i)] = true;
        }
      }
    }
  }

  static void StoreUndefined(const Warp& warp, const Inst& inst, bool any,
                             const UndefinedParts& parts) {
    for (int r = 0; r < kSumRegisters; ++r) {
      if (!any) {
        warp.SetDefined(inst.dst(r), kAllLanes);
        continue;
      }
      LaneBits bits;
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int i = r * Sum::kPerRegister; i < (r + 1) * Sum::kPerRegister; ++i) {
          const int m = SumRow(lane, i), n = SumColumn(lane, i);
          if (parts.row[m] || parts.column[n] || parts.sum[m][n]) bits.bits[lane] |= SumMask(i);
        }
      }
      warp.SetUndefinedBits(inst.dst(r), kAllLanes, bits);
    }
  }
};

constexpr Semantics kRows[] = {
    {Op::kMmaM16N8K8F32F16, Mma<F16, F16, F32Sum, 8>::Run},
    {Op::kMmaM16N8K8F16F16, Mma<F16, F16, F16Sum, 8>::Run},
    {Op::kMmaM16N8K8F32BF16, Mma<BF16, BF16, F32Sum, 8>::Run},
    {Op::kMmaM16N8K16F32F16, Mma<F16, F16, F32Sum, 16>::Run},
    {Op::kMmaM16N8K16F16F16, Mma<F16, F16, F16Sum, 16>::Run},
    {Op::kMmaM16N8K16F32BF16, Mma<BF16, BF16, F32Sum, 16>::Run},
    {Op::kMmaM16N8K4F32TF32, Mma<TF32, TF32, F32Sum, 4>::Run},
    {Op::kMmaM16N8K8F32TF32, Mma<TF32, TF32, F32Sum, 8>::Run},
    {Op::kMmaM16N8K16S32S8S8, Mma<S8, S8, S32Sum, 16>::Run},
    {Op::kMmaM16N8K32S32S8S8, Mma<S8, S8, S32Sum, 32>::Run},
    {Op::kMmaM16N8K32S32S8U8, Mma<S8, U8, S32Sum, 32>::Run},
    {Op::kMmaM16N8K32S32U8S8, Mma<U8, S8, S32Sum, 32>::Run},
    {Op::kMmaM16N8K32S32U8U8, Mma<U8, U8, S32Sum, 32>::Run},
};

}  // namespace

absl::Span<const Semantics> MmaSemantics() { return kRows; }

}  // namespace tilus::simulate

// ldmatrix and stmatrix: 8 x 8 matrices of 16-bit elements between shared memory and fragments.
//
// Row r of matrix m is the 16 bytes at the address that lane 8 m + r gives. In the fragment, lane l
// holds elements (l / 4, 2 (l % 4)) and the one behind it, or, with .trans, (2 (l % 4), l / 4) and
// the one below it; the first in the low half of register m.
#include "simulate/access.h"
#include "simulate/converge.h"

namespace tilus::simulate {
namespace {

using machine::Op;

constexpr int kRows = 8;
constexpr uint32_t kRowBytes = 16;

enum class Order : uint8_t { kPlain, kTrans };

// The element of a matrix that half `h` of a lane's register is.
struct Element {
  int row, column;
};
Element ElementOf(Order order, int lane, int h) {
  const int slow = lane / 4, fast = lane % 4 * 2 + h;
  return order == Order::kPlain ? Element{slow, fast} : Element{fast, slow};
}

template <int kMatrices, Order kOrder>
void LoadMatrix(Warp& warp, const Inst& inst, uint32_t lanes) {
  if (!RequireAllLanes(warp, inst, lanes)) return;
  SharedMemory& shared = warp.block->shared();
  const uint32_t row_lanes = kMatrices == 4 ? kAllLanes : (1u << (kMatrices * kRows)) - 1;
  uint32_t offsets[kLanes];
  const uint32_t good = LocateShared(warp, inst, inst.src(0), row_lanes, kRowBytes, offsets);
  shared.CountWavefronts(good, offsets, kRowBytes);
  uint16_t rows[kLanes][kRows] = {}, undefined[kLanes][kRows] = {};
  ForEachLane(good, [&](int lane) {
    shared.Load({warp, inst, lane}, offsets[lane], kRowBytes, Strength::kWeak, rows[lane],
                undefined[lane]);
  });
  for (int m = 0; m < kMatrices; ++m) {
    alignas(64) uint32_t out[kLanes] = {};
    LaneBits bits;
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int h = 0; h < 2; ++h) {
        const Element e = ElementOf(kOrder, lane, h);
        out[lane] |= uint32_t{rows[m * kRows + e.row][e.column]} << (16 * h);
        bits.bits[lane] |= uint64_t{undefined[m * kRows + e.row][e.column]} << (16 * h);
      }
    }
    WriteLanes(warp, inst.dst(m), kAllLanes, out);
    warp.SetUndefinedBits(inst.dst(m), kAllLanes, bits);
  }
}

template <int kMatrices, Order kOrder>
void StoreMatrix(Warp& warp, const Inst& inst, uint32_t lanes) {
  if (!RequireAllLanes(warp, inst, lanes)) return;
  SharedMemory& shared = warp.block->shared();
  const uint32_t row_lanes = kMatrices == 4 ? kAllLanes : (1u << (kMatrices * kRows)) - 1;
  uint32_t offsets[kLanes];
  const uint32_t good = LocateShared(warp, inst, inst.src(0), row_lanes, kRowBytes, offsets);
  shared.CountWavefronts(good, offsets, kRowBytes);
  uint16_t rows[kLanes][kRows] = {}, undefined[kLanes][kRows] = {};
  for (int m = 0; m < kMatrices; ++m) {
    const Place& source = inst.src(1 + m);
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint64_t bits = warp.UndefinedBits(source, lane);
      for (int h = 0; h < 2; ++h) {
        const Element e = ElementOf(kOrder, lane, h);
        rows[m * kRows + e.row][e.column] =
            static_cast<uint16_t>(warp.B32(source)[lane] >> (16 * h));
        undefined[m * kRows + e.row][e.column] = static_cast<uint16_t>(bits >> (16 * h));
      }
    }
  }
  ForEachLane(good, [&](int lane) {
    shared.Store({warp, inst, lane}, offsets[lane], kRowBytes, Strength::kWeak, rows[lane],
                 undefined[lane]);
  });
}

constexpr Semantics kMatrixRows[] = {
    {Op::kLdmatrixX1, LoadMatrix<1, Order::kPlain>},
    {Op::kLdmatrixX2, LoadMatrix<2, Order::kPlain>},
    {Op::kLdmatrixX4, LoadMatrix<4, Order::kPlain>},
    {Op::kLdmatrixX1Trans, LoadMatrix<1, Order::kTrans>},
    {Op::kLdmatrixX2Trans, LoadMatrix<2, Order::kTrans>},
    {Op::kLdmatrixX4Trans, LoadMatrix<4, Order::kTrans>},
    {Op::kStmatrixX1, StoreMatrix<1, Order::kPlain>},
    {Op::kStmatrixX2, StoreMatrix<2, Order::kPlain>},
    {Op::kStmatrixX4, StoreMatrix<4, Order::kPlain>},
    {Op::kStmatrixX1Trans, StoreMatrix<1, Order::kTrans>},
    {Op::kStmatrixX2Trans, StoreMatrix<2, Order::kTrans>},
    {Op::kStmatrixX4Trans, StoreMatrix<4, Order::kTrans>},
};

}  // namespace

absl::Span<const Semantics> MatrixSemantics() { return kMatrixRows; }

}  // namespace tilus::simulate

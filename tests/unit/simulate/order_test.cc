// Barriers, races and asynchronous copies.
#include "run_kernel.h"

namespace tilus::simulate {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Every thread writes its word of shared memory and reads that of the thread `distance` behind.
Report Exchange(uint32_t threads, uint32_t distance, bool barrier, bool warp_sync = false,
                uint64_t seed = 0) {
  std::vector<uint32_t> out(threads);
  TestKernel k(threads, threads * 4);
  Builder& b = k.b();
  const Operand target = k.Buffer(&out);
  b.StShared(k.SharedAt(k.Tid(), 4), Type::kB32, {k.Tid()});
  if (barrier) b.SyncThreads();
  if (warp_sync) b.SyncWarp();
  const Operand other = b.RemU32(b.AddS32(k.Tid(), ImmU32(distance)), ImmU32(threads));
  k.StoreByTid(target, k.LoadShared(k.SharedAt(other, 4)));
  k.options().schedule_seed = seed;
  const Report report = k.Run();
  if (barrier) {
    for (uint32_t t = 0; t < threads; ++t) EXPECT_EQ(out[t], (t + distance) % threads);
  }
  return report;
}

TEST(Races, ReadAfterWriteBetweenWarps) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_THAT(Faults(Exchange(128, 32, false, false, seed)), Contains(Fault::kRace)) << seed;
    EXPECT_THAT(Faults(Exchange(128, 32, true, false, seed)), IsEmpty()) << seed;
  }
}

TEST(Races, BetweenLanesOfAWarpBarWarpSyncIsEnough) {
  EXPECT_THAT(Faults(Exchange(32, 1, false)), ElementsAre(Fault::kRace));
  EXPECT_THAT(Faults(Exchange(32, 1, false, true)), IsEmpty());
  // But not between warps.
  EXPECT_THAT(Faults(Exchange(64, 32, false, true)), Contains(Fault::kRace));
}

TEST(Races, AThreadMayReadItsOwnWrite) { EXPECT_THAT(Faults(Exchange(64, 0, false)), IsEmpty()); }

// All read, then all write elsewhere: the barrier between is needed as well.
TEST(Races, WriteAfterRead) {
  for (const bool barrier : {false, true}) {
    std::vector<uint32_t> out(64);
    TestKernel k(64, 256);
    Builder& b = k.b();
    const Operand target = k.Buffer(&out);
    const Operand mine = k.SharedAt(k.Tid(), 4);
    const Operand other = k.SharedAt(b.XorB32(k.Tid(), ImmU32(32)), 4);
    b.StShared(mine, Type::kB32, {k.Tid()});
    b.SyncThreads();
    const Reg r = k.LoadShared(other);
    if (barrier) b.SyncThreads();
    b.StShared(mine, Type::kB32, {ImmU32(7)});
    k.StoreByTid(target, r);
    const Report report = k.Run();
    if (barrier) {
      EXPECT_THAT(Faults(report), IsEmpty());
    } else {
      // Whoever comes second finds it: the load of one warp, the store of the other.
      EXPECT_THAT(Faults(report), ElementsAre(Fault::kRace, Fault::kRace));
      EXPECT_THAT(Messages(report), HasSubstr("read by warp"));
      EXPECT_THAT(Messages(report), HasSubstr("written by warp"));
    }
  }
}

TEST(Races, LanesOfOneStoreThatWriteDifferentValues) {
  for (const bool same : {false, true}) {
    TestKernel k(32, 64);
    k.b().StShared(k.SharedAt(k.b().AndB32(k.Tid(), ImmU32(15)), 4), Type::kB32,
                   {same ? ImmU32(3) : k.Tid()});
    const Report report = k.Run();
    EXPECT_EQ(report.findings.size(), same ? 0u : 1u) << Messages(report);
  }
}

TEST(Races, BytesOfAWordAreApart) {
  TestKernel k(64, 64);
  k.b().StShared(k.SharedAt(k.Tid(), 1), Type::kB8, {k.Tid()});
  EXPECT_THAT(Faults(k.Run()), IsEmpty());
}

TEST(Races, AtomicsDoNotRaceButPlainAccessesWithThemDo) {
  for (const bool plain : {false, true}) {
    std::vector<uint32_t> out(64);
    TestKernel k(64, 4);
    Builder& b = k.b();
    const Operand target = k.Buffer(&out);
    b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kEq, k.Tid(), ImmU32(0)))));
    b.StShared(Operand::SharedBase(), Type::kB32, {ImmU32(0)});
    b.EndIf();
    b.SyncThreads();
    b.Red(Op::kRedSharedAdd, Type::kU32, Operand::SharedBase(), ImmU32(1));
    if (!plain) b.SyncThreads();
    k.StoreByTid(target, k.LoadShared(Operand::SharedBase()));
    const Report report = k.Run();
    EXPECT_EQ(report.findings.empty(), !plain) << Messages(report);
    if (!plain) {
      EXPECT_EQ(out[63], 64u);
    }
  }
}

TEST(Races, GlobalMemoryBetweenWarps) {
  for (const bool barrier : {false, true}) {
    std::vector<uint32_t> scratch(64), out(64);
    TestKernel k(64);
    Builder& b = k.b();
    const Operand at = k.Buffer(&scratch), target = k.Buffer(&out);
    k.StoreByTid(at, b.AddS32(k.Tid(), ImmU32(1)));
    if (barrier) b.SyncThreads();
    const Operand other = b.XorB32(k.Tid(), ImmU32(32));
    k.StoreByTid(target, k.LoadGlobal(k.At(at, other, 4)));
    const Report report = k.Run();
    EXPECT_EQ(report.findings.empty(), barrier) << Messages(report);
    if (!barrier) {
      EXPECT_EQ(report.findings[0].fault, Fault::kRace);
    }
  }
}

TEST(Races, TwoWarpsThatWriteDifferentValuesToGlobalMemory) {
  for (const bool same : {false, true}) {
    std::vector<uint32_t> out(32);
    TestKernel k(64);
    Builder& b = k.b();
    const Operand target = k.Buffer(&out);
    const Operand lane = b.Read(Special::kLaneId);
    b.StGlobal(k.At(target, lane, 4), Type::kB32, {same ? lane : k.Tid()});
    EXPECT_EQ(k.Run().findings.empty(), same);
  }
}

TEST(Races, ANonCoherentLoadOfWhatTheKernelWrites) {
  std::vector<uint32_t> data(32), out(32);
  TestKernel k(32);
  Builder& b = k.b();
  const Operand at = k.Buffer(&data), target = k.Buffer(&out);
  k.StoreByTid(at, k.Tid());
  const Reg r = b.NewReg(RegClass::kB32);
  Builder::Hint hint;
  hint.cache = machine::Cache::kNonCoherent;
  b.LdGlobal({r}, Type::kB32, k.At(at, k.Tid(), 4), hint);
  k.StoreByTid(target, r);
  EXPECT_THAT(Faults(k.Run()), ElementsAre(Fault::kRace));
}

// A release store and an acquire load of a flag order what stands before and behind them.
TEST(Races, ReleaseAndAcquireOrderWarps) {
  for (const bool ordered : {false, true}) {
    std::vector<uint32_t> data(32), flag(1, 0), out(32);
    TestKernel k(64);
    Builder& b = k.b();
    const Operand at = k.Buffer(&data), flag_at = k.Buffer(&flag), target = k.Buffer(&out);
    const Operand lane = b.Read(Special::kLaneId);
    Builder::Hint acquire, release;
    acquire.order = ordered ? machine::Order::kAcquire : machine::Order::kRelaxed;
    release.order = ordered ? machine::Order::kRelease : machine::Order::kRelaxed;
    acquire.scope = release.scope = machine::Scope::kGpu;
    const Reg producer =
        b.Materialize(RegClass::kPred, b.SetpU32(Compare::kGe, k.Tid(), ImmU32(32)));
    b.BeginIf(When(producer));
    b.StGlobal(k.At(at, lane, 4), Type::kB32, {b.AddS32(lane, ImmU32(5))});
    b.SyncWarp();
    b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kEq, lane, ImmU32(0)))));
    b.StGlobal(flag_at, Type::kB32, {ImmU32(1)}, release);
    b.EndIf();
    b.BeginElse();
    const Reg seen = b.NewReg(RegClass::kB32);
    b.BeginLoop();
    b.LdGlobal({seen}, Type::kB32, flag_at, acquire);
    b.Break(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kEq, seen, ImmU32(1)))));
    b.EndLoop();
    b.StGlobal(k.At(target, lane, 4), Type::kB32, {k.LoadGlobal(k.At(at, lane, 4))});
    b.EndIf();
    const Report report = k.Run();
    EXPECT_EQ(report.findings.empty(), ordered) << Messages(report);
    EXPECT_EQ(out[31], 36u);
  }
}

// ---- Barriers.

// Half the warps arrive for the others, who wait: producers and consumers by two numbers.
TEST(Barriers, ArriveAndSyncByNumber) {
  std::vector<uint32_t> out(64);
  TestKernel k(128, 256);
  Builder& b = k.b();
  const Operand target = k.Buffer(&out);
  const Operand index = b.AndB32(k.Tid(), ImmU32(63));
  const Reg producer = b.Materialize(RegClass::kPred, b.SetpU32(Compare::kGe, k.Tid(), ImmU32(64)));
  b.BeginIf(When(producer));
  b.StShared(k.SharedAt(index, 4), Type::kB32, {k.Tid()});
  b.BarArrive(ImmU32(3), ImmU32(128));
  b.BeginElse();
  b.BarSync(ImmU32(3), ImmU32(128));
  const Operand other = b.XorB32(index, ImmU32(33));
  b.StGlobal(k.At(target, index, 4), Type::kB32, {k.LoadShared(k.SharedAt(other, 4))});
  b.EndIf();
  k.RunClean();
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], 64 + (t ^ 33));
}

TEST(Barriers, AnArrivalDoesNotOrderTheOneWhoDoesNotWait) {
  std::vector<uint32_t> out(64);
  TestKernel k(64, 128);
  Builder& b = k.b();
  const Operand lane = b.Read(Special::kLaneId);
  const Operand at = k.SharedAt(lane, 4);
  const Operand target = k.Buffer(&out);
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kLt, k.Tid(), ImmU32(32)))));
  b.StShared(at, Type::kB32, {lane});
  b.BarSync(ImmU32(1), ImmU32(64));
  b.BeginElse();
  b.BarArrive(ImmU32(1), ImmU32(64));
  k.StoreByTid(target, k.LoadShared(at));
  b.EndIf();
  EXPECT_THAT(Faults(k.Run()), Contains(Fault::kRace));
}

TEST(Barriers, OneThatNotAllReachIsADeadlock) {
  TestKernel k(96);
  Builder& b = k.b();
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kLt, k.Tid(), ImmU32(64)))));
  b.SyncThreads();
  b.EndIf();
  const Report report = k.Run();
  EXPECT_THAT(Faults(report), ElementsAre(Fault::kDeadlock));
  EXPECT_THAT(report.findings[0].message,
              HasSubstr("warp 0 at barrier 0 (64 of 96 threads), warp 1"));
}

TEST(Barriers, LanesThatAreElsewhereAreFound) {
  TestKernel k(32);
  Builder& b = k.b();
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kLt, k.Tid(), ImmU32(16)))));
  b.SyncThreads();
  b.EndIf();
  const Report report = k.Run();
  EXPECT_THAT(Faults(report), ElementsAre(Fault::kDivergence));
  EXPECT_THAT(report.findings[0].message, HasSubstr("0xffff0000"));
}

TEST(Barriers, CountsThatDisagreeAreFound) {
  TestKernel k(64);
  Builder& b = k.b();
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kLt, k.Tid(), ImmU32(32)))));
  b.BarSync(ImmU32(0), ImmU32(64));
  b.BeginElse();
  b.BarSync(ImmU32(0), ImmU32(32));
  b.EndIf();
  EXPECT_THAT(Faults(k.Run()), Contains(Fault::kDivergence));
}

// ---- Asynchronous copies.

// Copies 16 bytes a thread in two groups, waits for `pending` and reads the first.
Report CopyAndRead(int pending, bool barrier, bool wait = true) {
  std::vector<uint32_t> in(512), out(64);
  for (uint32_t i = 0; i < 512; ++i) in[i] = i + 1;
  TestKernel k(64, 2048);
  Builder& b = k.b();
  const Operand source = k.Buffer(&in), target = k.Buffer(&out);
  for (int stage = 0; stage < 2; ++stage) {
    b.CpAsync(k.SharedAt(k.Tid(), 16).Plus(1024 * stage),
              k.At(source, k.Tid(), 16).Plus(1024 * stage), 16, ImmU32(16),
              Builder::CopyPath::kBypassL1);
    b.CpAsyncCommitGroup();
  }
  if (wait) b.CpAsyncWaitGroup(pending);
  if (barrier) b.SyncThreads();
  const Operand other = b.XorB32(k.Tid(), ImmU32(32));
  k.StoreByTid(target, k.LoadShared(k.SharedAt(other, 16)));
  const Report report = k.Run();
  if (report.clean()) {
    for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], 4 * (t ^ 32) + 1);
  }
  return report;
}

TEST(AsyncCopy, WaitAndBarrierMakeTheDataVisible) {
  EXPECT_THAT(Faults(CopyAndRead(1, true)), IsEmpty());
  EXPECT_THAT(Faults(CopyAndRead(0, true)), IsEmpty());
}

TEST(AsyncCopy, AMissingWaitIsFound) {
  const Report report = CopyAndRead(0, true, /*wait=*/false);
  EXPECT_THAT(Faults(report), Contains(Fault::kRace));
  EXPECT_THAT(Messages(report), HasSubstr("not waited for"));
  EXPECT_THAT(Faults(report), Contains(Fault::kUninitialised));
}

TEST(AsyncCopy, AWaitForTooFewGroupsIsFound) {
  EXPECT_THAT(Faults(CopyAndRead(2, true)), Contains(Fault::kRace));
}

TEST(AsyncCopy, AMissingBarrierIsFound) {
  EXPECT_THAT(Faults(CopyAndRead(0, false)), Contains(Fault::kRace));
}

TEST(AsyncCopy, BytesBehindTheSourceBecomeZero) {
  for (const int size : {4, 8, 16}) {
    std::vector<uint8_t> in(16, 0xee), out(16);
    TestKernel k(32, 32);
    Builder& b = k.b();
    const Operand source = k.Pointer(in.data(), size - 1), target = k.Buffer(&out);
    b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kEq, k.Tid(), ImmU32(0)))));
    b.CpAsync(Operand::SharedBase(), source, size, ImmU32(static_cast<uint32_t>(size) - 1),
              Builder::CopyPath::kThroughL1);
    b.CpAsyncWaitAll();
    for (int i = 0; i < size; i += 4) {
      b.StGlobal(target.Plus(i), Type::kB32, {k.LoadShared(Operand::SharedBase(i))});
    }
    b.EndIf();
    k.RunClean();
    for (int i = 0; i < size; ++i) EXPECT_EQ(out[static_cast<size_t>(i)], i < size - 1 ? 0xee : 0);
  }
}

TEST(AsyncCopy, SourcesOutsideABufferAreFound) {
  std::vector<uint32_t> in(64);
  TestKernel k(32, 512);
  Builder& b = k.b();
  const Operand source = k.Buffer(&in);
  b.CpAsync(k.SharedAt(k.Tid(), 16), k.At(source, k.Tid(), 16), 16, ImmU32(16),
            Builder::CopyPath::kBypassL1);
  b.CpAsyncWaitAll();
  const Report report = k.Run();
  EXPECT_THAT(Faults(report), ElementsAre(Fault::kOutOfBounds));
  EXPECT_THAT(report.findings[0].message, HasSubstr("lane 16"));
}

// A ring of stages: with the barrier before the refill missing, a copy overwrites what a slow warp
// still reads.
TEST(AsyncCopy, APipelineWithoutItsSecondBarrierIsFound) {
  for (const bool barrier : {false, true}) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      std::vector<uint32_t> in(64 * 8), out(64, 0);
      for (uint32_t i = 0; i < in.size(); ++i) in[i] = i * i;
      TestKernel k(64, 2 * 256);
      Builder& b = k.b();
      const Operand source = k.Buffer(&in), target = k.Buffer(&out);
      const Operand mine = k.SharedAt(k.Tid(), 4);
      const Operand other = k.SharedAt(b.XorB32(k.Tid(), ImmU32(32)), 4);
      const auto copy = [&](Operand round) {
        const Operand stage = b.ShlB32(b.AndB32(round, ImmU32(1)), ImmU32(8));
        b.CpAsync(b.AddS32(mine, stage), k.At(k.At(source, round, 256), k.Tid(), 4), 4, ImmU32(4),
                  Builder::CopyPath::kThroughL1);
      };
      copy(ImmU32(0));
      b.CpAsyncCommitGroup();
      const Reg sum = b.Copy(RegClass::kB32, ImmU32(0));
      const Reg i = b.BeginFor(ImmU32(0), ImmU32(8), 1);
      const Operand next = b.AddS32(i, ImmU32(1));
      b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpS32(Compare::kLt, next, ImmU32(8)))));
      copy(next);
      b.EndIf();
      b.CpAsyncCommitGroup();
      b.CpAsyncWaitGroup(1);
      b.SyncThreads();
      const Operand stage = b.ShlB32(b.AndB32(i, ImmU32(1)), ImmU32(8));
      b.AddS32(sum, sum, k.LoadShared(b.AddS32(other, stage)));
      if (barrier) b.SyncThreads();
      b.EndFor();
      k.StoreByTid(target, sum);
      k.options().schedule_seed = seed;
      const Report report = k.Run();
      EXPECT_EQ(report.findings.empty(), barrier) << seed << Messages(report);
      if (!barrier) continue;
      for (uint32_t t = 0; t < 64; ++t) {
        uint32_t want = 0;
        for (uint32_t r = 0; r < 8; ++r) want += in[r * 64 + (t ^ 32)];
        EXPECT_EQ(out[t], want);
      }
    }
  }
}

TEST(Findings, OneOfAKindPerInstructionUpToTheLimit) {
  TestKernel k(64, 64);
  Builder& b = k.b();
  const Operand outside = k.SharedAt(k.Tid(), 64).Plus(64);
  for (int i = 0; i < 40; ++i) b.StShared(outside, Type::kB32, {k.Tid()});
  k.options().max_findings = 5;
  EXPECT_EQ(k.Run().findings.size(), 5u);
  // Those of one tile instruction are one.
  TestKernel one(64, 64);
  one.b().SetPath(one.b().AddPath("test.body[0]"));
  const Operand far = one.SharedAt(one.Tid(), 64).Plus(64);
  for (int i = 0; i < 40; ++i) one.b().StShared(far, Type::kB32, {one.Tid()});
  EXPECT_EQ(one.Run({2, 1, 1}).findings.size(), 1u);
}

}  // namespace
}  // namespace tilus::simulate

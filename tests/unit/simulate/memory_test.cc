// Loads, stores, atomics, copies: what they move, and the faults that are found.
#include <algorithm>
#include <random>
#include <set>

#include "run_kernel.h"

namespace tilus::simulate {
namespace {

using machine::Cache;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Access {
  Type type;
  int vec;
};

class Copies : public ::testing::TestWithParam<Access> {};

// global -> registers -> shared -> registers -> global, each lane its own bytes.
TEST_P(Copies, EveryWidthMovesItsBytes) {
  const auto [type, vec] = GetParam();
  const uint32_t bytes = static_cast<uint32_t>(BitsOf(type)) / 8 * static_cast<uint32_t>(vec);
  std::vector<uint8_t> in(32 * bytes), out(32 * bytes, 0);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 37 + 11);
  TestKernel k(32, 32 * bytes);
  const Operand source = k.Buffer(&in), target = k.Buffer(&out);
  Builder& b = k.b();
  std::vector<Reg> r, s;
  for (int i = 0; i < vec; ++i) {
    r.push_back(b.NewReg(ClassOf(type)));
    s.push_back(b.NewReg(ClassOf(type)));
  }
  b.LdGlobal(r, type, k.At(source, k.Tid(), bytes));
  const Operand at = k.SharedAt(k.Tid(), bytes);
  b.StShared(at, type, std::vector<Operand>(r.begin(), r.end()));
  b.LdShared(s, type, at);
  b.StGlobal(k.At(target, k.Tid(), bytes), type, std::vector<Operand>(s.begin(), s.end()));
  k.RunClean();
  EXPECT_EQ(in, out);
}

INSTANTIATE_TEST_SUITE_P(Memory, Copies,
                         ::testing::Values(Access{Type::kB8, 1}, Access{Type::kB8, 2},
                                           Access{Type::kB8, 4}, Access{Type::kS8, 1},
                                           Access{Type::kU8, 4}, Access{Type::kB16, 1},
                                           Access{Type::kB16, 4}, Access{Type::kS16, 2},
                                           Access{Type::kU16, 1}, Access{Type::kB32, 1},
                                           Access{Type::kB32, 2}, Access{Type::kB32, 4},
                                           Access{Type::kB64, 1}, Access{Type::kB64, 2}));

TEST(Memory, LoadsExtendBySign) {
  std::vector<uint8_t> in = {0x80, 0xff, 0x7f, 0x01};
  std::vector<uint32_t> out(4);
  TestKernel k;
  const Operand source = k.Buffer(&in), target = k.Buffer(&out);
  Builder& b = k.b();
  const Type types[] = {Type::kS8, Type::kU8, Type::kS16, Type::kU16};
  for (int i = 0; i < 4; ++i) {
    const Reg r = k.LoadGlobal(source, types[i]);
    b.StGlobal(target.Plus(4 * i), Type::kB32, {r});
  }
  k.RunClean();
  EXPECT_THAT(out, ElementsAre(0xffffff80, 0x80, 0xffffff80, 0xff80));
}

TEST(Memory, ParametersOfEveryWidth) {
  std::vector<uint64_t> out(4);
  TestKernel k;
  const Operand target = k.Buffer(&out);
  Builder& b = k.b();
  b.StGlobal(target, Type::kB64, {k.Scalar(Type::kB64, 0x123456789abcdef0)});
  b.StGlobal(target.Plus(8), Type::kB32, {k.Scalar(Type::kS8, 0x80)});
  b.StGlobal(target.Plus(16), Type::kB32, {k.Scalar(Type::kU16, 0xffff)});
  b.StGlobal(target.Plus(24), Type::kB32, {k.Scalar(Type::kB32, 7)});
  k.RunClean();
  EXPECT_THAT(out, ElementsAre(0x123456789abcdef0, 0xffffff80, 0xffff, 7));
}

TEST(Memory, GlobalAccessOutsideABufferIsFound) {
  for (const int64_t offset : {-4, 128}) {
    std::vector<uint32_t> in(32, 5), out(32, 9);
    TestKernel k;
    const Operand source = k.Buffer(&in), target = k.Buffer(&out);
    const uint32_t path = k.b().AddPath("test.body[3]");
    k.b().SetPath(path);
    const Reg r = k.LoadGlobal(source.Plus(static_cast<int32_t>(offset)));
    k.b().SetPath(machine::kNoIndex);
    k.StoreByTid(target, r);
    const Report report = k.Run();
    EXPECT_THAT(Faults(report), ElementsAre(Fault::kOutOfBounds));
    EXPECT_EQ(report.findings[0].path, "test.body[3]");
    EXPECT_THAT(report.findings[0].message, HasSubstr("block (0, 0, 0), warp 0, lane 0"));
    EXPECT_THAT(report.findings[0].message, HasSubstr("128 bytes"));
    EXPECT_EQ(out[0], 0u);  // the refused load gives zero
  }
}

TEST(Memory, AStoreOutsideIsFoundAndDropped) {
  std::vector<uint32_t> out(33, 9);
  TestKernel k;
  const Operand target = k.Pointer(out.data(), 31 * 4);
  k.StoreByTid(target, k.Tid());
  const Report report = k.Run();
  EXPECT_THAT(Faults(report), ElementsAre(Fault::kOutOfBounds));
  EXPECT_THAT(report.findings[0].message, HasSubstr("lane 31"));
  EXPECT_EQ(out[30], 30u);
  EXPECT_EQ(out[31], 9u);
}

TEST(Memory, ABufferOfUnknownSizeIsNotChecked) {
  std::vector<uint32_t> out(32, 9);
  TestKernel k;
  const Operand target = k.Pointer(out.data(), -1);
  k.StoreByTid(target, k.Tid());
  k.RunClean();
  EXPECT_EQ(out[31], 31u);
}

TEST(Memory, ANullPointerIsFoundEvenThen) {
  TestKernel k;
  const Operand target = k.Pointer(nullptr, -1);
  k.StoreByTid(target, k.Tid());
  EXPECT_THAT(Faults(k.Run()), ElementsAre(Fault::kOutOfBounds));
}

TEST(Memory, MisalignedAccessIsFound) {
  std::vector<uint32_t> in(64, 5);
  TestKernel k(32, 256);
  const Operand source = k.Buffer(&in);
  Builder& b = k.b();
  const Reg r = b.NewReg(RegClass::kB32), s = b.NewReg(RegClass::kB32);
  b.LdGlobal({r, s}, Type::kB32, source.Plus(4));
  b.StShared(Operand::SharedBase(2), Type::kB32, {r});
  EXPECT_THAT(Faults(k.Run()), ElementsAre(Fault::kMisaligned, Fault::kMisaligned));
}

TEST(Memory, SharedAccessOutsideTheRegionIsFound) {
  TestKernel k(32, 64);
  k.b().StShared(k.SharedAt(k.Tid(), 4), Type::kB32, {k.Tid()});
  const Report report = k.Run();
  EXPECT_THAT(Faults(report), ElementsAre(Fault::kOutOfBounds));
  EXPECT_THAT(report.findings[0].message, HasSubstr("lane 16"));
}

TEST(Memory, AtomicsGiveTheOldValue) {
  std::vector<uint32_t> counter = {100}, old(64);
  TestKernel k(64);
  const Operand at = k.Buffer(&counter), out = k.Buffer(&old);
  k.StoreByTid(out, k.b().Atom(Op::kAtomGlobalAdd, Type::kU32, at, ImmU32(2)));
  k.RunClean();
  EXPECT_EQ(counter[0], 228u);
  std::sort(old.begin(), old.end());
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(old[i], 100 + 2 * i);
}

struct AtomicCase {
  Op global, shared;
  Type type;
  uint64_t start, value, want;
};

class Atomics : public ::testing::TestWithParam<AtomicCase> {};

TEST_P(Atomics, OneUpdateOnGlobalAndSharedMemory) {
  const AtomicCase& c = GetParam();
  std::vector<uint64_t> memory = {c.start}, out(3, 0);
  TestKernel k(32, 8);
  const Operand at = k.Buffer(&memory), target = k.Buffer(&out);
  Builder& b = k.b();
  const Type whole = BitsOf(c.type) == 64 ? Type::kB64 : Type::kB32;
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kEq, k.Tid(), ImmU32(0)))));
  b.StShared(Operand::SharedBase(), whole, {Operand::Imm(c.start)});
  const Reg old = b.Atom(c.global, c.type, at, Operand::Imm(c.value));
  const Reg old_shared = b.Atom(c.shared, c.type, Operand::SharedBase(), Operand::Imm(c.value));
  const Reg r = k.LoadShared(Operand::SharedBase(), whole);
  b.StGlobal(target, whole, {old});
  b.StGlobal(target.Plus(8), whole, {old_shared});
  b.StGlobal(target.Plus(16), whole, {r});
  b.EndIf();
  k.RunClean();
  EXPECT_EQ(memory[0], c.want);
  EXPECT_THAT(out, ElementsAre(c.start, c.start, c.want));
}

constexpr uint64_t kMinus1 = 0xffffffff;
INSTANTIATE_TEST_SUITE_P(
    Memory, Atomics,
    ::testing::Values(
        AtomicCase{Op::kAtomGlobalAdd, Op::kAtomSharedAdd, Type::kS32, kMinus1, 3, 2},
        AtomicCase{Op::kAtomGlobalAdd, Op::kAtomSharedAdd, Type::kU64, ~uint64_t{0}, 3, 2},
        AtomicCase{Op::kAtomGlobalAdd, Op::kAtomSharedAdd, Type::kF32, 0x3f800000, 0x40000000,
                   0x40400000},
        AtomicCase{Op::kAtomGlobalAdd, Op::kAtomSharedAdd, Type::kF64, 0x3ff0000000000000,
                   0x4000000000000000, 0x4008000000000000},
        AtomicCase{Op::kAtomGlobalMin, Op::kAtomSharedMin, Type::kS32, 3, kMinus1, kMinus1},
        AtomicCase{Op::kAtomGlobalMin, Op::kAtomSharedMin, Type::kU32, 3, kMinus1, 3},
        AtomicCase{Op::kAtomGlobalMax, Op::kAtomSharedMax, Type::kS64, 3, ~uint64_t{0}, 3},
        AtomicCase{Op::kAtomGlobalMax, Op::kAtomSharedMax, Type::kU64, 3, ~uint64_t{0},
                   ~uint64_t{0}},
        AtomicCase{Op::kAtomGlobalAnd, Op::kAtomSharedAnd, Type::kB32, 12, 10, 8},
        AtomicCase{Op::kAtomGlobalOr, Op::kAtomSharedOr, Type::kB64, 12, 10, 14},
        AtomicCase{Op::kAtomGlobalXor, Op::kAtomSharedXor, Type::kB32, 12, 10, 6},
        AtomicCase{Op::kAtomGlobalExch, Op::kAtomSharedExch, Type::kB32, 12, 10, 10}));

// As on the machine: additions in global memory flush subnormals, those in shared memory do not.
TEST(Memory, AtomicAdditionsOfSubnormals) {
  std::vector<uint32_t> memory = {1}, out(1);
  TestKernel k(32, 4);
  const Operand at = k.Buffer(&memory), target = k.Buffer(&out);
  Builder& b = k.b();
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kEq, k.Tid(), ImmU32(0)))));
  b.StShared(Operand::SharedBase(), Type::kB32, {ImmU32(1)});
  b.Atom(Op::kAtomGlobalAdd, Type::kF32, at, ImmU32(2));
  b.Atom(Op::kAtomSharedAdd, Type::kF32, Operand::SharedBase(), ImmU32(2));
  b.StGlobal(target, Type::kB32, {k.LoadShared(Operand::SharedBase())});
  b.EndIf();
  k.RunClean();
  EXPECT_EQ(memory[0], 0u);
  EXPECT_EQ(out[0], 3u);
}

TEST(Memory, CompareAndSwap) {
  std::vector<uint32_t> memory = {5, 6}, out(2);
  TestKernel k;
  const Operand at = k.Buffer(&memory), target = k.Buffer(&out);
  Builder& b = k.b();
  b.BeginIf(When(b.Materialize(RegClass::kPred, b.SetpU32(Compare::kEq, k.Tid(), ImmU32(0)))));
  b.StGlobal(target, Type::kB32,
             {b.AtomCas(Op::kAtomGlobalCas, Type::kB32, at, ImmU32(5), ImmU32(50))});
  b.StGlobal(target.Plus(4), Type::kB32,
             {b.AtomCas(Op::kAtomGlobalCas, Type::kB32, at.Plus(4), ImmU32(5), ImmU32(50))});
  b.EndIf();
  k.RunClean();
  EXPECT_THAT(memory, ElementsAre(50, 6));
  EXPECT_THAT(out, ElementsAre(5, 6));
}

TEST(Memory, ReductionsFromManyWarpsAddUp) {
  std::vector<uint32_t> sum(1, 0);
  TestKernel k(256, 4);
  const Operand at = k.Buffer(&sum);
  Builder& b = k.b();
  const Reg first = b.Materialize(RegClass::kPred, b.SetpU32(Compare::kEq, k.Tid(), ImmU32(0)));
  b.BeginIf(When(first));
  b.StShared(Operand::SharedBase(), Type::kB32, {ImmU32(0)});
  b.EndIf();
  b.SyncThreads();
  b.Red(Op::kRedSharedAdd, Type::kU32, Operand::SharedBase(), k.Tid());
  b.SyncThreads();
  b.BeginIf(When(first));
  b.Red(Op::kRedGlobalAdd, Type::kU32, at, k.LoadShared(Operand::SharedBase()));
  b.EndIf();
  k.RunClean({3, 1, 1});
  EXPECT_EQ(sum[0], 3u * 255 * 128);
}

// ---- Uninitialised data.

TEST(Uninitialised, ARegisterThatIsStored) {
  std::vector<uint32_t> out(32);
  TestKernel k;
  k.StoreByTid(k.Buffer(&out), k.b().NewReg(RegClass::kB32));
  EXPECT_THAT(Faults(k.RunUnverified()), ElementsAre(Fault::kUninitialised));
}

TEST(Uninitialised, ASharedByteThatIsStored) {
  std::vector<uint32_t> out(32);
  TestKernel k(32, 128);
  const Operand target = k.Buffer(&out);
  k.StoreByTid(target, k.LoadShared(k.SharedAt(k.Tid(), 4)));
  EXPECT_THAT(Faults(k.Run()), ElementsAre(Fault::kUninitialised));
}

TEST(Uninitialised, AnAddress) {
  std::vector<uint32_t> out(32);
  TestKernel k(32, 128);
  const Operand target = k.Buffer(&out);
  const Reg offset = k.b().NewReg(RegClass::kB32);
  k.b().StGlobal(k.At(target, offset, 4), Type::kB32, {ImmU32(1)});
  EXPECT_THAT(Faults(k.RunUnverified()), ElementsAre(Fault::kUninitialised));
}

TEST(Uninitialised, MovesAndArithmeticThatNobodySeesAreFine) {
  std::vector<uint32_t> out(32);
  TestKernel k(32, 128);
  Builder& b = k.b();
  const Operand target = k.Buffer(&out);
  const Reg never = b.NewReg(RegClass::kB32), copy = b.NewReg(RegClass::kB32);
  b.Mov(copy, never);
  b.AddS32(copy, copy, never);
  b.StShared(k.SharedAt(k.Tid(), 4), Type::kB32, {copy});
  k.StoreByTid(target, k.Tid());
  EXPECT_THAT(Faults(k.RunUnverified()), IsEmpty());
}

// Each case masks the undefined upper byte of a word in its own way.
TEST(Uninitialised, BitsThatAreMaskedAwayDoNotCount) {
  std::vector<uint32_t> out(32);
  std::vector<uint8_t> in(3 * 32 + 1, 0x5a);
  TestKernel k(32, 128);
  Builder& b = k.b();
  const Operand source = k.Buffer(&in), target = k.Buffer(&out);
  // Three bytes are written, the fourth is not; the word is read.
  const Operand at = k.SharedAt(k.Tid(), 4);
  for (int i = 0; i < 3; ++i) {
    b.StShared(at.Plus(i), Type::kB8, {k.LoadGlobal(k.At(source, k.Tid(), 3).Plus(i), Type::kB8)});
  }
  const Reg word = k.LoadShared(at);
  const Operand cases[] = {
      b.AndB32(word, ImmU32(0x00ffffff)),
      b.OrB32(word, ImmU32(0xff000000)),
      b.ShlB32(word, ImmU32(8)),
      b.BfeU32(word, ImmU32(4), ImmU32(20)),
      b.PrmtB32(word, ImmU32(0), ImmU32(0x4210)),
      b.Lop3B32(word, ImmU32(0x00ff00ff), ImmU32(3), 0xea),  // (a & b) | c
      b.BfiB32(ImmU32(7), word, ImmU32(24), ImmU32(8)),
      b.Cvt(Type::kU16, Type::kU32, word),
      b.MulLoS32(word, ImmU32(256)),
      b.XorB32(b.ShfLWrapB32(ImmU32(1), word, ImmU32(8)), ImmU32(1)),
  };
  for (const Operand& value : cases) k.StoreByTid(target, value);
  EXPECT_THAT(Faults(k.Run()), IsEmpty());

  k.StoreByTid(target, b.ShrU32(word, ImmU32(20)));
  EXPECT_THAT(Faults(k.Run()), ElementsAre(Fault::kUninitialised));
}

TEST(Uninitialised, HalvesOfPairsAreApart) {
  std::vector<uint16_t> out(32);
  TestKernel k(32, 128);
  Builder& b = k.b();
  const Operand target = k.Buffer(&out);
  const Operand at = k.SharedAt(k.Tid(), 4);
  b.StShared(at, Type::kB16, {machine::ImmB16(0x3c00)});
  const Reg pair = k.LoadShared(at);
  const Operand sum = b.AddF16x2(pair, pair);
  const Reg low = b.NewReg(RegClass::kB16), high = b.NewReg(RegClass::kB16);
  b.UnpackB32(low, high, sum);
  k.StoreByTid(target, low, Type::kB16);
  EXPECT_THAT(Faults(k.Run()), IsEmpty());
  EXPECT_EQ(out[0], 0x4000);
  k.StoreByTid(target, high, Type::kB16);
  EXPECT_THAT(Faults(k.Run()), ElementsAre(Fault::kUninitialised));
}

TEST(Uninitialised, SharedMemoryIsNewInEveryBlock) {
  std::vector<uint32_t> out(32);
  TestKernel k(32, 128);
  Builder& b = k.b();
  const Operand target = k.Buffer(&out);
  const Operand at = k.SharedAt(k.Tid(), 4);
  const Reg p =
      b.Materialize(RegClass::kPred, b.SetpU32(Compare::kEq, b.Read(Special::kCtaidX), ImmU32(0)));
  b.BeginIf(When(p));
  b.StShared(at, Type::kB32, {k.Tid()});
  b.EndIf();
  k.StoreByTid(target, k.LoadShared(at));
  const Report report = k.Run({2, 1, 1});
  EXPECT_THAT(Faults(report), ElementsAre(Fault::kUninitialised));
  EXPECT_THAT(report.findings[0].message, HasSubstr("block (1, 0, 0)"));
}

// ---- Bank conflicts, against a count by brute force.

int Wavefronts(const std::vector<uint32_t>& addresses, uint32_t bytes, int* fewest) {
  const size_t per_pass = bytes <= 4 ? 32 : 128 / bytes;
  int total = 0;
  *fewest = 0;
  for (size_t first = 0; first < 32; first += per_pass) {
    std::vector<std::set<uint32_t>> banks(32);
    std::set<uint32_t> words;
    for (size_t lane = first; lane < first + per_pass; ++lane) {
      for (uint32_t w = addresses[lane] / 4; w * 4 < addresses[lane] + bytes; ++w) {
        banks[w % 32].insert(w);
        words.insert(w);
      }
    }
    size_t most = 0;
    for (const auto& bank : banks) most = std::max(most, bank.size());
    total += static_cast<int>(most);
    *fewest += static_cast<int>((words.size() + 31) / 32);
  }
  return total;
}

TEST(BankConflicts, AgreeWithBruteForceOnRandomAddresses) {
  std::mt19937 random(7);
  const Access accesses[] = {{Type::kB8, 1},  {Type::kB16, 1}, {Type::kB32, 1}, {Type::kB32, 2},
                             {Type::kB64, 1}, {Type::kB32, 4}, {Type::kB64, 2}};
  for (int round = 0; round < 200; ++round) {
    const auto [type, vec] = accesses[random() % std::size(accesses)];
    const uint32_t bytes = static_cast<uint32_t>(BitsOf(type)) / 8 * static_cast<uint32_t>(vec);
    const uint32_t range = 32u << (random() % 7);  // narrow ones broadcast
    std::vector<uint32_t> index(32), addresses;
    for (uint32_t& i : index) i = random() % range;
    for (const uint32_t i : index) addresses.push_back(i * bytes);
    TestKernel k(32, 32 * 64 * 16);
    Builder& b = k.b();
    const Operand in = k.Buffer(&index);
    std::vector<Reg> r;
    for (int i = 0; i < vec; ++i) r.push_back(b.NewReg(ClassOf(type)));
    b.LdShared(r, type, k.SharedAt(k.LoadGlobal(k.At(in, k.Tid(), 4)), bytes));
    const Report report = k.Run();
    int fewest = 0;
    EXPECT_EQ(report.shared_wavefronts, Wavefronts(addresses, bytes, &fewest));
    EXPECT_EQ(report.bank_conflicts, report.shared_wavefronts - fewest);
  }
}

TEST(BankConflicts, AColumnOfAMatrixOf32WordsTakes32Wavefronts) {
  for (const uint32_t stride : {128u, 132u}) {
    TestKernel k(32, 32 * 132);
    k.b().StShared(k.SharedAt(k.Tid(), stride), Type::kB32, {k.Tid()});
    const Report report = k.Run();
    EXPECT_EQ(report.shared_wavefronts, stride == 128 ? 32 : 1);
    EXPECT_EQ(report.bank_conflicts, stride == 128 ? 31 : 0);
  }
}

}  // namespace
}  // namespace tilus::simulate

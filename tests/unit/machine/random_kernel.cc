#include "random_kernel.h"

#include <random>
#include <vector>

#include "machine/builder.h"

namespace tilus::machine {
namespace {

class Generator {
 public:
  Generator(uint64_t seed, Kernel* kernel) : random_(seed), b_(kernel) {
    kernel->name = "random";
    Param narrow, wide;
    narrow.name = "n";
    wide.name = "out";
    wide.type = Type::kB64;
    wide.size = wide.align = 8;
    kernel->params = {narrow, wide};
    values_.push_back(b_.LdParam(0));
    address_ = b_.LdParam(1);
    for (int i = 0; i < 4; ++i) {
      variables_.push_back(b_.Copy(RegClass::kB32, Word()));
      preds_.push_back(b_.Copy(RegClass::kPred, Operand::Imm(Pick(2))));
    }
  }

  void Body(int size, int depth) {
    const size_t values = values_.size(), preds = preds_.size();
    for (int i = 0; i < size; ++i) Statement(size, depth);
    // What this block made is not written on other paths.
    values_.resize(values);
    preds_.resize(preds);
  }

 private:
  uint64_t Pick(uint64_t n) { return random_() % n; }

  Operand Word() {
    static constexpr uint32_t kConstants[] = {0, 1, 2, 5, 8, 31, 0xffffffff, 0x80000000};
    switch (Pick(4)) {
      case 0: return ImmU32(kConstants[Pick(8)]);
      case 1: return variables_.empty() ? values_[0] : variables_[Pick(variables_.size())];
      default: return values_[Pick(values_.size())];
    }
  }
  Reg Pred() { return preds_[Pick(preds_.size())]; }
  Guard AnyGuard() { return Pick(2) ? When(Pred()) : Unless(Pred()); }

  // A pure instruction into `d`.
  void Compute(Reg d) {
    static constexpr Op kBinary[] = {Op::kAddS32, Op::kAddS32, Op::kAddS32, Op::kSubS32,
                                     Op::kMulLoS32, Op::kDivU32, Op::kRemS32, Op::kMinS32,
                                     Op::kAndB32, Op::kOrB32, Op::kXorB32, Op::kShlB32,
                                     Op::kShrS32, Op::kMulHiU32};
    switch (Pick(6)) {
      case 0: b_.Emit(Op::kMovB32, {d}, {Word()}); break;
      case 1: b_.Emit(Op::kMadLoS32, {d}, {Word(), Word(), Word()}); break;
      case 2: b_.Emit(Op::kSelpB32, {d}, {Word(), Word(), Pred()}); break;
      default: b_.Emit(kBinary[Pick(std::size(kBinary))], {d}, {Word(), Word()});
    }
  }

  void StoreSomething() {
    // An address some additions away from the parameter.
    Reg address = address_;
    for (uint64_t i = Pick(3); i > 0; --i) {
      const Reg next = b_.NewReg(RegClass::kB64);
      b_.Emit(Op::kAddS64, {next}, {address, ImmS64(static_cast<int64_t>(Pick(64)) - 32)});
      address = next;
    }
    b_.StGlobal(Operand(address).Plus(static_cast<int32_t>(Pick(3)) * 4), Type::kB32, {Word()});
  }

  void Statement(int size, int depth) {
    switch (Pick(depth > 0 ? 15 : 12)) {
      case 0: case 1: case 2: case 3: {
        const Reg d = b_.NewReg(RegClass::kB32);
        Compute(d);
        values_.push_back(d);
        break;
      }
      case 4: case 5: Compute(variables_[Pick(variables_.size())]); break;
      case 6: {
        GuardScope guard(&b_, AnyGuard());
        Compute(variables_[Pick(variables_.size())]);
        break;
      }
      case 7: {
        const Reg p = b_.NewReg(RegClass::kPred);
        b_.SetpS32(p, static_cast<Compare>(1 + Pick(6)), Word(), Word());
        preds_.push_back(p);
        break;
      }
      case 8: {
        const Reg p = b_.NewReg(RegClass::kPred);
        b_.NotPred(p, Pred());
        preds_.push_back(p);
        break;
      }
      case 9: {
        GuardScope guard(&b_, Pick(2) ? AnyGuard() : Guard());
        StoreSomething();
        break;
      }
      case 10: StoreSomething(); break;
      case 11: Leave(); break;
      case 12: If(size / 2, depth - 1); break;
      case 13: For(size / 2, depth - 1); break;
      default: FreeLoop(size / 2, depth - 1);
    }
  }

  // Out of the loop around, or on to its next round, when that ends.
  void Leave() {
    if (loops_.empty() || Pick(2)) return;
    const Guard guard = Pick(8) ? AnyGuard() : Guard();
    if (loops_.back() == LoopKind::kCounted && Pick(2)) return b_.Continue(guard);
    b_.Break(guard);
  }

  void If(int size, int depth) {
    b_.BeginIf(AnyGuard());
    Body(size, depth);
    if (Pick(2)) {
      b_.BeginElse();
      Body(size, depth);
    }
    b_.EndIf();
  }

  void For(int size, int depth) {
    const Reg i = b_.BeginFor(ImmS32(0), ImmS32(static_cast<int32_t>(Pick(4))), 1);
    values_.push_back(i);
    loops_.push_back(LoopKind::kCounted);
    Body(size, depth);
    loops_.pop_back();
    b_.EndFor();
    values_.pop_back();
  }

  void FreeLoop(int size, int depth) {
    const Reg rounds = b_.Copy(RegClass::kB32, ImmU32(0));
    const Reg done = b_.NewReg(RegClass::kPred);
    b_.BeginLoop();
    loops_.push_back(LoopKind::kFree);
    Body(size, depth);
    loops_.pop_back();
    b_.AddS32(rounds, rounds, ImmU32(1));
    b_.SetpS32(done, Compare::kGe, rounds, ImmS32(3));
    b_.Break(When(done));
    b_.EndLoop();
  }

  enum class LoopKind { kCounted, kFree };

  std::mt19937_64 random_;
  Builder b_;
  Reg address_;
  std::vector<Reg> values_, variables_, preds_;
  std::vector<LoopKind> loops_;
};

}  // namespace

Kernel RandomKernel(uint64_t seed, int size) {
  Kernel kernel;
  Generator(seed, &kernel).Body(size, 3);
  return kernel;
}

}  // namespace tilus::machine

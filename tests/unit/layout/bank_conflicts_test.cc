// The contracts of bank_conflicts.h: known accesses, then a direct model of the banks.
#include "layout/bank_conflicts.h"

#include <map>
#include <set>

#include "layout/auto_layout.h"
#include "layout_testing.h"

namespace tilus {
namespace {

using testing::HasError;
using testing::L;

std::vector<int64_t> Strided(int lanes, int64_t step) {
  std::vector<int64_t> addresses;
  for (int n = 0; n < lanes; ++n) addresses.push_back(n * step);
  return addresses;
}

TEST(WavefrontsOfPhase, KnownAccesses) {
  EXPECT_EQ(WavefrontsOfPhase({}, 4), 0);
  EXPECT_EQ(WavefrontsOfPhase(Strided(32, 4), 4), 1);
  EXPECT_EQ(WavefrontsOfPhase(Strided(32, 0), 4), 1);  // broadcast
  EXPECT_EQ(WavefrontsOfPhase(Strided(32, 1), 1), 1);  // four lanes a word
  EXPECT_EQ(WavefrontsOfPhase(Strided(32, 8), 4), 2);
  EXPECT_EQ(WavefrontsOfPhase(Strided(32, 128), 4), 32);
  EXPECT_EQ(WavefrontsOfPhase(Strided(32, 132), 4), 1);
  EXPECT_EQ(WavefrontsOfPhase(Strided(16, 8), 8), 1);
  EXPECT_EQ(WavefrontsOfPhase(Strided(16, 128), 8), 16);
  EXPECT_EQ(WavefrontsOfPhase(Strided(8, 16), 16), 1);
  EXPECT_EQ(WavefrontsOfPhase(Strided(8, 64), 16), 4);
  EXPECT_EQ(WavefrontsOfPhase(Strided(8, 128), 16), 8);
}

TEST(WavefrontsOfPhase, IsTheBusiestBank) {
  std::mt19937 random(7);
  for (int n = 0; n < 3000; ++n) {
    const int bytes = 1 << random() % 5;
    const int lanes = bytes <= 4 ? 32 : 128 / bytes;
    std::vector<int64_t> addresses;
    std::map<int64_t, std::set<int64_t>> words_of_bank;
    for (int lane = 0; lane < lanes; ++lane) {
      addresses.push_back(random() % 64 * bytes);
      for (int b = 0; b < bytes; ++b) {
        const int64_t word = (addresses.back() + b) / 4;
        words_of_bank[word % 32].insert(word);
      }
    }
    size_t busiest = 0;
    for (const auto& [bank, words] : words_of_bank) busiest = std::max(busiest, words.size());
    ASSERT_EQ(WavefrontsOfPhase(addresses, bytes), static_cast<int64_t>(busiest));
  }
}

TEST(CountBankConflicts, RowsOfSixteenBytes) {
  // 32 rows of 64 half words; each thread takes 16 bytes of its own row.
  const RegisterLayout f = L("local(1,8).spatial(32,1).local(1,8)");
  const auto count = [&](const SharedLayout& shared) {
    return *CountBankConflicts(shared, 16, f, 16);
  };
  const SharedLayout plain = *SharedLayout::RowMajor({32, 64});
  const SharedLayout swizzled = *SharedLayout::RowMajor({32, 64}, DefaultSwizzle(128, 16));
  const SharedLayout padded = *SharedLayout::Padded({32, 64}, 8);
  EXPECT_EQ(count(plain), (BankConflicts{8, 32, 256}));
  EXPECT_EQ(count(plain).extra(), 224);
  EXPECT_EQ(count(swizzled), (BankConflicts{8, 32, 32}));
  EXPECT_EQ(count(padded), (BankConflicts{8, 32, 32}));
}

TEST(CountBankConflicts, ElementsOfAnMmaOperand) {
  // Two half words at once, 8 rows of 4 lanes: without padding the rows collide.
  const RegisterLayout a = L("column_local(2,2).spatial(8,4).local(1,2)");
  EXPECT_EQ(CountBankConflicts(*SharedLayout::RowMajor({16, 16}), 16, a, 4)->extra(), 4);
  EXPECT_EQ(CountBankConflicts(*SharedLayout::Padded({16, 16}, 8), 16, a, 4)->extra(), 0);
}

TEST(CountBankConflicts, CountsWarpsAndPartialWarps) {
  const SharedLayout shared = *SharedLayout::RowMajor({96, 4});
  EXPECT_EQ(*CountBankConflicts(shared, 32, L("spatial(96,1).local(1,4)"), 16),
            (BankConflicts{3, 12, 12}));
  EXPECT_EQ(*CountBankConflicts(shared, 32, L("spatial(96,1).local(1,4)"), 8),
            (BankConflicts{6, 12, 24}));
  EXPECT_EQ(
      *CountBankConflicts(*SharedLayout::RowMajor({5, 4}), 32, L("spatial(5,1).local(1,4)"), 16),
      (BankConflicts{1, 1, 1}));
}

TEST(CountBankConflicts, SubByteElements) {
  const SharedLayout shared = *SharedLayout::RowMajor({32, 32});
  const RegisterLayout f = L("spatial(32,1).local(1,32)");
  EXPECT_EQ(*CountBankConflicts(shared, 4, f, 16), (BankConflicts{1, 4, 4}));
  EXPECT_EQ(*CountBankConflicts(shared, 4, f, 4), (BankConflicts{4, 4, 16}));
}

TEST(CountBankConflicts, RefusesAccessesThatAreNotVectors) {
  const SharedLayout shared = *SharedLayout::RowMajor({32, 4});
  const RegisterLayout f = L("spatial(32,1).local(1,4)");
  EXPECT_THAT(CountBankConflicts(shared, 16, L("spatial(32,1)"), 4),
              HasError(DiagId::kLayoutOperand, "shapes [32, 4] and [32, 1] differ"));
  EXPECT_THAT(CountBankConflicts(shared, 16, f, 3), HasError(DiagId::kLayoutOperand, "3 bytes"));
  EXPECT_THAT(CountBankConflicts(shared, 16, f, 16), HasError(DiagId::kLayoutOperand, "16 bytes"));
  EXPECT_THAT(CountBankConflicts(shared, 16, f, 0), HasError(DiagId::kLayoutOperand, "0 bytes"));
  EXPECT_THAT(CountBankConflicts(shared, 0, f, 4), HasError(DiagId::kElementBits, "0 bits"));
  EXPECT_THAT(CountBankConflicts(*SharedLayout::Strided({32, 4}, {1, 32}), 16, f, 4),
              HasError(DiagId::kLayoutOperand, "thread 0 does not have its 2 elements"));
  EXPECT_THAT(CountBankConflicts(*SharedLayout::Padded({32, 4}, 1), 16, f, 4),
              HasError(DiagId::kLayoutOperand, "thread 1 does not have its 2 elements"));
  EXPECT_THAT(CountBankConflicts(*SharedLayout::RowMajor({1 << 23}), 32, L("local(8388608)"), 4),
              HasError(DiagId::kLayoutOperand, "more than 4194304 elements"));
}

}  // namespace
}  // namespace tilus

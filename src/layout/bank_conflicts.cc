#include "layout/bank_conflicts.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "layout/bit_layout.h"
#include "layout/layout_errors.h"

namespace tilus {
namespace {

constexpr int64_t kBanks = 32;
constexpr int64_t kWordBytes = 4;
constexpr int64_t kWarpLanes = 32;

absl::Status AccessError(const SharedLayout& shared, const RegisterLayout& f,
                         absl::string_view problem) {
  return MakeError(DiagId::kLayoutOperand, absl::StrCat("an access of ", shared.ToString(), " by ",
                                                        f.ToString(), ": ", problem));
}

absl::Status CheckAccess(const SharedLayout& shared, int element_bits, const RegisterLayout& f,
                         int vector_bytes) {
  TILUS_RETURN_IF_ERROR(BitLayout::Create(element_bits, f).status());
  if (shared.shape() != f.shape()) {
    return AccessError(shared, f,
                       absl::StrCat("the shapes ", layout_internal::ListText(shared.shape()),
                                    " and ", layout_internal::ListText(f.shape()), " differ"));
  }
  const bool power =
      vector_bytes >= 1 && vector_bytes <= 16 && (vector_bytes & (vector_bytes - 1)) == 0;
  if (!power || vector_bytes * 8 % element_bits != 0 ||
      f.locals_per_thread() % (vector_bytes * 8 / element_bits) != 0) {
    return AccessError(shared, f,
                       absl::StrCat(vector_bytes, " bytes at once do not divide ",
                                    f.locals_per_thread(), " elements of ", element_bits, " bits"));
  }
  if (f.num_threads() * f.locals_per_thread() > kMaxCountedElements) {
    return AccessError(shared, f, absl::StrCat("more than ", kMaxCountedElements, " elements"));
  }
  return absl::OkStatus();
}

// The byte address of the run of `count` locals from `first` of `thread`.
absl::StatusOr<int64_t> RunAddress(const SharedLayout& shared, int element_bits,
                                   const RegisterLayout& f, int64_t thread, int64_t first,
                                   int64_t count) {
  std::vector<int64_t> index(f.rank());
  int64_t begin = 0;
  for (int64_t n = 0; n < count; ++n) {
    f.MapInto(thread, first + n, absl::MakeSpan(index));
    const int64_t offset = shared.Offset(index);
    if (n == 0) begin = offset;
    if (offset != begin + n || begin * element_bits % (count * element_bits) != 0) {
      return AccessError(
          shared, f,
          absl::StrCat("thread ", thread, " does not have its ", count, " elements from local ",
                       first, " adjacent and aligned in shared memory"));
    }
  }
  return begin * element_bits / 8;
}

}  // namespace

int64_t WavefrontsOfPhase(absl::Span<const int64_t> addresses, int bytes) {
  // (bank, word) of everything touched; equal words are one broadcast.
  std::vector<std::pair<int64_t, int64_t>> words;
  for (int64_t address : addresses) {
    const int64_t last = (address + bytes - 1) / kWordBytes;
    for (int64_t word = address / kWordBytes; word <= last; ++word) {
      words.push_back({word % kBanks, word});
    }
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::array<int64_t, kBanks> turns = {};
  for (const auto& [bank, word] : words) ++turns[bank];
  return *std::max_element(turns.begin(), turns.end());
}

absl::StatusOr<BankConflicts> CountBankConflicts(const SharedLayout& shared, int element_bits,
                                                 const RegisterLayout& f, int vector_bytes) {
  TILUS_RETURN_IF_ERROR(CheckAccess(shared, element_bits, f, vector_bytes));
  const int64_t count = vector_bytes * 8 / element_bits;
  const int64_t lanes = kWarpLanes * kWordBytes / std::max<int64_t>(vector_bytes, kWordBytes);
  BankConflicts conflicts;
  for (int64_t first = 0; first < f.locals_per_thread(); first += count) {
    for (int64_t phase = 0; phase < f.num_threads(); phase += lanes) {
      std::vector<int64_t> addresses;
      for (int64_t t = phase; t < std::min(phase + lanes, f.num_threads()); ++t) {
        TILUS_ASSIGN_OR_RETURN(addresses.emplace_back(),
                               RunAddress(shared, element_bits, f, t, first, count));
      }
      conflicts.accesses += phase % kWarpLanes == 0;
      conflicts.phases += 1;
      conflicts.wavefronts += WavefrontsOfPhase(addresses, vector_bytes);
    }
  }
  return conflicts;
}

}  // namespace tilus

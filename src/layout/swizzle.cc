#include "layout/swizzle.h"

#include <algorithm>

#include "absl/numeric/bits.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"

namespace tilus {
namespace {

constexpr int kMaxField = 16;
constexpr int64_t kGroupBytes = 16;    // what one lane of a matrix access takes
constexpr int64_t kGroupsOfBanks = 8;  // 16-byte groups in the 128 bytes of all banks
constexpr int64_t kRows = 8;           // rows of a matrix
// Rows of an odd number of groups times a power of two are searched up to this size; the search
// looks at this many matrices below each other.
constexpr int64_t kMaxSearchedGroups = 64;
constexpr int64_t kSearchedMatrices = 16;

bool IsPowerOfTwo(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

int Log2(int64_t power) { return absl::countr_zero(static_cast<uint64_t>(power)); }

// Whether the 8 rows from `row`, column `column`, are in different banks; offsets in groups.
bool ConflictFree(const Swizzle& swizzle, int64_t groups, int64_t row, int64_t column) {
  int seen = 0;
  for (int64_t r = row; r < row + kRows; ++r) {
    seen |= 1 << (swizzle(r * groups + column) % kGroupsOfBanks);
  }
  return seen == (1 << kGroupsOfBanks) - 1;
}

bool ConflictFree(const Swizzle& swizzle, int64_t groups) {
  for (int64_t matrix = 0; matrix < kSearchedMatrices; ++matrix) {
    for (int64_t column = 0; column < groups; ++column) {
      if (!ConflictFree(swizzle, groups, matrix * kRows, column)) return false;
    }
  }
  return true;
}

// The smallest swizzle of group numbers that keeps columns apart.
std::optional<Swizzle> Search(int64_t groups) {
  for (int bits = 1; bits <= 3; ++bits) {
    for (int shift = bits; shift <= 6; ++shift) {
      const Swizzle swizzle{bits, 0, shift};
      if (ConflictFree(swizzle, groups)) return swizzle;
    }
  }
  return std::nullopt;
}

}  // namespace

absl::Status Swizzle::Check() const {
  if (bits >= 0 && bits <= shift && base >= 0 && base <= kMaxField && shift <= kMaxField) {
    return absl::OkStatus();
  }
  return MakeError(DiagId::kSwizzle, absl::StrCat(ToString(), " is out of range"),
                   "swizzle(bits, base, shift) has 0 <= bits <= shift <= 16 and 0 <= base <= 16");
}

std::string Swizzle::ToString() const {
  return absl::StrCat("swizzle(", bits, ", ", base, ", ", shift, ")");
}

std::optional<Swizzle> DefaultSwizzle(int64_t row_bytes, int element_bits) {
  if (row_bytes < 2 * kGroupBytes || row_bytes % kGroupBytes != 0) return std::nullopt;
  if (!IsPowerOfTwo(element_bits) || element_bits > 8 * kGroupBytes) return std::nullopt;
  const int64_t groups = row_bytes / kGroupBytes;
  std::optional<Swizzle> swizzle;
  if (IsPowerOfTwo(groups)) {
    swizzle =
        Swizzle{Log2(std::min(groups, kGroupsOfBanks)), 0, Log2(std::max(groups, kGroupsOfBanks))};
  } else if (groups % 2 == 0 && groups <= kMaxSearchedGroups) {
    swizzle = Search(groups);  // an odd number of groups needs none
  }
  if (!swizzle.has_value()) return std::nullopt;
  swizzle->base = Log2(kGroupBytes * 8 / element_bits);
  if (!swizzle->Check().ok()) return std::nullopt;
  return swizzle;
}

}  // namespace tilus

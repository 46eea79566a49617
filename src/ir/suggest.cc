#include "ir/suggest.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tilus::ir {
namespace {

constexpr size_t kMostCandidates = 1000;
constexpr size_t kLongestName = 40;

// Levenshtein's distance.
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Suggest(absl::string_view name, absl::Span<const absl::string_view> candidates) {
  if (name.size() > kLongestName) return "";
  size_t best = std::min<size_t>(2, name.size() / 3) + 1;
  absl::string_view nearest;
  for (absl::string_view candidate : candidates.first(std::min(candidates.size(), kMostCandidates))) {
    if (candidate.size() > kLongestName) continue;
    const size_t distance = Distance(name, candidate);
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest.empty() ? "" : absl::StrCat("did you mean '", nearest, "'?");
}

}  // namespace tilus::ir

#include "layout/factorize.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "layout/layout_errors.h"

namespace tilus {
namespace {

// A state of the search: this many digits of each list are laid down.
struct State {
  size_t thread = 0, local = 0;
};

class Search {
 public:
  explicit Search(const RegisterLayout& canonical)
      : layout_(canonical),
        thread_(canonical.thread_digits()),
        local_(canonical.local_digits()),
        cost_((thread_.size() + 1) * (local_.size() + 1), kUnknown) {}

  std::optional<std::vector<LayoutFactor>> Run() {
    // Costs to the end, from the last state backwards.
    for (size_t t = thread_.size() + 1; t-- > 0;) {
      for (size_t l = local_.size() + 1; l-- > 0;) cost_[Slot({t, l})] = CostFrom({t, l});
    }
    if (cost_[0] >= kUnknown) return std::nullopt;
    std::vector<LayoutFactor> factors;
    for (State state; !Done(state);) factors.push_back(TakeBest(state));
    return factors;
  }

 private:
  static constexpr int kUnknown = 1 << 20;

  // A run of digits of one list that makes one primitive.
  struct Step {
    LayoutFactor::Kind kind;
    State next;
  };

  size_t Slot(State state) const { return state.thread * (local_.size() + 1) + state.local; }
  bool Done(State state) const {
    return state.thread == thread_.size() && state.local == local_.size();
  }

  // Whether no digit outer to `digit` in its dimension is still to be laid down at `state`.
  bool Outermost(const Digit& digit, State state) const {
    auto inner = [&](const Digit& other) {
      return other.dim != digit.dim || other.stride <= digit.stride;
    };
    return std::all_of(thread_.begin() + state.thread, thread_.end(), inner) &&
           std::all_of(local_.begin() + state.local, local_.end(), inner);
  }

  // The steps from `state`: local before spatial, longest run first.
  std::vector<Step> StepsFrom(State state) const {
    std::vector<Step> steps;
    AddRuns(state, local_, &State::local, LayoutFactor::kLocal, LayoutFactor::kColumnLocal, steps);
    AddRuns(state, thread_, &State::thread, LayoutFactor::kSpatial, LayoutFactor::kColumnSpatial,
            steps);
    return steps;
  }

  void AddRuns(State state, absl::Span<const Digit> list, size_t State::*position,
               LayoutFactor::Kind row, LayoutFactor::Kind column, std::vector<Step>& steps) const {
    std::vector<Step> runs;
    int direction = 0;  // +1 while dimensions ascend (row), -1 while they descend
    while (state.*position < list.size()) {
      const Digit& digit = list[state.*position];
      if (digit.replicated()) {
        if (runs.empty()) {
          ++(state.*position);
          runs.push_back({LayoutFactor::kReplicated, state});
        }
        break;
      }
      if (!runs.empty()) {
        const int step = digit.dim - list[state.*position - 1].dim;
        if (step == 0 || step * direction < 0) break;
        direction = step > 0 ? 1 : -1;
      }
      if (!Outermost(digit, state)) break;
      ++(state.*position);
      runs.push_back({direction < 0 ? column : row, state});
    }
    steps.insert(steps.end(), runs.rbegin(), runs.rend());
  }

  int CostFrom(State state) const {
    if (Done(state)) return 0;
    int best = kUnknown;
    for (const Step& step : StepsFrom(state)) best = std::min(best, 1 + cost_[Slot(step.next)]);
    return best;
  }

  LayoutFactor TakeBest(State& state) const {
    for (const Step& step : StepsFrom(state)) {
      if (1 + cost_[Slot(step.next)] != cost_[Slot(state)]) continue;
      LayoutFactor factor = FactorOf(state, step);
      state = step.next;
      return factor;
    }
    return {};  // not reached: a state with a finite cost has a best step
  }

  LayoutFactor FactorOf(State state, const Step& step) const {
    if (step.kind == LayoutFactor::kReplicated) {
      return {.kind = step.kind, .extents = {thread_[state.thread].extent}};
    }
    LayoutFactor factor{.kind = step.kind, .extents = std::vector<int64_t>(layout_.rank(), 1)};
    for (size_t n = state.thread; n < step.next.thread; ++n) {
      factor.extents[thread_[n].dim] = thread_[n].extent;
    }
    for (size_t n = state.local; n < step.next.local; ++n) {
      factor.extents[local_[n].dim] = local_[n].extent;
    }
    return factor;
  }

  const RegisterLayout& layout_;
  absl::Span<const Digit> thread_, local_;
  std::vector<int> cost_;  // fewest factors from a state to the end, by Slot
};

}  // namespace

std::optional<std::vector<LayoutFactor>> Factorize(const RegisterLayout& layout) {
  const RegisterLayout canonical = layout.Canonical();
  std::optional<std::vector<LayoutFactor>> factors = Search(canonical).Run();
  if (!factors.has_value()) return std::nullopt;
  // Without a factor of the layout's rank the product would not have it: `replicated` has none.
  const bool ranked = std::any_of(factors->begin(), factors->end(), [](const LayoutFactor& f) {
    return f.kind != LayoutFactor::kReplicated;
  });
  if (!ranked && !(layout.rank() == 1 && !factors->empty())) {
    factors->push_back({LayoutFactor::kLocal, std::vector<int64_t>(layout.rank(), 1)});
  }
  return factors;
}

std::string RegisterLayout::ToString() const {
  std::optional<std::vector<LayoutFactor>> factors = Factorize(*this);
  if (!factors.has_value()) return Canonical().TupleString();
  return LayoutExpression{.factors = *std::move(factors), .tuple = std::nullopt}.ToString();
}

std::string RegisterLayout::TupleString() const {
  using layout_internal::ListText;
  return absl::StrCat("{shape=", ListText(shape_), ", modes=", ListText(mode_shape_),
                      ", spatial=", ListText(spatial_modes_), ", local=", ListText(local_modes_),
                      "}");
}

}  // namespace tilus

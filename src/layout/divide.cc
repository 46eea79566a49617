#include "layout/divide.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "layout/squeeze.h"

namespace tilus {
namespace {

using DigitList = std::vector<Digit>;

struct Halves {
  RegisterLayout outer, inner;
};

// Cuts a list so that the inner part has `count` values. nullopt when a digit cannot be cut there.
struct ListHalves {
  DigitList outer, inner;
};
std::optional<ListHalves> CutList(absl::Span<const Digit> digits, int64_t count) {
  ListHalves halves;
  for (auto it = digits.rbegin(); it != digits.rend(); ++it) {
    Digit digit = *it;
    if (count == 1) {
      halves.outer.push_back(digit);
    } else if (count % digit.extent == 0) {
      count /= digit.extent;
      halves.inner.push_back(digit);
    } else if (digit.extent % count == 0) {
      Digit outer = digit;
      outer.extent /= count;
      outer.stride *= count;
      digit.extent = count;
      halves.inner.push_back(digit);
      halves.outer.push_back(outer);
      count = 1;
    } else {
      return std::nullopt;
    }
  }
  if (count != 1) return std::nullopt;
  std::reverse(halves.outer.begin(), halves.outer.end());
  std::reverse(halves.inner.begin(), halves.inner.end());
  return halves;
}

// The only (f, g) with h = f . g where g has `threads` threads and `locals` locals, or nullopt.
std::optional<Halves> Cut(const RegisterLayout& h, int64_t threads, int64_t locals) {
  std::optional<ListHalves> thread = CutList(h.thread_digits(), threads);
  std::optional<ListHalves> local = CutList(h.local_digits(), locals);
  if (!thread.has_value() || !local.has_value()) return std::nullopt;

  std::vector<int64_t> inner_shape(h.rank(), 1);
  for (const DigitList* list : {&thread->inner, &local->inner}) {
    for (const Digit& digit : *list) {
      if (!digit.replicated()) inner_shape[digit.dim] *= digit.extent;
    }
  }
  std::vector<int64_t> outer_shape;
  for (int d = 0; d < h.rank(); ++d) outer_shape.push_back(h.shape()[d] / inner_shape[d]);
  for (DigitList* list : {&thread->outer, &local->outer}) {
    for (Digit& digit : *list) {
      if (digit.replicated()) continue;
      if (digit.stride % inner_shape[digit.dim] != 0) return std::nullopt;
      digit.stride /= inner_shape[digit.dim];
    }
  }
  auto outer = RegisterLayout::FromDigits(std::move(outer_shape), std::move(thread->outer),
                                          std::move(local->outer));
  auto inner = RegisterLayout::FromDigits(std::move(inner_shape), std::move(thread->inner),
                                          std::move(local->inner));
  if (!outer.ok() || !inner.ok()) return std::nullopt;
  return Halves{*std::move(outer), *std::move(inner)};
}

enum class Side { kLeft, kRight };

absl::Status Indivisible(const RegisterLayout& h, const RegisterLayout& divisor, Side side,
                         absl::string_view reason) {
  const std::string product = side == Side::kRight ? absl::StrCat("f . ", divisor.ToString())
                                                   : absl::StrCat(divisor.ToString(), " . g");
  return MakeError(DiagId::kLayoutIndivisible,
                   absl::StrCat(h.ToString(), " is not ", product, " for any layout ",
                                side == Side::kRight ? "f" : "g", ": ", reason));
}

// The conditions on counts and shapes, worded.
absl::Status CheckMultiples(const RegisterLayout& h, const RegisterLayout& divisor, Side side) {
  if (divisor.rank() > h.rank()) {
    return Indivisible(
        h, divisor, side,
        absl::StrCat("the divisor has rank ", divisor.rank(), ", the layout ", h.rank()));
  }
  auto check = [&](absl::string_view what, int64_t whole, int64_t part) {
    if (whole % part == 0) return absl::OkStatus();
    return Indivisible(h, divisor, side,
                       absl::StrCat(whole, " ", what, " are no multiple of ", part));
  };
  TILUS_RETURN_IF_ERROR(check("threads", h.num_threads(), divisor.num_threads()));
  TILUS_RETURN_IF_ERROR(
      check("elements a thread", h.locals_per_thread(), divisor.locals_per_thread()));
  const int lead = h.rank() - divisor.rank();
  for (int d = 0; d < divisor.rank(); ++d) {
    TILUS_RETURN_IF_ERROR(check(absl::StrCat("elements of dimension ", lead + d),
                                h.shape()[lead + d], divisor.shape()[d]));
  }
  return absl::OkStatus();
}

absl::StatusOr<RegisterLayout> Quotient(const RegisterLayout& h, const RegisterLayout& divisor,
                                        Side side) {
  TILUS_RETURN_IF_ERROR(CheckMultiples(h, divisor, side));
  const RegisterLayout padded = PadRank(divisor, h.rank());
  int64_t threads = padded.num_threads(), locals = padded.locals_per_thread();
  if (side == Side::kLeft) {
    threads = h.num_threads() / threads;
    locals = h.locals_per_thread() / locals;
  }
  std::optional<Halves> halves = Cut(h, threads, locals);
  if (!halves.has_value()) {
    return Indivisible(h, divisor, side,
                       absl::StrCat("its innermost ", threads, " threads and ", locals,
                                    " elements a thread hold no tile"));
  }
  const RegisterLayout& found = side == Side::kRight ? halves->inner : halves->outer;
  if (found != padded) {
    return Indivisible(h, divisor, side,
                       absl::StrCat("its ", side == Side::kRight ? "inner" : "outer", " part is ",
                                    found.ToString()));
  }
  return side == Side::kRight ? halves->outer : halves->inner;
}

}  // namespace

absl::StatusOr<RegisterLayout> Divide(const RegisterLayout& h, const RegisterLayout& g) {
  return Quotient(h, g, Side::kRight);
}

absl::StatusOr<RegisterLayout> LeftDivide(const RegisterLayout& h, const RegisterLayout& f) {
  return Quotient(h, f, Side::kLeft);
}

}  // namespace tilus

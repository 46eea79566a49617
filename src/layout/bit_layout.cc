#include "layout/bit_layout.h"

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"

namespace tilus {
namespace {

std::string Side(int bits, const RegisterLayout& layout) {
  return absl::StrCat(bits, "-bit ", layout.ToString());
}

// The first condition of a legal view that fails, or an empty text.
std::string FirstFailure(int bits1, const RegisterLayout& layout1, int bits2,
                         const RegisterLayout& layout2, std::optional<int64_t> bit_offset) {
  for (int bits : {bits1, bits2}) {
    if (bits < 1 || bits > kMaxElementBits) {
      return absl::StrCat("an element of ", bits, " bits is not 1 to ", kMaxElementBits,
                          " bits wide");
    }
  }
  if (layout1.num_threads() != layout2.num_threads()) {
    return absl::StrCat("the numbers of threads differ, ", layout1.num_threads(), " and ",
                        layout2.num_threads());
  }
  const int64_t source = layout1.locals_per_thread() * bits1;
  const int64_t target = layout2.locals_per_thread() * bits2;
  if (!bit_offset.has_value() && source != target) {
    return absl::StrCat("the bits per thread differ, ", layout1.locals_per_thread(), " x ", bits1,
                        " = ", source, " and ", layout2.locals_per_thread(), " x ", bits2, " = ",
                        target);
  }
  if (bit_offset.has_value() && (*bit_offset < 0 || *bit_offset > source - target)) {
    return absl::StrCat("the ", target, " bits from bit ", *bit_offset, " are not within the ",
                        source, " bits of a thread");
  }
  return "";
}

}  // namespace

absl::StatusOr<BitLayout> BitLayout::Create(int bits, RegisterLayout layout) {
  if (bits < 1 || bits > kMaxElementBits) {
    return MakeError(
        DiagId::kElementBits,
        absl::StrCat("an element of ", bits, " bits is not 1 to ", kMaxElementBits, " bits wide"));
  }
  return BitLayout(bits, std::move(layout));
}

int64_t BitLayout::registers_per_thread() const {
  return CeilDiv(bits_per_thread(), kRegisterBits);
}

BitLayout::Location BitLayout::Locate(int64_t thread, int64_t bit) const {
  return {layout_.Map(thread, bit / bits_), static_cast<int>(bit % bits_)};
}

std::vector<BitLayout::Place> BitLayout::Places(absl::Span<const int64_t> index, int bit) const {
  std::vector<Place> places;
  for (const RegisterLayout::Owner& owner : layout_.Owners(index)) {
    places.push_back({owner.thread, owner.local * bits_ + bit});
  }
  return places;
}

absl::string_view ViewVerdictName(ViewVerdict verdict) {
  switch (verdict) {
    case ViewVerdict::kFree:
      return "free";
    case ViewVerdict::kCosts:
      return "costs";
    case ViewVerdict::kIllegal:
      break;
  }
  return "illegal";
}

ViewCheck CheckView(int bits1, const RegisterLayout& layout1, int bits2,
                    const RegisterLayout& layout2, std::optional<int64_t> bit_offset) {
  const std::string failure = FirstFailure(bits1, layout1, bits2, layout2, bit_offset);
  if (!failure.empty()) {
    return {ViewVerdict::kIllegal, std::nullopt,
            absl::StrCat(failure, ": from ", Side(bits1, layout1), " to ", Side(bits2, layout2))};
  }
  const int64_t bits = layout2.locals_per_thread() * bits2;
  const int64_t offset = bit_offset.value_or(0);
  if (offset % kRegisterBits == 0) {
    return {ViewVerdict::kFree, 0,
            absl::StrCat("both name the same ", bits, " bits of each of ", layout2.num_threads(),
                         " threads, from register ", offset / kRegisterBits)};
  }
  const int64_t registers = CeilDiv(bits, kRegisterBits);
  return {ViewVerdict::kCosts, registers,
          absl::StrCat("bit ", offset, " is not the start of a register; each of the ", registers,
                       " registers of the result is shifted into place")};
}

absl::Status ViewStatus(const ViewCheck& check) {
  if (check.legal()) return absl::OkStatus();
  return MakeError(DiagId::kViewIllegal, check.reason,
                   "a view needs the same threads and the same bits in each thread");
}

absl::StatusOr<ViewLocations> LocateView(int bits1, const RegisterLayout& layout1, int bits2,
                                         const RegisterLayout& layout2,
                                         std::optional<int64_t> bit_offset, int64_t thread,
                                         int64_t bit) {
  TILUS_RETURN_IF_ERROR(ViewStatus(CheckView(bits1, layout1, bits2, layout2, bit_offset)));
  TILUS_ASSIGN_OR_RETURN(const BitLayout source, BitLayout::Create(bits1, layout1));
  TILUS_ASSIGN_OR_RETURN(const BitLayout target, BitLayout::Create(bits2, layout2));
  if (thread < 0 || thread >= target.num_threads() || bit < 0 || bit >= target.bits_per_thread()) {
    return MakeError(
        DiagId::kLayoutOperand,
        absl::StrCat("thread ", thread, ", bit ", bit, " is outside the ", target.num_threads(),
                     " threads of ", target.bits_per_thread(), " bits of ", Side(bits2, layout2)));
  }
  return ViewLocations{source.Locate(thread, bit_offset.value_or(0) + bit),
                       target.Locate(thread, bit)};
}

}  // namespace tilus

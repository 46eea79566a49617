// Bit layouts: where every bit of a register tensor is, and when one tensor is another.
//
// A tensor of b-bit elements with register layout f gives each thread a string of N * b bits,
// element i at bits [i*b, (i+1)*b): no gaps, least significant bit first, kept in 32-bit
// registers, register w holding bits [32w, 32w + 32). Elements may straddle registers. So the
// tensor's *bit layout* is f with one more dimension, the bit within the element:
//
//     (t, p)  ->  (index, bit) = (f(t, p / b), p mod b)           t < T, p < N * b
//
// A View takes the same registers for a tensor of another width and layout. The registers know
// only (t, p); so if both tensors range over the same (t, p), that is T1 = T2 and N1*b1 = N2*b2,
// the view is the identity on registers: zero instructions, whatever the two layouts are. That is
// the theorem, and CheckView is its statement. A view of a part, bits [o, o + N2*b2) of each
// thread, is still free when the part starts at a register, and otherwise shifts every register
// it makes into place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "layout/register_layout.h"

namespace tilus {

inline constexpr int kMaxElementBits = 64;
inline constexpr int kRegisterBits = 32;

class BitLayout {
 public:
  // @pre (checked) 1 <= bits <= kMaxElementBits
  static absl::StatusOr<BitLayout> Create(int bits, RegisterLayout layout);

  int bits() const { return bits_; }
  const RegisterLayout& layout() const { return layout_; }
  int64_t num_threads() const { return layout_.num_threads(); }
  // N * b. At most 2^37, no overflow.
  int64_t bits_per_thread() const { return layout_.locals_per_thread() * bits_; }
  int64_t registers_per_thread() const;

  // A bit of the tensor.
  struct Location {
    std::vector<int64_t> index;
    int bit;
    bool operator==(const Location&) const = default;
  };
  // A bit of the register file.
  struct Place {
    int64_t thread, bit;
    bool operator==(const Place&) const = default;
  };

  // @pre 0 <= thread < num_threads(), 0 <= bit < bits_per_thread()
  // @post Locate(t, p) = (f(t, p / b), p mod b)
  Location Locate(int64_t thread, int64_t bit) const;
  // @pre index is in the tile, 0 <= bit < bits()
  // @post Locate(p) == {index, bit} for exactly these places p, threads ascending
  std::vector<Place> Places(absl::Span<const int64_t> index, int bit) const;

 private:
  BitLayout(int bits, RegisterLayout layout) : bits_(bits), layout_(std::move(layout)) {}

  int bits_;
  RegisterLayout layout_;
};

enum class ViewVerdict { kFree, kCosts, kIllegal };

// "free", "costs", "illegal"
absl::string_view ViewVerdictName(ViewVerdict verdict);

struct ViewCheck {
  ViewVerdict verdict = ViewVerdict::kIllegal;
  std::optional<int64_t> instructions;  // nullopt when illegal
  // One sentence: when illegal the first condition that fails, with both layouts.
  std::string reason;

  bool legal() const { return verdict != ViewVerdict::kIllegal; }
};

// May the registers of (bits1, layout1) be taken for (bits2, layout2), and at what cost?
// Without `bit_offset` the whole is viewed, with it bits [offset, offset + N2*b2) of each thread.
// @post illegal unless 1 <= bits1, bits2 <= 64, T1 = T2, and N1*b1 = N2*b2 (with an offset:
//       0 <= offset and offset + N2*b2 <= N1*b1)
// @post free, 0 instructions, when the offset is absent or a multiple of 32
// @post otherwise costs one 32-bit (funnel) shift for each register of the result
ViewCheck CheckView(int bits1, const RegisterLayout& layout1, int bits2,
                    const RegisterLayout& layout2, std::optional<int64_t> bit_offset);

// The check as a status: OK when legal, else kViewIllegal with the reason.
absl::Status ViewStatus(const ViewCheck& check);

// Where bit `bit` of `thread` (a position in the target's bit string) is on both sides.
struct ViewLocations {
  BitLayout::Location source, target;
};
// @pre (checked) the view is legal, 0 <= thread < T, 0 <= bit < N2*b2
// @post source = Locate1(thread, offset + bit), target = Locate2(thread, bit)
absl::StatusOr<ViewLocations> LocateView(int bits1, const RegisterLayout& layout1, int bits2,
                                         const RegisterLayout& layout2,
                                         std::optional<int64_t> bit_offset, int64_t thread,
                                         int64_t bit);

}  // namespace tilus

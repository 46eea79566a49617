#include "layout/draw_tile.h"

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "base/diagnostic.h"
#include "layout/bit_layout.h"
#include "layout/draw.h"
#include "layout/layout_errors.h"

namespace tilus::layout_internal {

absl::Status CheckDrawable(const RegisterLayout& layout, std::optional<int> bits) {
  if (layout.size() > kMaxDrawnElements) {
    return MakeError(DiagId::kDrawing,
                     absl::StrCat(layout.ToString(), " has ", layout.size(),
                                  " elements, too many to draw (at most ", kMaxDrawnElements, ")"));
  }
  if (!bits.has_value()) return absl::OkStatus();
  return BitLayout::Create(*bits, layout).status();
}

TilePages::TilePages(const RegisterLayout& layout) {
  const absl::Span<const int64_t> shape = layout.shape();
  const size_t rank = shape.size();
  if (rank >= 1) columns = shape[rank - 1];
  if (rank >= 2) rows = shape[rank - 2];
  if (rank >= 3) pages = Product(shape.subspan(0, rank - 2));
}

std::vector<int64_t> TilePages::Index(const RegisterLayout& layout, int64_t page, int64_t row,
                                      int64_t column) const {
  int64_t linear = (page * rows + row) * columns + column;
  std::vector<int64_t> index(layout.rank());
  for (int d = layout.rank() - 1; d >= 0; --d) {
    index[d] = linear % layout.shape()[d];
    linear /= layout.shape()[d];
  }
  return index;
}

std::string TilePages::Title(const RegisterLayout& layout, int64_t page) const {
  if (layout.rank() < 3) return "";
  const std::vector<int64_t> index = Index(layout, page, 0, 0);
  std::string title = "[";
  for (int d = 0; d < layout.rank() - 2; ++d) absl::StrAppend(&title, index[d], ", ");
  return title + ":, :]";
}

std::string Caption(const RegisterLayout& layout, std::optional<int> bits) {
  std::string caption = absl::StrCat(
      layout.ToString(), ": shape ", ListText(layout.shape()), ", ", layout.num_threads(),
      layout.num_threads() == 1 ? " thread" : " threads", " of ", layout.locals_per_thread(),
      layout.locals_per_thread() == 1 ? " element" : " elements");
  if (bits.has_value()) {
    absl::StrAppend(&caption, ", ", *bits, *bits == 1 ? " bit each" : " bits each");
  }
  if (layout.replication() > 1) {
    absl::StrAppend(&caption, "; each element is in ", layout.replication(),
                    " threads, the first is shown");
  }
  return caption;
}

Color ThreadColor(int64_t thread) {
  constexpr int kGoldenAngle = 137;
  constexpr int kFloors[] = {150, 178, 120, 200};  // the darkest channel, by warp
  const int hue = static_cast<int>(thread % 360 * kGoldenAngle % 360);
  const int low = kFloors[thread / 32 % 4];
  // Around the hexagon of hues one channel is full, one at the floor, one between.
  const int between = hue % 60 * (255 - low) / 60;
  const int rising = low + between, falling = 255 - between;
  switch (hue / 60) {
    case 0:
      return {255, rising, low};
    case 1:
      return {falling, 255, low};
    case 2:
      return {low, 255, rising};
    case 3:
      return {low, falling, 255};
    case 4:
      return {rising, low, 255};
    default:
      return {255, low, falling};
  }
}

}  // namespace tilus::layout_internal

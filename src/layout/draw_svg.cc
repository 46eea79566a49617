#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/checked.h"
#include "base/status_macros.h"
#include "layout/bit_layout.h"
#include "layout/draw.h"
#include "layout/draw_tile.h"

namespace tilus {
namespace {

using layout_internal::Color;
using layout_internal::TilePages;

// Lengths in pixels.
constexpr int64_t kMargin = 16;
constexpr int64_t kLine = 18;   // a line of text
constexpr int64_t kLabel = 34;  // row and register labels
constexpr int64_t kCellWidth = 58;
constexpr int64_t kBitWidth = 26;
constexpr int64_t kRegisterHeight = 30;
constexpr int64_t kMaxRegisters = 64;  // drawn; a thread has at most 255
constexpr int64_t kCaptionWidth = 8;   // of a letter, about

class SvgDrawing {
 public:
  SvgDrawing(const RegisterLayout& layout, std::optional<int> bits)
      : layout_(layout),
        bits_(bits),
        pages_(layout),
        caption_(layout_internal::Caption(layout, bits)) {}

  std::string Draw() {
    y_ = kMargin + kLine;
    Text(kMargin, y_ - 4, "start", "cap", caption_);
    y_ += kLine / 2;
    for (int64_t page = 0; page < pages_.pages; ++page) DrawPage(page);
    if (bits_.has_value()) DrawRegisters();
    return Document();
  }

 private:
  int64_t CellHeight() const { return bits_.has_value() ? 52 : 38; }

  std::string Document() const {
    int64_t width = kLabel + pages_.columns * kCellWidth;
    if (bits_.has_value()) width = std::max(width, kLabel + kRegisterBits * kBitWidth);
    width = std::max(width, static_cast<int64_t>(caption_.size()) * kCaptionWidth);
    width += 2 * kMargin;
    const int64_t height = y_ + kMargin;
    return absl::StrCat(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
        "\" viewBox=\"0 0 ", width, " ", height,
        "\" font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"12\">\n"
        "<style>rect{stroke:#444;stroke-width:.7}text{fill:#111}.cap{font-size:13px;"
        "font-weight:bold}.axis{fill:#666}.own{font-weight:bold}.bit{font-size:10px}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\" style=\"stroke:none\"/>\n",
        body_, "</svg>\n");
  }

  void Text(int64_t x, int64_t y, absl::string_view anchor, absl::string_view style,
            absl::string_view text) {
    absl::StrAppend(&body_, "<text x=\"", x, "\" y=\"", y, "\" text-anchor=\"", anchor,
                    "\" class=\"", style, "\">", text, "</text>\n");
  }

  void Rect(int64_t x, int64_t y, int64_t width, int64_t height, const Color& color) {
    absl::StrAppendFormat(
        &body_, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%02x%02x%02x\"/>\n", x,
        y, width, height, color.red, color.green, color.blue);
  }

  void DrawPage(int64_t page) {
    const std::string title = pages_.Title(layout_, page);
    if (!title.empty()) {
      y_ += kLine;
      Text(kMargin, y_ - 4, "start", "cap", title);
    }
    y_ += kLine;
    const int64_t left = kMargin + kLabel;
    for (int64_t c = 0; c < pages_.columns; ++c) {
      Text(left + c * kCellWidth + kCellWidth / 2, y_ - 5, "middle", "axis", absl::StrCat(c));
    }
    for (int64_t r = 0; r < pages_.rows; ++r) {
      Text(left - 8, y_ + CellHeight() / 2 + 4, "end", "axis", absl::StrCat(r));
      for (int64_t c = 0; c < pages_.columns; ++c) {
        DrawCell(left + c * kCellWidth, layout_.FirstOwner(pages_.Index(layout_, page, r, c)));
      }
      y_ += CellHeight();
    }
  }

  void DrawCell(int64_t x, const RegisterLayout::Owner& owner) {
    Rect(x, y_, kCellWidth, CellHeight(), layout_internal::ThreadColor(owner.thread));
    const int64_t middle = x + kCellWidth / 2;
    Text(middle, y_ + 16, "middle", "own", absl::StrCat("t", owner.thread));
    Text(middle, y_ + 31, "middle", "loc", absl::StrCat("i", owner.local));
    if (!bits_.has_value()) return;
    const int64_t first = owner.local * *bits_;
    Text(
        middle, y_ + 46, "middle", "bit",
        *bits_ == 1 ? absl::StrCat("b", first) : absl::StrCat("b", first, "-", first + *bits_ - 1));
  }

  // Each register a row, bit 31 on the left, as elements: the same in every thread.
  void DrawRegisters() {
    const int64_t total = layout_.locals_per_thread() * *bits_;
    const int64_t registers = CeilDiv(total, kRegisterBits);
    const int64_t drawn = std::min(registers, kMaxRegisters);
    y_ += 2 * kLine;
    Text(kMargin, y_ - 4, "start", "cap",
         absl::StrCat("the ", registers, registers == 1 ? " register" : " registers",
                      " of a thread, by local element",
                      drawn < registers ? absl::StrCat(" (the first ", drawn, ")") : ""));
    y_ += kLine;
    for (int64_t bit : {31, 24, 23, 16, 15, 8, 7, 0}) {
      Text(BitX(bit) + kBitWidth / 2, y_ - 5, "middle", "axis", absl::StrCat(bit));
    }
    for (int64_t w = 0; w < drawn; ++w) {
      Text(kMargin + kLabel - 8, y_ + kRegisterHeight / 2 + 4, "end", "axis", absl::StrCat("r", w));
      DrawRegister(w * kRegisterBits, std::min(total, (w + 1) * kRegisterBits));
      y_ += kRegisterHeight;
    }
  }

  int64_t BitX(int64_t bit_in_register) const {
    return kMargin + kLabel + (kRegisterBits - 1 - bit_in_register) * kBitWidth;
  }

  // The parts of elements in bits [begin, end) of the thread, all of one register.
  void DrawRegister(int64_t begin, int64_t end) {
    for (int64_t bit = begin; bit < end;) {
      const int64_t element = bit / *bits_;
      const int64_t last = std::min(end, (element + 1) * *bits_) - 1;
      const int64_t x = BitX(last % kRegisterBits), width = (last - bit + 1) * kBitWidth;
      Rect(x, y_, width, kRegisterHeight, layout_internal::ThreadColor(element));
      // A part of an element says which of its bits it has.
      const int64_t low = bit - element * *bits_, high = last - element * *bits_;
      const bool whole = high - low + 1 == *bits_;
      Text(x + width / 2, y_ + kRegisterHeight / 2 + (whole ? 4 : -2), "middle", "own",
           absl::StrCat("i", element));
      if (!whole) {
        Text(x + width / 2, y_ + kRegisterHeight / 2 + 11, "middle", "bit",
             low == high ? absl::StrCat(low) : absl::StrCat(high, ":", low));
      }
      bit = last + 1;
    }
  }

  const RegisterLayout& layout_;
  const std::optional<int> bits_;
  const TilePages pages_;
  const std::string caption_;
  std::string body_;
  int64_t y_ = 0;  // where the next thing goes
};

}  // namespace

absl::StatusOr<std::string> DrawSvg(const RegisterLayout& layout, std::optional<int> bits) {
  TILUS_RETURN_IF_ERROR(layout_internal::CheckDrawable(layout, bits));
  return SvgDrawing(layout, bits).Draw();
}

}  // namespace tilus

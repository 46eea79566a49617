#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "layout/draw.h"
#include "layout/draw_tile.h"

namespace tilus {
namespace {

using layout_internal::Color;
using layout_internal::TilePages;

// The nearest of the 6 x 6 x 6 colours of a 256-colour terminal.
int AnsiColor(const Color& color) {
  auto level = [](int channel) { return channel < 48 ? 0 : std::min(5, (channel - 35) / 40); };
  return 16 + 36 * level(color.red) + 6 * level(color.green) + level(color.blue);
}

std::string PadLeft(absl::string_view text, size_t width) {
  return absl::StrCat(std::string(width - std::min(width, text.size()), ' '), text);
}

class TerminalDrawing {
 public:
  TerminalDrawing(const RegisterLayout& layout, const DrawOptions& options)
      : layout_(layout), options_(options), pages_(layout) {
    // The widest cell is at the last thread and local; the labels of rows need their own width.
    cell_width_ = CellText({layout.num_threads() - 1, layout.locals_per_thread() - 1}).size();
    cell_width_ = std::max(cell_width_, absl::StrCat(pages_.columns - 1).size());
    label_width_ = absl::StrCat(pages_.rows - 1).size();
  }

  std::string Draw() {
    absl::StrAppend(&out_, layout_internal::Caption(layout_, options_.bits), "\n");
    absl::StrAppend(&out_, options_.bits.has_value() ? "cells: thread:local@first bit\n"
                                                     : "cells: thread:local\n");
    for (int64_t page = 0; page < pages_.pages; ++page) DrawPage(page);
    return std::move(out_);
  }

 private:
  std::string CellText(const RegisterLayout::Owner& owner) const {
    std::string text = absl::StrCat(owner.thread, ":", owner.local);
    if (options_.bits.has_value()) absl::StrAppend(&text, "@", owner.local * *options_.bits);
    return text;
  }

  void DrawPage(int64_t page) {
    const std::string title = pages_.Title(layout_, page);
    if (!title.empty()) absl::StrAppend(&out_, "\n", title, "\n");
    absl::StrAppend(&out_, std::string(label_width_, ' '));
    for (int64_t c = 0; c < pages_.columns; ++c) {
      absl::StrAppend(&out_, " ", PadLeft(absl::StrCat(c), cell_width_ + 1));
    }
    out_ += "\n";
    for (int64_t r = 0; r < pages_.rows; ++r) {
      absl::StrAppend(&out_, PadLeft(absl::StrCat(r), label_width_));
      for (int64_t c = 0; c < pages_.columns; ++c) {
        out_ += " ";
        DrawCell(layout_.FirstOwner(pages_.Index(layout_, page, r, c)));
      }
      out_ += "\n";
    }
  }

  void DrawCell(const RegisterLayout::Owner& owner) {
    const std::string text = PadLeft(CellText(owner), cell_width_ + 1);
    if (options_.color == DrawColor::kPlain) {
      out_ += text;
      return;
    }
    const int background = AnsiColor(layout_internal::ThreadColor(owner.thread));
    absl::StrAppend(&out_, "\x1b[30;48;5;", background, "m", text, "\x1b[0m");
  }

  const RegisterLayout& layout_;
  const DrawOptions& options_;
  const TilePages pages_;
  size_t cell_width_ = 0, label_width_ = 0;
  std::string out_;
};

}  // namespace

absl::StatusOr<std::string> DrawTerminal(const RegisterLayout& layout, const DrawOptions& options) {
  TILUS_RETURN_IF_ERROR(layout_internal::CheckDrawable(layout, options.bits));
  return TerminalDrawing(layout, options).Draw();
}

}  // namespace tilus

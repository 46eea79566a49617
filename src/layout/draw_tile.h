// What the two drawings share: a tile as pages of cells, and the colour of a thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "layout/register_layout.h"

namespace tilus::layout_internal {

// Refuses tiles too large to draw and bad widths (`bits` absent is fine).
absl::Status CheckDrawable(const RegisterLayout& layout, std::optional<int> bits);

// A tile as `pages` grids of rows x columns: the last two dimensions, ones in front where absent.
struct TilePages {
  int64_t pages = 1, rows = 1, columns = 1;

  explicit TilePages(const RegisterLayout& layout);
  // The index in `layout` of a cell.
  std::vector<int64_t> Index(const RegisterLayout& layout, int64_t page, int64_t row,
                             int64_t column) const;
  // "[2, 0, :, :]", or nothing for a tile of one page.
  std::string Title(const RegisterLayout& layout, int64_t page) const;
};

// "local(2,1)...: shape [16, 8], 32 threads of 4 elements", and what replication hides.
std::string Caption(const RegisterLayout& layout, std::optional<int> bits);

struct Color {
  int red, green, blue;  // 0 to 255
};
// A light colour for dark letters. Threads near each other differ in hue; the tint changes from
// warp to warp.
Color ThreadColor(int64_t thread);

}  // namespace tilus::layout_internal

// Pictures of layouts: who holds what.
//
// A tile is drawn as a grid of cells, rows down, columns across; a cell says thread and local of
// the element's first owner, as "t:i", and has a colour of its own for each thread. With an element
// width a cell also says where the element starts in the thread's bit string, and the SVG shows
// beneath the tile the registers of a thread, bit by bit: elements that straddle registers show.
//
// Tiles of rank 1 are one row, those of higher rank a page for each index of the leading
// dimensions. Pictures depend on nothing but their arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "layout/register_layout.h"

namespace tilus {

// Larger tiles are refused: their pictures help nobody.
inline constexpr int64_t kMaxDrawnElements = int64_t{1} << 14;

enum class DrawColor { kPlain, kAnsi };

struct DrawOptions {
  DrawColor color = DrawColor::kPlain;
  std::optional<int> bits;  // the element width, 1 to 64: adds "@first bit"
};

// Lines of text, the last one ended. With kAnsi each cell has a background of the 256-colour set
// and black letters; without, there are no escape codes.
// @pre (checked) at most kMaxDrawnElements elements; a width of 1 to 64
absl::StatusOr<std::string> DrawTerminal(const RegisterLayout& layout, const DrawOptions& options);

// A complete SVG document. @pre as DrawTerminal
absl::StatusOr<std::string> DrawSvg(const RegisterLayout& layout,
                                    std::optional<int> bits = std::nullopt);

}  // namespace tilus

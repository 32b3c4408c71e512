// SPDX-License-Identifier: Apache-2.0
//
// The cores of a device as tiles. Pure, safe from any thread.
#pragma once

#include "read/model/snapshot.hpp"
#include "show/tui/screen/screen.hpp"

namespace ttmem::tui {

// The size of the tiles in display cells, and the number of visible tiles.
struct GridPlan {
  int tile_width = 0;  // including the blank column at the right of the tile
  // Number of rows of a tile. The first row shows the percent, the second row is mini_map(), the
  // third row shows the headroom.
  int tile_height = 0;
  int gap = 0;  // blank rows below a tile
  int columns = 0;
  int rows = 0;

  // Return the width and the height of the grid in cells, including the axes and the caption.
  [[nodiscard]] int width() const { return kAxis + columns * tile_width; }
  [[nodiscard]] int height() const { return 2 + rows * (tile_height + gap); }

  static constexpr int kAxis = 4;
};

// Returns the largest tiles for which the whole grid fits into `width` and `height`. If the whole
// grid does not fit with any tile size, returns small tiles for a part of the grid.
[[nodiscard]] GridPlan grid_plan(const model::Device& device, int width, int height);

struct CoreCursor {
  int x = 0;
  int y = 0;
};

void core_grid(Screen& screen, Pane pane, const model::Device& device, const GridPlan& plan,
               CoreCursor cursor);

}  // namespace ttmem::tui

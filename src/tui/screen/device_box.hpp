// SPDX-License-Identifier: Apache-2.0
//
// One device, in the three sizes that view 1 shows. What it says: views/device_rows.hpp; where the
// columns are: views/device_layout.hpp. Pure, safe from any thread.
#pragma once

#include "model/snapshot.hpp"
#include "tui/screen/frame.hpp"

namespace ttmem::tui {

// Rows that full_box() needs for this device, the frame included.
[[nodiscard]] int full_box_height(const model::Device& device);

// A box with bars and, under L1, the tree of what it is made of.
void full_box(Pane pane, const model::Device& device, bool selected);
// The same in five rows: the parts of L1 are the colours of its bar.
void compact_box(Pane pane, const model::Device& device, bool selected);
// One row, and the row above all of them.
void device_line_header(Pane pane);
void device_line(Pane pane, const model::Device& device, bool selected);

}  // namespace ttmem::tui

// SPDX-License-Identifier: Apache-2.0
//
// One device, in the three sizes that view 1 shows. What it says: views/device_rows.hpp; where the
// columns are: views/device_layout.hpp. Pure, safe from any thread.
#pragma once

#include "read/model/snapshot.hpp"
#include "show/tui/screen/frame.hpp"
#include "show/views/device_rows.hpp"

namespace ttmem::tui {

// `rows` is what device_rows() says of the device; a line shows no notes and needs none.

// Rows that full_box() needs, the frame included.
[[nodiscard]] int full_box_height(const views::DeviceRows& rows);

// A box with bars and, under L1, the tree of what it is made of.
void full_box(Pane pane, const model::Device& device, const views::DeviceRows& rows, bool selected);
// The same in five rows: the parts of L1 are the colours of its bar.
void compact_box(Pane pane, const model::Device& device, const views::DeviceRows& rows,
                 bool selected);
// One row, and the row above all of them.
void device_line_header(Pane pane);
void device_line(Pane pane, const model::Device& device, const views::DeviceRows& rows,
                 bool selected);

}  // namespace ttmem::tui

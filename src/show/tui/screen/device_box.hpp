// SPDX-License-Identifier: Apache-2.0
//
// Draws one device in the three sizes of view 1. show/views/device_rows.hpp defines the texts,
// show/views/device_layout.hpp the positions of the columns. Pure, safe from any thread.
#pragma once

#include "read/model/snapshot.hpp"
#include "show/tui/screen/frame.hpp"
#include "show/views/device_rows.hpp"

namespace ttmem::tui {

// In all functions `rows` is the result of device_rows() for the device. For device_line(), the
// result of device_rows_without_notes() is enough, because a line shows no notes.

// Returns the number of rows that full_box() needs, including the frame.
[[nodiscard]] int full_box_height(const views::DeviceRows& rows);

// Draws a box with one bar per row. Below the row of L1, a tree shows the parts of L1.
void full_box(Pane pane, const model::Device& device, const views::DeviceRows& rows, bool selected);
// Draws a box of five rows. The bar of L1 shows the parts of L1 in their colours.
void compact_box(Pane pane, const model::Device& device, const views::DeviceRows& rows,
                 bool selected);
// Draw the header of the device lines, and the line of one device.
void device_line_header(Pane pane);
void device_line(Pane pane, const model::Device& device, const views::DeviceRows& rows,
                 bool selected);

}  // namespace ttmem::tui

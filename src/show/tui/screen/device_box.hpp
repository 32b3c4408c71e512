// SPDX-License-Identifier: Apache-2.0
//
// One device in the three sizes of view 1. show/views/device_rows.hpp has the texts,
// show/views/device_layout.hpp the places of the columns. Pure, safe from any thread.
#pragma once

#include "read/model/snapshot.hpp"
#include "show/tui/screen/frame.hpp"
#include "show/views/device_rows.hpp"

namespace ttmem::tui {

// In all functions `rows` is device_rows() of the device. For the line of a device,
// device_rows_without_notes() suffices, because a line shows no notes.

// Returns the number of rows that full_box() needs, including the frame.
[[nodiscard]] int full_box_height(const views::DeviceRows& rows);

// Draws a box with bars and, below L1, the tree of its parts.
void full_box(Pane pane, const model::Device& device, const views::DeviceRows& rows, bool selected);
// Draws a box of five rows. The colours in the bar of L1 show its parts.
void compact_box(Pane pane, const model::Device& device, const views::DeviceRows& rows,
                 bool selected);
// Draw the header of the device lines, and the line of one device.
void device_line_header(Pane pane);
void device_line(Pane pane, const model::Device& device, const views::DeviceRows& rows,
                 bool selected);

}  // namespace ttmem::tui

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "read/model/snapshot.hpp"
#include "show/tui/screen/screen.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

// Draws view 1: every device in the largest form that fits, then the processes. The forms, largest
// first: full boxes; compact boxes; one line per device, with a box of the selected device below
// the lines.
void detail_view(Screen& screen, Pane pane, const model::Snapshot& snapshot,
                 const ViewState& state);

// Returns the number of rows that detail_view() needs to show everything in `width` columns.
[[nodiscard]] int detail_height(const model::Snapshot& snapshot, int width);

// Returns the index of the device that the user selected, or 0 if the snapshot does not have that
// device.
[[nodiscard]] std::size_t selected_device(const model::Snapshot& snapshot, const ViewState& state);

}  // namespace ttmem::tui

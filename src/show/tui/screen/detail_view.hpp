// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "read/model/snapshot.hpp"
#include "show/tui/screen/screen.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

// Draws view 1: every device as large as the pane allows, then the processes. The forms, largest
// first: full boxes; compact boxes; one line per device, with a box of the selected device below
// the lines.
void detail_view(Screen& screen, Pane pane, const model::Snapshot& snapshot,
                 const ViewState& state);

// Returns the number of rows that detail_view() needs at this width to show everything.
[[nodiscard]] int detail_height(const model::Snapshot& snapshot, int width);

// Returns the index of the device that the state names, or 0 if that device is gone.
[[nodiscard]] std::size_t selected_device(const model::Snapshot& snapshot, const ViewState& state);

}  // namespace ttmem::tui

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "read/model/snapshot.hpp"
#include "show/tui/screen/core_grid.hpp"
#include "show/tui/screen/screen.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

// Draws the L1 of one core as a bar, and as a list of ranges with sizes and owners, highest address
// first. The bar is upright if the pane is high enough, otherwise horizontal. `device` is an index
// into the snapshot's devices. The cursor must be inside the device's grid.
void core_panel(Screen& screen, Pane pane, const model::Snapshot& snapshot, std::size_t device,
                CoreCursor cursor, const ViewState& state);

// Returns a title such as "Core (3,4) 47%".
[[nodiscard]] std::string core_title(const model::Device& device, CoreCursor cursor);

}  // namespace ttmem::tui

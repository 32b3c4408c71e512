// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/snapshot.hpp"
#include "tui/screen/chart_history.hpp"
#include "tui/screen/screen.hpp"
#include "tui/screen/view_state.hpp"

namespace ttmem::tui {

// View 2: DRAM, L1 and the kinds of L1 of one device over the last 30 to 300 seconds. Charts that
// do not fit are left out, and a line says so.
void chart_view(Screen& screen, Pane pane, const model::Snapshot& snapshot, const ViewState& state,
                const ChartHistory& history);

}  // namespace ttmem::tui

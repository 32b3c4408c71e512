// SPDX-License-Identifier: Apache-2.0
//
// Composes the whole screen from the snapshot, the choices of the user and the size of the
// terminal. Pure, safe from any thread.
#pragma once

#include <cstdint>

#include "read/model/snapshot.hpp"
#include "show/tui/screen/chart_history.hpp"
#include "show/tui/screen/screen.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

// The properties that stay the same while the program runs.
struct Setup {
  Display display{};
  std::int64_t utc_offset_seconds = 0;
};

// The minimum size of the terminal. A smaller terminal shows only a message.
inline constexpr Size kSmallest{40, 10};

// Returns the screen: the tabs, the chosen view, a warning if the snapshot has a warning, and the
// keys.
[[nodiscard]] Screen compose(const model::Snapshot& snapshot, const ViewState& state,
                             const ChartHistory& history, Size size, const Setup& setup);

// Returns view 1 without tabs and keys, in the height that view 1 needs. Used by --once and for
// output into a pipe.
[[nodiscard]] Frame compose_once(const model::Snapshot& snapshot, int width, const Setup& setup);

}  // namespace ttmem::tui

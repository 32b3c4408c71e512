// SPDX-License-Identifier: Apache-2.0
//
// The whole screen as a value: a pure function of the snapshot, what the user chose and the size of
// the terminal. Safe from any thread.
#pragma once

#include <cstdint>

#include "read/model/snapshot.hpp"
#include "show/tui/screen/chart_history.hpp"
#include "show/tui/screen/screen.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

// What does not change while the program runs.
struct Setup {
  Display display{};
  std::int64_t utc_offset_seconds = 0;
};

// A smaller terminal only gets a message.
inline constexpr Size kSmallest{40, 10};

// Tabs, the view, a warning when there is one, and the keys.
[[nodiscard]] Screen compose(const model::Snapshot& snapshot, const ViewState& state,
                             const ChartHistory& history, Size size, const Setup& setup);

// View 1 alone, as high as it needs to be: for --once and for pipes.
[[nodiscard]] Frame compose_once(const model::Snapshot& snapshot, int width, const Setup& setup);

}  // namespace ttmem::tui

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "read/model/device_name.hpp"
#include "read/model/snapshot.hpp"
#include "show/tui/screen/chart_history.hpp"
#include "show/tui/screen/compose.hpp"
#include "show/tui/screen/view_state.hpp"

namespace ttmem::tui {

// What the live view is made of.
struct TopOptions {
  ViewState start;
  bool color = true;
  bool unicode = true;
  std::int64_t utc_offset_seconds = 0;
  std::string settings_path;  // F12 writes there
  // What is held now, or where start.player has come to; called once per frame, and valid until
  // then.
  std::function<const model::Snapshot&(const ViewState&)> collect;
  // What was before, when the chart of a device is first seen. None: charts start empty.
  std::function<std::vector<ChartSample>(const model::DeviceName&)> history_of{};
  // Of a recording that is played: all of it. Else empty: it is gathered.
  ChartHistory history{};
};

// Shows the live view until the user or a signal ends it, then restores the terminal. Fails when
// there is no usable terminal.
[[nodiscard]] Result<void> run_top(const TopOptions& options);

}  // namespace ttmem::tui

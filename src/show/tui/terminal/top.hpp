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

// The inputs of the live view.
struct TopOptions {
  ViewState start;
  bool color = true;
  bool unicode = true;
  std::int64_t utc_offset_seconds = 0;
  std::string settings_path;  // file that F12 writes
  // Returns the current snapshot, or the snapshot at the time of the player. Called once per frame;
  // the snapshot is valid until the next call.
  std::function<const model::Snapshot&(const ViewState&)> collect;
  // Returns the earlier samples of a device when its chart is first shown. Empty function: charts
  // start empty.
  std::function<std::vector<ChartSample>(const model::DeviceName&)> history_of{};
  // The samples of the whole recording, if a recording is played. Otherwise empty, because samples
  // are collected while the live view runs.
  ChartHistory history{};
};

// Shows the live view until the user or a signal ends it, then restores the terminal. Fails if
// there is no usable terminal.
[[nodiscard]] Result<void> run_top(const TopOptions& options);

}  // namespace ttmem::tui

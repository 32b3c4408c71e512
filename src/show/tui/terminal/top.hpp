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

// The samples of a device from before the view was started.
struct EarlierSamples {
  std::vector<ChartSample> samples;
  std::string origin{};  // for the user: the source, or why there are no samples
};

// The inputs of the live view.
struct TopOptions {
  ViewState start;
  bool color = true;
  bool unicode = true;
  std::int64_t utc_offset_seconds = 0;
  std::string settings_path;  // file that F12 writes
  // A function that returns the snapshot to show: the current snapshot, or the snapshot at the time
  // of the player if a recording is played. Called once per frame. The snapshot is valid until the
  // next call.
  std::function<const model::Snapshot&(const ViewState&)> collect;
  // A function that returns the earlier samples of a device. Called when the charts of a device are
  // first shown. If the function is empty, charts start empty.
  std::function<EarlierSamples(const model::DeviceName&)> history_of{};
  // The samples of the whole recording that is played. Empty for live figures, whose samples the
  // view collects itself.
  ChartHistory history{};
};

// Runs `ttmem top` until the user or a signal ends it, then restores the terminal. Fails if there
// is no usable terminal.
[[nodiscard]] Result<void> run_top(const TopOptions& options);

}  // namespace ttmem::tui

// SPDX-License-Identifier: Apache-2.0
//
// Curves over time in characters. Pure, safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "show/tui/screen/chart_history.hpp"
#include "show/tui/screen/frame.hpp"

namespace ttmem::tui {

// Which part of the history a chart shows.
struct Window {
  std::uint64_t end_ns = 0;
  std::uint64_t span_ns = 0;
  // A column without a sample shows the last one. If that is older than this, nothing is drawn:
  // nothing was measured.
  std::uint64_t hold_ns = 0;
};

using Curve = std::vector<std::optional<double>>;

// One value per column, from the oldest to the newest: the highest sample of that time.
[[nodiscard]] Curve curve_of(const std::deque<ChartSample>& samples,
                             model::Bytes ChartSample::*figure, const Window& window, int columns);

// The columns that area() has in a pane of this width.
[[nodiscard]] int area_columns(int width, Display display);
// A filled curve of shares from 0 to 1, green, yellow and red by height. A measured zero is a dim
// base line; unknown values stay blank.
void area(Pane& pane, const Curve& shares);

// Four kinds on top of each other, as shares of the height; in the order of text::kL1Parts. All
// have one value per column of the pane.
void stack(Pane& pane, const std::array<Curve, 4>& shares);

// "-60s ... -30s ... now" below a plot.
void time_axis(Pane pane, std::uint32_t window_seconds);
// The time of a whole recording below a plot: "0 s ... 30 s ... 60 s".
void recording_axis(Pane pane, std::int64_t end_ns);
// A line from top to bottom where the recording is.
void cursor(Pane& pane, std::int64_t now_ns, std::int64_t end_ns);

}  // namespace ttmem::tui

// SPDX-License-Identifier: Apache-2.0
//
// Draws figures over time with characters. Pure, safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "show/tui/screen/chart_history.hpp"
#include "show/tui/screen/frame.hpp"

namespace ttmem::tui {

// The part of the history that a chart shows.
struct Window {
  std::uint64_t end_ns = 0;
  std::uint64_t span_ns = 0;
  // Maximum time for which the value of a sample is shown. Columns after that time stay empty until
  // the next sample, because nothing was measured.
  std::uint64_t hold_ns = 0;
};

using Curve = std::vector<std::optional<double>>;

// Returns one value per column, oldest column first. The value is the highest sample in the time of
// the column. A column without a sample repeats the last earlier sample for at most
// Window::hold_ns, then is nullopt.
[[nodiscard]] Curve curve_of(const std::deque<ChartSample>& samples,
                             model::Bytes ChartSample::*figure, const Window& window, int columns);

// Returns the number of columns that area() draws in a pane of this width.
[[nodiscard]] int area_columns(int width, Display display);
// Draws a curve of shares from 0 to 1 with the area below the curve filled. The colour is green,
// yellow or red by height. A measured zero is drawn as a dim base line; unknown values stay blank.
void area(Pane& pane, const Curve& shares);

// Draws four curves on top of each other, one for each kind of text::kL1Parts in this order. Values
// are shares of the height of the pane. Each curve has one value per column of the pane.
void stack(Pane& pane, const std::array<Curve, 4>& shares);

// Draws an axis such as "-60s ... -30s ... now" below a plot.
void time_axis(Pane pane, std::uint32_t window_seconds);
// Draws the time axis of a whole recording below a plot, such as "0 s ... 30 s ... 60 s".
void recording_axis(Pane pane, std::int64_t end_ns);
// Draws a vertical line at the current time of the recording.
void cursor(Pane& pane, std::int64_t now_ns, std::int64_t end_ns);

}  // namespace ttmem::tui

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "show/tui/screen/detail_view.hpp"
#include "show/tui/screen/glyphs.hpp"
#include "show/tui/screen/plot.hpp"
#include "show/tui/screen/views.hpp"
#include "show/tui/screen/widgets.hpp"
#include "show/views/device_rows.hpp"
#include "text/format.hpp"

namespace ttmem::tui {
namespace {

using model::Bytes;
using text::format_bytes;
using text::format_share;
using text::share_of;

constexpr int kLeastHeight = 5;  // minimum height: the frame, the axis and two rows of plot
constexpr int kAxisCells = 10;

struct Chart {
  const model::Device& device;
  const std::deque<ChartSample>& samples;
  Window window;
  std::uint32_t seconds;
  ChartSample current;
  const std::optional<Player>& player;

  [[nodiscard]] Bytes now(Bytes ChartSample::*figure) const { return current.*figure; }
  // Returns one value of a figure per column, as a share of `whole`.
  [[nodiscard]] Curve curve(Bytes ChartSample::*figure, std::uint64_t whole, int columns) const {
    Curve curve = curve_of(samples, figure, window, columns);
    for (auto& value : curve) {
      if (value) *value /= static_cast<double>(whole);
    }
    return curve;
  }
};

Bytes peak_in(const Chart& chart, Bytes ChartSample::*figure) {
  Bytes peak;
  for (const ChartSample& sample : chart.samples) {
    if (sample.time_unix_ns + chart.window.span_ns < chart.window.end_ns) continue;
    if (sample.*figure) peak = std::max(peak.value_or(0), *(sample.*figure));
  }
  return peak;
}

// Returns the words before the value of the peak. For live figures, the words name the window, such
// as "60s peak ", because the peak is the highest value in that window only.
std::string peak_words(const Chart& chart) {
  return chart.player ? "peak " : fmt::format("{}s peak ", chart.seconds);
}

// Draws the time axis. For a recording, also draws a line in `plot` at the current time.
void draw_time(Pane axis, Pane& plot, const Chart& chart) {
  if (!chart.player) return time_axis(axis, chart.seconds);
  recording_axis(axis, chart.player->tape->end_ns);
  cursor(plot, chart.player->now_ns, chart.player->tape->end_ns);
}

void y_axis(Pane& pane, int rows, const std::string& top, const std::string& middle,
            const std::string& bottom) {
  const Glyphs& g = glyphs_of(pane.display());
  for (int y = 0; y < rows; ++y) pane.put(kAxisCells - 1, y, g.vertical, {Ink::dim});
  pane.put_right(kAxisCells - 2, rows - 1, bottom, {Ink::dim});
  if (rows >= 5) pane.put_right(kAxisCells - 2, rows / 2, middle, {Ink::dim});
  if (rows >= 2) pane.put_right(kAxisCells - 2, 0, top, {Ink::dim});
}

void share_chart(Screen& screen, Pane pane, const Chart& chart, std::string_view name,
                 Bytes ChartSample::*figure, Bytes capacity) {
  screen.claim(std::string(name), pane);
  const Bytes now = chart.now(figure);
  const Bytes peak = peak_in(chart, figure);
  const std::string title =
      fmt::format("Device {} {} {}: {} of {}", text::format_device(chart.device), name,
                  format_share(share_of(now, capacity)), format_bytes(now), format_bytes(capacity));
  const std::string peak_share = peak_words(chart) + format_share(share_of(peak, capacity));
  const std::string both = fmt::format("{} ({})", peak_share, format_bytes(peak));
  const bool roomy = static_cast<int>(title.size() + both.size()) + 10 <= pane.width();
  Pane inside = box(pane, title, roomy ? both : peak_share);
  const int rows = inside.height() - 1;
  Pane plot = inside.part({kAxisCells, 0, inside.width() - kAxisCells, rows});
  y_axis(inside, rows, "100%", "50%", "0%");
  if (capacity.value_or(0) == 0) {
    plot.put(0, rows / 2, "the capacity is not known", {Ink::dim});
    return;
  }
  area(plot, chart.curve(figure, *capacity, area_columns(plot.width(), plot.display())));
  draw_time(inside.part({kAxisCells, rows, plot.width(), 1}), plot, chart);
}

// Returns the upper end of the axis: a round number of MiB above the peak, at most the capacity.
std::uint64_t nice_top(std::uint64_t peak, Bytes capacity) {
  constexpr double kMiB = 1024.0 * 1024.0;
  const double wanted = std::max(static_cast<double>(peak) * 1.1 / kMiB, 1.0);
  const double power = std::pow(10.0, std::floor(std::log10(wanted)));
  double top = 10 * power;
  for (const double step : {1.0, 2.0, 4.0, 6.0, 8.0}) {
    if (step * power >= wanted) {
      top = step * power;
      break;
    }
  }
  const auto bytes = static_cast<std::uint64_t>(top * kMiB);
  return capacity && *capacity > 0 ? std::min(bytes, std::max(*capacity, peak)) : bytes;
}

constexpr std::array<Bytes ChartSample::*, 4> kKinds = {
    &ChartSample::l1_bytes, &ChartSample::l1_small_bytes, &ChartSample::cb_bytes,
    &ChartSample::kernels_bytes};

void kinds_chart(Screen& screen, Pane pane, const Chart& chart, Bytes capacity) {
  screen.claim("kinds", pane);
  const Bytes peak = peak_in(chart, &ChartSample::l1_used_bytes);
  Pane inside = box(pane, fmt::format("Device {} L1 by kind", text::format_device(chart.device)),
                    peak_words(chart) + format_bytes(peak));
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    entries.push_back({text::kL1Parts[i], format_bytes(chart.now(kKinds[i]))});
  }
  legend(inside, 1, 0, entries);
  const int rows = inside.height() - 2;
  if (rows <= 0) return;
  const std::uint64_t top = nice_top(peak.value_or(0), capacity);
  Pane body = inside.part({0, 1, inside.width(), rows});
  y_axis(body, rows, format_bytes(top), format_bytes(top / 2), "0 MiB");
  Pane plot = body.part({kAxisCells, 0, body.width() - kAxisCells, rows});
  std::array<Curve, 4> curves;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    curves[i] = chart.curve(kKinds[i], top, plot.width());
  }
  stack(plot, curves);
  draw_time(inside.part({kAxisCells, inside.height() - 1, plot.width(), 1}), plot, chart);
}

// Returns the rectangles of the charts. If there is room, two charts are side by side above the
// third chart. Otherwise the charts are below each other, and the last charts are left out if they
// do not fit.
std::vector<Rect> places(int width, int height) {
  if (width >= 110 && height >= 2 * kLeastHeight) {
    const int upper = height / 2;
    const int left = width / 2;
    return {{0, 0, left, upper}, {left, 0, width - left, upper}, {0, upper, width, height - upper}};
  }
  const int count = std::clamp(height / kLeastHeight, 1, 3);
  const int room = count < 3 ? height - 1 : height;
  std::vector<Rect> rects;
  for (int i = 0; i < count; ++i) {
    const int top = room * i / count;
    rects.push_back({0, top, width, room * (i + 1) / count - top});
  }
  return rects;
}

// Returns the time window of the charts. For a recording, the window is the whole recording, and
// each value is shown until the next sample. For live figures, the window is the last
// `window_seconds` seconds, and each value is shown for a few refresh intervals.
Window window_of(const model::Snapshot& snapshot, const ViewState& state) {
  if (state.player) {
    const auto whole = static_cast<std::uint64_t>(state.player->tape->end_ns);
    return {whole, std::max<std::uint64_t>(whole, 1), whole};
  }
  constexpr std::uint64_t kNsPerMs = 1'000'000;
  const std::uint64_t hold_ms = std::max<std::uint64_t>(2'500, state.interval_ms * 5ULL / 2);
  return {snapshot.time_unix_ns, state.window_seconds * 1000 * kNsPerMs, hold_ms * kNsPerMs};
}

}  // namespace

void chart_view(Screen& screen, Pane pane, const model::Snapshot& snapshot, const ViewState& state,
                const ChartHistory& history) {
  const model::Device& device = snapshot.devices[selected_device(snapshot, state)];
  const std::deque<ChartSample>& samples = history.of(device);
  const ChartSample current = state.player      ? sample_of(device, 0)
                              : samples.empty() ? ChartSample{}
                                                : samples.back();
  const Chart chart{device,  samples,     window_of(snapshot, state), state.window_seconds,
                    current, state.player};
  const std::vector<Rect> rects = places(pane.width(), pane.height());
  const views::DeviceRows rows = views::device_rows(device);
  const Bytes l1 = row_of(rows, views::DeviceRow::What::l1).capacity;
  share_chart(screen, pane.part(rects[0]), chart, "DRAM", &ChartSample::dram_bytes,
              row_of(rows, views::DeviceRow::What::dram).capacity);
  if (rects.size() > 1) {
    share_chart(screen, pane.part(rects[1]), chart, "L1", &ChartSample::l1_used_bytes, l1);
  }
  if (rects.size() > 2) {
    kinds_chart(screen, pane.part(rects[2]), chart, l1);
    return;
  }
  pane.put(0, pane.height() - 1,
           fmt::format("{} of 3 charts; a higher terminal shows all", rects.size()), {Ink::title});
}

}  // namespace ttmem::tui

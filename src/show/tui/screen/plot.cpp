// SPDX-License-Identifier: Apache-2.0
#include "show/tui/screen/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "show/tui/screen/glyphs.hpp"
#include "show/tui/screen/player.hpp"
#include "show/tui/screen/widgets.hpp"

namespace ttmem::tui {
namespace {

// Returns the number of filled steps in a column of `steps` steps. A share above zero fills at
// least one step.
int filled_steps(std::optional<double> share, int steps) {
  if (!share || !(*share > 0)) return 0;
  return std::max(1, static_cast<int>(std::lround(std::min(*share, 1.0) * steps)));
}

// Returns a Braille character with `left` and `right` dots in its two columns, filled from the
// bottom.
char32_t braille(int left, int right) {
  constexpr std::array<char32_t, 4> lefts = {0x40, 0x04, 0x02, 0x01};
  constexpr std::array<char32_t, 4> rights = {0x80, 0x20, 0x10, 0x08};
  char32_t dots = 0;
  for (int i = 0; i < left; ++i) dots |= lefts[static_cast<std::size_t>(i)];
  for (int i = 0; i < right; ++i) dots |= rights[static_cast<std::size_t>(i)];
  return 0x2800 + dots;
}

// Draws one row of an area plot. `below` is the number of steps in the rows below this row. With
// Unicode, a cell shows two columns of the plot, otherwise one column.
void area_row(Pane& pane, int y, int below, const Curve& shares, Ink ink) {
  const bool unicode = pane.display().unicode;
  const auto at = [&](int column) -> std::optional<double> {
    const auto i = static_cast<std::size_t>(column);
    return i < shares.size() ? shares[i] : std::nullopt;
  };
  const auto filled = [&](int column) {
    return std::clamp(filled_steps(at(column), pane.height() * 4) - below, 0, 4);
  };
  for (int x = 0; x < pane.width(); ++x) {
    const int left = unicode ? 2 * x : x;
    const int right = unicode ? 2 * x + 1 : x;
    const bool empty = filled(left) + filled(right) == 0;
    if (empty && (below > 0 || (!at(left) && !at(right)))) continue;
    const Style style{empty ? Ink::dim : ink};
    if (!unicode) {
      pane.put(x, y, empty ? "_" : filled(x) >= 3 ? "#" : filled(x) == 2 ? "+" : ".", style);
      continue;
    }
    const auto dots = [&](int column) { return empty ? (at(column) ? 1 : 0) : filled(column); };
    std::string text;
    append_utf8(text, braille(dots(left), dots(right)));
    pane.repeat(x, y, 1, text, style);
  }
}

// Returns the upper ends of the four kinds in one column of a stack, in steps from the bottom.
std::array<int, 4> tops_of(const std::array<Curve, 4>& shares, std::size_t column, int steps) {
  std::array<int, 4> tops{};
  double sum = 0;
  int below = 0;
  for (std::size_t kind = 0; kind < tops.size(); ++kind) {
    sum += shares[kind][column].value_or(0);
    const int top = static_cast<int>(std::lround(std::min(sum, 1.0) * steps));
    tops[kind] = below = std::max(top, below);
  }
  return tops;
}

// Returns the kind that covers `step`, or the number of kinds if no kind covers `step`.
std::size_t kind_at(const std::array<int, 4>& tops, int step) {
  return static_cast<std::size_t>(std::upper_bound(tops.begin(), tops.end(), step) - tops.begin());
}

void stack_cell(Pane& pane, int x, int y, int begin, const std::array<int, 4>& tops) {
  const Glyphs& g = glyphs_of(pane.display());
  const std::size_t kind = kind_at(tops, begin);
  if (kind == tops.size()) return;
  const int height = std::min(tops[kind] - begin, 8);
  if (!pane.display().color) {
    pane.put(x, y, g.shades[kind]);
    return;
  }
  const std::size_t upper = height < 8 ? kind_at(tops, begin + 7) : tops.size();
  const Ink ink = ink_of(text::kL1Parts[kind]);
  const Ink behind = upper < tops.size() ? ink_of(text::kL1Parts[upper]) : Ink::plain;
  if (!pane.display().unicode) {
    pane.put(x, y, "#", {ink});
  } else {
    pane.put(x, y, g.eighths_up[static_cast<std::size_t>(height)], {ink, behind});
  }
}

}  // namespace

Curve curve_of(const std::deque<ChartSample>& samples, model::Bytes ChartSample::*figure,
               const Window& window, int columns) {
  Curve curve(static_cast<std::size_t>(std::max(columns, 0)));
  if (columns <= 0 || window.span_ns == 0) return curve;
  const auto position = [&](std::uint64_t time_ns) {
    const double age = static_cast<double>(window.end_ns) - static_cast<double>(time_ns);
    const double at = columns * (1 - age / static_cast<double>(window.span_ns));
    return static_cast<int>(std::floor(std::clamp(at, -1.0, columns - 1.0)));
  };
  std::optional<double> last;
  int filled_to = 0;  // columns before this index have their final value
  const auto hold = [&](int end, int most) {
    for (; filled_to < std::min(end, columns); ++filled_to) {
      if (filled_to <= most) curve[static_cast<std::size_t>(filled_to)] = last;
    }
  };
  int held_until = -1;
  // Starts with the last sample before the window, because its value may still hold at the begin of
  // the window.
  const std::uint64_t begin_ns = window.end_ns - std::min(window.end_ns, window.span_ns);
  auto first = std::lower_bound(
      samples.begin(), samples.end(), begin_ns,
      [](const ChartSample& sample, std::uint64_t ns) { return sample.time_unix_ns < ns; });
  if (first != samples.begin()) --first;
  for (; first != samples.end() && first->time_unix_ns <= window.end_ns; ++first) {
    const ChartSample& sample = *first;
    const int column = position(sample.time_unix_ns);
    hold(column, held_until);
    last = sample.*figure ? std::optional(static_cast<double>(*(sample.*figure))) : std::nullopt;
    held_until = position(sample.time_unix_ns + window.hold_ns);
    if (column < 0) continue;
    auto& value = curve[static_cast<std::size_t>(column)];
    if (last) value = std::max(value.value_or(*last), *last);
    filled_to = std::max(filled_to, column + 1);
  }
  hold(columns, held_until);
  return curve;
}

int area_columns(int width, Display display) { return display.unicode ? 2 * width : width; }

void area(Pane& pane, const Curve& shares) {
  const int rows = pane.height();
  for (int y = 0; y < rows; ++y) {
    const int from_below = rows - 1 - y;
    const double middle = (from_below + 0.5) / rows;
    area_row(pane, y, from_below * 4, shares, ink_of(text::tone_of_share(middle)));
  }
}

void stack(Pane& pane, const std::array<Curve, 4>& shares) {
  const int rows = pane.height();
  for (int x = 0; x < pane.width(); ++x) {
    const std::array<int, 4> tops = tops_of(shares, static_cast<std::size_t>(x), rows * 8);
    for (int y = 0; y < rows; ++y) stack_cell(pane, x, y, (rows - 1 - y) * 8, tops);
  }
}

void time_axis(Pane pane, std::uint32_t window_seconds) {
  const int parts = pane.width() >= 100 ? 6 : pane.width() >= 50 ? 4 : 2;
  for (int i = 0; i < parts; ++i) {
    const auto age = window_seconds - window_seconds * static_cast<std::uint32_t>(i) /
                                          static_cast<std::uint32_t>(parts);
    pane.put(pane.width() * i / parts, 0, fmt::format("-{}s", age), {Ink::dim});
  }
  pane.put_right(pane.width(), 0, "now", {Ink::dim});
}

void recording_axis(Pane pane, std::int64_t end_ns) {
  const int parts = pane.width() >= 100 ? 4 : 2;
  for (int i = 0; i < parts; ++i) {
    pane.put(pane.width() * i / parts, 0, format_moment(end_ns / parts * i, end_ns), {Ink::dim});
  }
  pane.put_right(pane.width(), 0, format_moment(end_ns, end_ns), {Ink::dim});
}

void cursor(Pane& pane, std::int64_t now_ns, std::int64_t end_ns) {
  if (end_ns <= 0 || pane.width() <= 0) return;
  const double share = static_cast<double>(now_ns) / static_cast<double>(end_ns);
  const int x = std::clamp(static_cast<int>(share * pane.width()), 0, pane.width() - 1);
  const Glyphs& g = glyphs_of(pane.display());
  for (int y = 0; y < pane.height(); ++y) pane.put(x, y, g.vertical, {.ink = Ink::title});
}

}  // namespace ttmem::tui

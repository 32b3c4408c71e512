// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "show/tui/screen/glyphs.hpp"
#include "show/tui/screen/player.hpp"
#include "show/tui/screen/views.hpp"
#include "text/text.hpp"

namespace ttmem::tui {
namespace {

// Draws a bar that is filled up to the current time, and the marks on top of the bar.
void draw_progress(Pane pane, const Player& player) {
  const Glyphs& g = glyphs_of(pane.display());
  const Tape& tape = *player.tape;
  const auto cell_of = [&](std::int64_t time_ns) {
    const double share =
        tape.end_ns <= 0 ? 0 : static_cast<double>(time_ns) / static_cast<double>(tape.end_ns);
    return std::clamp(static_cast<int>(share * pane.width()), 0, pane.width() - 1);
  };
  const int now = cell_of(player.now_ns);
  pane.repeat(0, 0, now, g.thin, {Ink::title});
  pane.repeat(now, 0, pane.width() - now, g.thin_track, {Ink::dim});
  for (const Tape::Mark& mark : tape.marks) pane.put(cell_of(mark.time_ns), 0, g.dot, {Ink::dim});
  pane.put(now, 0, g.peak, kTitle);
}

}  // namespace

void player_line(Screen& screen, Pane pane, const ViewState& state) {
  screen.claim("player", pane);
  constexpr int kLeastBar = 10;
  const Player& player = *state.player;
  const Glyphs& g = glyphs_of(pane.display());
  const std::int64_t end = player.tape->end_ns;
  int x = pane.put(0, 0, fmt::format(" {} ", state.paused ? "||" : g.right), kTitle);
  x = pane.put(x, 0,
               fmt::format("{} of {}  {} ", format_moment(player.now_ns, end),
                           format_moment(end, end), format_speed(player.speed)));
  const std::string gap = gap_text(player);
  std::string mark = nearest_mark(player);
  int right = pane.width() - 1;
  if (!gap.empty()) right = pane.put_right(right, 0, gap, {Ink::warn}) - 2;
  const int room = right - x - kLeastBar - 2;
  if (!mark.empty() && room >= 10) {
    mark = text::cut_middle(mark, static_cast<std::size_t>(room), pane.display().unicode);
    right = pane.put_right(right, 0, mark, {Ink::dim}) - 1;
  }
  if (right - x >= kLeastBar) draw_progress(pane.part({x, 0, right - x, 1}), player);
}

}  // namespace ttmem::tui

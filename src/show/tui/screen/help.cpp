// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include "show/tui/screen/keys.hpp"
#include "show/tui/screen/views.hpp"
#include "show/tui/screen/widgets.hpp"

namespace ttmem::tui {
namespace {

// The most useful entries come first, because a low terminal does not show the last entries.
constexpr std::array<KeyHint, 20> kEntries = {{
    {"1 2 3 4 Tab", "views: detailed, charts, cores, processes"},
    {"left right l", "another device (view 4: all or one of them)"},
    {"up down j k", "another device, core or row"},
    {"arrows hjkl", "view 3: the core; [ ] the device"},
    {"Enter", "view 4: live allocations of the process; Esc back"},
    {"s F6", "view 4: sort by the next column; r reverses"},
    {"/", "filter the list; Enter keeps it, Esc clears it"},
    {"F9 K", "view 4: end the process, after a question"},
    {"t", "view 2: 30, 60, 120 or 300 seconds"},
    {"p Space", "pause, resume"},
    {"+ -", "refresh more or less often"},
    {"PgUp PgDn", "a page of a list; Home and End its ends"},
    {"mouse", "tabs, devices, cores, rows, column headers"},
    {"T", "light or the terminal's own colours"},
    {"F12", "save view, rate, window, theme and sorting"},
    {"h ? F1", "this help (in view 3: ? and F1)"},
    {"q F10", "quit; Esc closes what is open"},
    {"", ""},
    {"L1", "= L1 buffers + L1_SMALL + CB + kernels"},
    {"CB", "physical; resident: dispatched last; logical: plain sum"},
}};

constexpr std::array<KeyHint, 7> kReplayEntries = {{
    {"p Space", "play, pause; at the end: from the beginning"},
    {"+ -", "faster, slower"},
    {"b f", "back, forward by a hundredth; B F by a tenth"},
    {"g G", "to the beginning, to the end"},
    {"n N", "to the next mark, to the one before"},
    {"P", "to the peak; again: to the next one"},
    {"", ""},
}};

// Returns true if the help for a recording leaves out the entry, because the key has another
// meaning or no use there.
bool is_live_only(const KeyHint& entry) {
  return entry.key == "F9 K" || entry.key == "t" || entry.key == "p Space" || entry.key == "+ -";
}

std::vector<KeyHint> entries_of(bool is_replay) {
  if (!is_replay) return {kEntries.begin(), kEntries.end()};
  std::vector<KeyHint> entries(kReplayEntries.begin(), kReplayEntries.end());
  for (const KeyHint& entry : kEntries) {
    if (!is_live_only(entry)) entries.push_back(entry);
  }
  return entries;
}

}  // namespace

void help_view(Screen& screen, Pane pane, bool is_replay) {
  const std::vector<KeyHint> entries = entries_of(is_replay);
  screen.claim("help", pane);
  Pane inside = box(pane, "Help", "any key closes it", {.ink = Ink::title});
  const auto rows = static_cast<int>(entries.size());
  const int visible = rows <= inside.height() ? rows : std::max(0, inside.height() - 1);
  for (int i = 0; i < visible; ++i) {
    const KeyHint& entry = entries[static_cast<std::size_t>(i)];
    inside.put(1, i, entry.key, {.ink = Ink::title, .bold = true});
    inside.put(15, i, entry.does);
  }
  if (visible < rows) more_sign(inside, inside.height() - 1, 0, visible, rows, "keys");
}

}  // namespace ttmem::tui

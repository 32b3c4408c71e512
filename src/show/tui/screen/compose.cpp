// SPDX-License-Identifier: Apache-2.0
#include "show/tui/screen/compose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "show/tui/screen/detail_view.hpp"
#include "show/tui/screen/filter.hpp"
#include "show/tui/screen/keys.hpp"
#include "show/tui/screen/views.hpp"
#include "show/tui/screen/widgets.hpp"
#include "show/views/device_list.hpp"
#include "show/views/process_text.hpp"
#include "text/format.hpp"

namespace ttmem::tui {
namespace {

using model::Snapshot;

std::string rate_of(std::uint32_t interval_ms) {
  return interval_ms < 1000 ? fmt::format("every {} ms", interval_ms)
                            : fmt::format("every {:g} s", interval_ms / 1000.0);
}

std::vector<std::string> facts_of(const Snapshot& snapshot, const ViewState& state,
                                  const Setup& setup) {
  if (state.player) {
    return {state.player->tape->name, text::plural(snapshot.devices.size(), "device", "devices"),
            text::plural(views::living_processes(snapshot), "process", "processes"), snapshot.host};
  }
  const std::string time = text::format_time(snapshot.time_unix_ns, setup.utc_offset_seconds);
  return {time.substr(time.find(' ') + 1), rate_of(state.interval_ms),
          text::plural(snapshot.devices.size(), "device", "devices"),
          text::plural(views::living_processes(snapshot), "process", "processes"), snapshot.host};
}

void draw_tabs(Screen& screen, Pane pane, const Snapshot& snapshot, const ViewState& state,
               const Setup& setup) {
  screen.claim("tabs", pane);
  constexpr std::array<std::string_view, 4> kShort = {"Detail", "Charts", "Cores", "Procs"};
  const bool narrow = pane.width() < 64;
  int x = narrow ? 0 : pane.put(0, 0, " ttmem ", kTitle);
  for (std::uint32_t i = 1; i <= kViewNames.size(); ++i) {
    const auto view = static_cast<View>(i);
    const std::string text = fmt::format(" {} {} ", i, (narrow ? kShort : kViewNames)[i - 1]);
    const Style style = view == state.view ? Style{.bold = true, .reverse = true} : Style{};
    const int end = pane.put(x, 0, text, style);
    screen.click_at({pane.rect().x + x, pane.rect().y, end - x, 1}, Click::What::view, i);
    x = end;
  }
  int right = pane.width();
  if (state.paused && !state.player && right - x > 10) {
    right = pane.put_right(right, 0, " PAUSED ", {.ink = Ink::warn, .bold = true, .reverse = true});
    right -= 1;
  }
  const std::string facts =
      dotted_to_fit(facts_of(snapshot, state, setup), right - x - 2, pane.display());
  if (!facts.empty()) pane.put_right(right - 1, 0, facts, {Ink::dim});
}

int hint_cells(const KeyHint& hint) {
  return static_cast<int>(hint.key.size() + hint.does.size()) + 3;
}

// Draws the key hints. The hints for help and quit are always shown, other hints only if there is
// room.
void draw_footer(Screen& screen, Pane pane, const ViewState& state) {
  screen.claim("keys", pane);
  const std::vector<KeyHint> hints = hints_of(state);
  const std::size_t always = std::min<std::size_t>(2, hints.size());
  int reserve = 0;
  for (std::size_t i = hints.size() - always; i < hints.size(); ++i)
    reserve += hint_cells(hints[i]);
  int x = 0;
  for (std::size_t i = 0; i < hints.size(); ++i) {
    const bool last = i + always >= hints.size();
    if (!last && x + hint_cells(hints[i]) + reserve > pane.width()) continue;
    x = pane.put(x, 0, fmt::format(" {}", hints[i].key), kTitle);
    x = pane.put(x, 0, fmt::format(" {} ", hints[i].does), {Ink::dim});
  }
}

// The line above the footer. If the text is empty, the line is not shown.
struct Notice {
  std::string text;
  Style style;
};

Notice notice_of(const Snapshot& snapshot, const ViewState& state) {
  if (state.asks_to_end) {
    return {fmt::format("Send {} to process {} ({})?", kSignals[state.asks_to_end->signal].name,
                        state.asks_to_end->pid, state.asks_to_end->name),
            {.ink = Ink::warn, .bold = true}};
  }
  if (!state.message.empty()) return {state.message, kTitle};
  // In view 4, leaves out the filter, because view 4 shows the filter in its own first line.
  if ((state.typing_filter || !state.filter.empty()) && state.view != View::processes) {
    return {fmt::format("filter: {}{}", state.filter, state.typing_filter ? "_" : ""), kTitle};
  }
  if (snapshot.warnings.empty()) return {};
  const std::string count = snapshot.warnings.size() == 1
                                ? std::string("warning")
                                : fmt::format("{} warnings, the first", snapshot.warnings.size());
  return {fmt::format("{}: {}", count, snapshot.warnings.front()), {Ink::warn}};
}

// Draws a text that says why no device could be read.
void draw_nothing_readable(Screen& screen, Pane pane, const Snapshot& snapshot) {
  screen.claim("nothing", pane);
  const text::TextOptions text{.width = static_cast<std::size_t>(std::max(pane.width(), 1)),
                               .color = false,
                               .unicode = pane.display().unicode};
  const std::string words = views::no_device_text(snapshot, text);
  int y = 0;
  for (std::size_t at = 0; at < words.size() && y < pane.height(); ++y) {
    const std::size_t end = words.find('\n', at);
    pane.put(0, y, std::string_view(words).substr(at, end - at));
    at = end + 1;
  }
}

void draw_no_device(Screen& screen, Pane pane, const Snapshot& snapshot) {
  if (snapshot.blind()) return draw_nothing_readable(screen, pane, snapshot);
  screen.claim("nothing", pane);
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> advices = {
      {{"ttmem demo", "a workload on simulated devices"},
       {"ttmem run -- CMD", "your program, with tracking on"},
       {"ttmem doctor", "why do I see nothing?"}}};
  const int height = 4 + static_cast<int>(advices.size());
  const int width = std::min(pane.width(), 56);
  Pane middle = pane.part(
      {(pane.width() - width) / 2, std::max(0, (pane.height() - height) / 2), width, height});
  middle.put(0, 0, "No process uses a device right now.", {.bold = true});
  middle.put(0, 1, "New processes appear here. In another terminal:", {Ink::dim});
  int y = 3;
  for (const auto& [command, does] : advices) {
    const int x = middle.put(2, y, command, kTitle);
    if (middle.width() - 20 > 18) middle.put(std::max(x + 2, 20), y, does, {Ink::dim});
    ++y;
  }
}

void draw_nothing_recorded(Screen& screen, Pane pane) {
  screen.claim("nothing", pane);
  pane.put(0, 1, "No process had a device open at this moment of the recording.");
}

void nothing_matches(Screen& screen, Pane pane) {
  screen.claim("nothing", pane);
  pane.put(0, 1, "No device matches the filter; Esc clears it.");
}

void draw_view(Screen& screen, Pane pane, const Snapshot& snapshot, const ViewState& state,
               const ChartHistory& history) {
  if (state.help) {
    help_view(screen, pane, state.player.has_value());
  } else if (snapshot.devices.empty() && filters_devices(state)) {
    nothing_matches(screen, pane);
  } else if (snapshot.devices.empty() && state.player) {
    draw_nothing_recorded(screen, pane);
  } else if (snapshot.devices.empty()) {
    draw_no_device(screen, pane, snapshot);
  } else if (state.view == View::charts) {
    chart_view(screen, pane, snapshot, state, history);
  } else if (state.view == View::cores) {
    core_view(screen, pane, snapshot, state);
  } else if (state.view == View::processes) {
    process_view(screen, pane, snapshot, state);
  } else {
    detail_view(screen, pane, snapshot, state);
  }
}

Screen too_small(Size size, const Setup& setup) {
  Screen screen(size);
  Pane all(screen.frame, {0, 0, size.width, size.height}, setup.display);
  screen.claim("too small", all);
  all.put(0, 0, fmt::format("ttmem top needs {}x{}", kSmallest.width, kSmallest.height));
  all.put(0, 1, fmt::format("this is {}x{}; q quits", size.width, size.height));
  return screen;
}

Screen draw(const Snapshot& snapshot, const ViewState& state, const ChartHistory& history,
            Size size, const Setup& setup) {
  Screen screen(size);
  Pane all(screen.frame, {0, 0, size.width, size.height}, setup.display);
  const Notice notice = notice_of(snapshot, state);
  const int player = state.player ? 1 : 0;
  const int bottom = 1 + player + (notice.text.empty() ? 0 : 1);
  draw_tabs(screen, all.part({0, 0, size.width, 1}), snapshot, state, setup);
  draw_view(screen, all.part({0, 1, size.width, size.height - 1 - bottom}), snapshot, state,
            history);
  if (!notice.text.empty()) {
    Pane line = all.part({0, size.height - bottom, size.width, 1});
    screen.claim("notice", line);
    line.put(0, 0, notice.text, notice.style);
  }
  if (state.player) player_line(screen, all.part({0, size.height - 2, size.width, 1}), state);
  draw_footer(screen, all.part({0, size.height - 1, size.width, 1}), state);
  return screen;
}

}  // namespace

Screen compose(const Snapshot& snapshot, const ViewState& state, const ChartHistory& history,
               Size size, const Setup& setup) {
  if (size.width < kSmallest.width || size.height < kSmallest.height) return too_small(size, setup);
  if (filters_devices(state) && !snapshot.devices.empty()) {
    return draw(devices_matching(snapshot, state.filter), state, history, size, setup);
  }
  return draw(snapshot, state, history, size, setup);
}

Frame compose_once(const Snapshot& snapshot, int width, const Setup& setup) {
  const int columns = std::max(width, kSmallest.width);
  const bool empty = snapshot.devices.empty();
  Screen screen({columns, empty ? 7 : 1 + detail_height(snapshot, columns)});
  const Size size = screen.frame.size();
  Pane all(screen.frame, {0, 0, size.width, size.height}, setup.display);
  if (empty) {
    draw_no_device(screen, all, snapshot);
    return screen.frame;
  }
  std::vector<std::string> facts = facts_of(snapshot, {}, setup);
  facts.erase(facts.begin() + 1);  // removes the refresh rate, because the output is not refreshed
  all.put(0, 0, "ttmem ", kTitle);
  all.put(7, 0, dotted_to_fit(facts, size.width - 7, setup.display), {Ink::dim});
  detail_view(screen, all.part({0, 1, size.width, size.height - 1}), snapshot, {});
  return screen.frame;
}

}  // namespace ttmem::tui

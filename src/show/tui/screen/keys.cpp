// SPDX-License-Identifier: Apache-2.0
#include "show/tui/screen/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyse/selection/select.hpp"
#include "show/tui/screen/detail_view.hpp"
#include "show/tui/screen/filter.hpp"
#include "show/tui/screen/process_list.hpp"

namespace ttmem::tui {
namespace {

using Code = KeyPress::Code;
using model::Snapshot;

bool is(const KeyPress& key, std::u32string_view characters) {
  return key.code == Code::character && characters.find(key.character) != characters.npos;
}

void open_view(ViewState& state, View view) {
  if (state.view != view) state.filter.clear();  // the filter belongs to the previous view
  state.view = view;
  state.typing_filter = false;
}

void next_view(ViewState& state, int step) {
  constexpr int kViews = static_cast<int>(kViewNames.size());
  const int index = (static_cast<int>(state.view) - 1 + step + kViews) % kViews;
  open_view(state, static_cast<View>(index + 1));
}

// Calls use(snapshot). In views 1 and 2 the snapshot has only the devices that match the filter.
template <typename Use>
void with_shown_devices(const ViewState& state, const Snapshot& all, Use&& use) {
  if (filters_devices(state)) {
    use(devices_matching(all, state.filter));
  } else {
    use(all);
  }
}

void move_device(ViewState& state, const Snapshot& all, int step) {
  with_shown_devices(state, all, [&](const Snapshot& shown) {
    if (shown.devices.empty()) return;
    const auto last = static_cast<int>(shown.devices.size()) - 1;
    const int next = static_cast<int>(selected_device(shown, state)) + step;
    state.device = name_of(shown.devices[static_cast<std::size_t>(std::clamp(next, 0, last))]);
  });
}

void click_device(ViewState& state, const Snapshot& all, std::uint32_t index) {
  with_shown_devices(state, all, [&](const Snapshot& shown) {
    if (index < shown.devices.size()) state.device = name_of(shown.devices[index]);
  });
}

// Changes the devices that view 4 lists. Moves by `step` in the series: all devices, first device
// alone, second device alone, and so on.
void move_only_device(ViewState& state, const Snapshot& snapshot, int step) {
  const auto devices = static_cast<int>(snapshot.devices.size());
  std::optional<std::size_t> shown;
  if (state.only_device) shown = selection::find_device(snapshot, *state.only_device);
  const int now = shown ? static_cast<int>(*shown) : -1;
  const int next = std::clamp(now + step, -1, devices - 1);
  state.only_device.reset();
  if (next >= 0) state.only_device = name_of(snapshot.devices[static_cast<std::size_t>(next)]);
}

void move_core(ViewState& state, const Snapshot& snapshot, int dx, int dy) {
  if (snapshot.devices.empty()) return;
  const model::Device& device = snapshot.devices[selected_device(snapshot, state)];
  const auto moved = [](std::uint16_t at, int step, std::uint16_t count) {
    return static_cast<std::uint16_t>(std::clamp(at + step, 0, std::max(0, count - 1)));
  };
  state.core_x = moved(state.core_x, dx, device.grid_x);
  state.core_y = moved(state.core_y, dy, device.grid_y);
  state.map_scroll = 0;
}

void select_process(ViewState& state, const Snapshot& snapshot, int row) {
  const auto rows = process_rows(snapshot, state);
  if (rows.empty()) return;
  const int last = static_cast<int>(rows.size()) - 1;
  state.selected = key_of(rows[static_cast<std::size_t>(std::clamp(row, 0, last))].sum);
}

void move_row(ViewState& state, const Snapshot& snapshot, const Screen& screen, int step) {
  if (state.opened) {
    const int last = std::max(0, screen.list.rows - 1);
    state.allocation_row = std::clamp(state.allocation_row + step, 0, last);
    return;
  }
  select_process(state, snapshot, selected_row(process_rows(snapshot, state), state) + step);
}

void open_process(ViewState& state, const Snapshot& snapshot) {
  const auto rows = process_rows(snapshot, state);
  if (rows.empty()) return;
  state.opened = key_of(rows[static_cast<std::size_t>(selected_row(rows, state))].sum);
  state.selected = state.opened;
  state.allocation_row = 0;
  state.filter.clear();
}

// Asks the user whether to end the process in the selected row. If the process cannot receive a
// signal from here, shows the reason instead.
void ask_to_end(ViewState& state, const Snapshot& snapshot) {
  const auto rows = process_rows(snapshot, state);
  if (rows.empty()) return;
  if (state.player) {
    state.message = "this is a recording: its processes cannot be ended";
    return;
  }
  if (state.elsewhere) {
    state.message = fmt::format("this is {}: its processes can be ended only there", snapshot.host);
    return;
  }
  const model::Process& process = rows[static_cast<std::size_t>(selected_row(rows, state))].sum;
  if (process.state == model::State::dead) {
    state.message =
        fmt::format("process {} is dead; `ttmem clean` removes what it left", process.pid);
  } else if (!process.host_pid) {
    state.message =
        fmt::format("process {} is of another container, and its pid here is unknown", process.pid);
  } else {
    state.asks_to_end = EndProcess{*process.host_pid, process.name};
  }
}

void answer(ViewState& state, const KeyPress& key) {
  if (key.code == Code::tab || key.code == Code::right || key.code == Code::left) {
    const std::size_t step = key.code == Code::left ? kSignals.size() - 1 : 1;
    state.asks_to_end->signal = (state.asks_to_end->signal + step) % kSignals.size();
    return;
  }
  if (key.code == Code::enter) state.end = state.asks_to_end;
  state.asks_to_end.reset();
}

Sorting& sorting_of(ViewState& state) {
  return state.opened ? state.allocation_sorting : state.sorting;
}

void sort_by(ViewState& state, std::uint32_t column) {
  Sorting& sorting = sorting_of(state);
  if (sorting.column == column) {
    sorting.descending = !sorting.descending;
    return;
  }
  sorting.column = column;
  // Sorts texts and pids in ascending order, sizes and counts in descending order.
  const std::string_view name = state.opened ? allocation_column(column) : process_column(column);
  constexpr std::array<std::string_view, 9> words = {"PID", "USER",    "STATE", "DEV",  "SOURCE",
                                                     "JOB", "COMMAND", "KIND",  "LABEL"};
  sorting.descending = std::find(words.begin(), words.end(), name) == words.end();
}

void next_column(ViewState& state) {
  const std::uint32_t columns = state.opened ? kAllocationColumns : kProcessColumns;
  std::uint32_t column = (sorting_of(state).column + 1) % columns;
  // Skips the column JOB, because on most machines no process has a job and the column is hidden.
  if (!state.opened && process_column(column) == "JOB") column = (column + 1) % columns;
  sort_by(state, column);
}

void begin_filter(ViewState& state) { state.typing_filter = true; }

// Handles a key while the user types a filter. Every character is added to the filter.
void type_filter(ViewState& state, const KeyPress& key) {
  constexpr std::size_t kLongest = 64;
  if (key.code == Code::escape) {
    state.filter.clear();
    state.typing_filter = false;
  } else if (key.code == Code::enter) {
    state.typing_filter = false;
  } else if (key.code == Code::backspace) {
    while (!state.filter.empty() && (state.filter.back() & 0xc0) == 0x80) state.filter.pop_back();
    if (!state.filter.empty()) state.filter.pop_back();
  } else if (key.code == Code::character && key.character >= U' ' &&
             state.filter.size() < kLongest) {
    append_utf8(state.filter, key.character);
  }
  state.allocation_row = 0;
  state.map_scroll = 0;
}

void faster(ViewState& state, bool up) {
  constexpr std::array<std::uint32_t, 9> steps = {
      kShortestIntervalMs, 100, 200, 500, 1000, 2000, 3000, 5000, kLongestIntervalMs};
  if (up) {
    const auto below = std::lower_bound(steps.begin(), steps.end(), state.interval_ms);
    state.interval_ms = below == steps.begin() ? steps.front() : *(below - 1);
  } else {
    const auto above = std::upper_bound(steps.begin(), steps.end(), state.interval_ms);
    state.interval_ms = above == steps.end() ? steps.back() : *above;
  }
}

void next_window(ViewState& state) {
  const auto next =
      std::upper_bound(kWindowsSeconds.begin(), kWindowsSeconds.end(), state.window_seconds);
  state.window_seconds = next == kWindowsSeconds.end() ? kWindowsSeconds.front() : *next;
}

// Clears the filter. If there is no filter, closes the opened process. Never quits, so that
// pressing Esc once too often does no harm.
void close_opened(ViewState& state) {
  if (!state.filter.empty()) {
    state.filter.clear();
  } else if (state.view == View::processes) {
    state.opened.reset();
  }
}

void click(ViewState& state, const KeyPress& key, const Snapshot& snapshot, const Screen& screen) {
  for (const Hit& hit : screen.hits) {
    if (!hit.rect.contains(key.x, key.y)) continue;
    const std::uint32_t value = hit.click.value;
    switch (hit.click.what) {
      case Click::What::view:
        open_view(state, static_cast<View>(value));
        break;
      case Click::What::device:
        click_device(state, snapshot, value);
        break;
      case Click::What::core:
        state.core_x = static_cast<std::uint16_t>(value & 0xffff);
        state.core_y = static_cast<std::uint16_t>(value >> 16);
        state.map_scroll = 0;
        break;
      case Click::What::process: {
        const std::optional<ProcessKey> before = state.selected;
        select_process(state, snapshot, static_cast<int>(value));
        if (before == state.selected) open_process(state, snapshot);
        break;
      }
      case Click::What::allocation:
        state.allocation_row = static_cast<int>(value);
        break;
      case Click::What::column:
        sort_by(state, value);
        break;
      case Click::What::none:
        break;
    }
    return;
  }
}

// Handles the keys up and down and the page keys. Returns false for other keys.
bool move(ViewState& state, const KeyPress& key, const Snapshot& snapshot, const Screen& screen) {
  const int page = std::max(1, screen.list.visible - 1);
  int step = 0;
  if (key.code == Code::up || key.code == Code::wheel_up || is(key, U"k")) step = -1;
  if (key.code == Code::down || key.code == Code::wheel_down || is(key, U"j")) step = 1;
  if (key.code == Code::page_up) step = -page;
  if (key.code == Code::page_down) step = page;
  if (key.code == Code::home) step = -1'000'000;
  if (key.code == Code::end) step = 1'000'000;
  if (step == 0) return false;
  if (state.view == View::processes) {
    move_row(state, snapshot, screen, step);
  } else if (state.view == View::cores && (step == 1 || step == -1) && key.code != Code::wheel_up &&
             key.code != Code::wheel_down) {
    move_core(state, snapshot, 0, step);
  } else if (state.view == View::cores) {
    const int last = std::max(0, screen.list.rows - screen.list.visible);
    state.map_scroll = std::clamp(std::min(state.map_scroll, last) + step, 0, last);
  } else {
    move_device(state, snapshot, step);
  }
  return true;
}

bool move_sideways(ViewState& state, const KeyPress& key, const Snapshot& snapshot) {
  const bool cores = state.view == View::cores;
  int step = 0;
  if (key.code == Code::left || (cores && is(key, U"h"))) step = -1;
  if (key.code == Code::right || is(key, U"l")) step = 1;
  if (step != 0 && cores) {
    move_core(state, snapshot, step, 0);
    return true;
  }
  if (is(key, U"[<,")) step = -1;
  if (is(key, U"]>.")) step = 1;
  if (step == 0) return false;
  if (state.view == View::processes) {
    move_only_device(state, snapshot, step);
  } else {
    move_device(state, snapshot, step);
  }
  return true;
}

// Handles the keys that only view 4 has.
void press_in_processes(ViewState& state, const KeyPress& key, const Snapshot& snapshot) {
  if (is(key, U"s") || key.code == Code::f6) next_column(state);
  if (is(key, U"rS")) sort_by(state, sorting_of(state).column);
  if (key.code == Code::enter && !state.opened) open_process(state, snapshot);
  if (key.code == Code::backspace) state.opened.reset();
  if (key.code == Code::f9 || is(key, U"K")) ask_to_end(state, snapshot);
}

// An action of every view, with the characters or the key that trigger the action.
struct Binding {
  std::u32string_view characters;
  Code code;  // if Code::character, only the characters trigger the action
  void (*act)(ViewState& state);
};

void next_theme(ViewState& state) {
  state.theme = state.theme == Theme::light ? Theme::terminal : Theme::light;
}

constexpr std::array<Binding, 12> kBindings = {{
    {U"q", Code::f10, [](ViewState& state) { state.quit = true; }},
    {U"h?", Code::f1, [](ViewState& state) { state.help = true; }},
    {U"p ", Code::character, [](ViewState& state) { state.paused = !state.paused; }},
    {U"+=", Code::character, [](ViewState& state) { faster(state, true); }},
    {U"-", Code::character, [](ViewState& state) { faster(state, false); }},
    {U"t", Code::character, next_window},
    {U"T", Code::character, next_theme},
    {U"/", Code::character, begin_filter},
    {U"", Code::tab, [](ViewState& state) { next_view(state, 1); }},
    {U"", Code::back_tab, [](ViewState& state) { next_view(state, -1); }},
    {U"", Code::escape, close_opened},
    {U"", Code::f12, [](ViewState& state) { state.save_settings = true; }},
}};

// Handles the keys of the player. At the end of a recording, space plays the recording again from
// its begin.
bool press_player(ViewState& state, const KeyPress& key) {
  if (!state.player || key.code != Code::character) return false;
  if (is(key, U"p ") && state.paused && state.player->at_end()) state.player->now_ns = 0;
  return press(*state.player, key.character, state.message);
}

void press_anywhere(ViewState& state, const KeyPress& key) {
  if (press_player(state, key)) return;
  if (is(key, U"1234")) open_view(state, static_cast<View>(key.character - U'0'));
  for (const Binding& binding : kBindings) {
    const bool same = key.code != Code::character && key.code == binding.code;
    if (same || is(key, binding.characters)) binding.act(state);
  }
}

std::vector<KeyHint> hints_of_view(const ViewState& state) {
  switch (state.view) {
    case View::detailed:
      break;
    case View::charts:
      return {{"1-4", "view"}, {"arrows", "device"}, {"t", "window"}, {"/", "filter"}};
    case View::cores:
      return {{"1-4", "view"},
              {"arrows hjkl", "core"},
              {"[ ]", "device"},
              {"PgUp PgDn", "list"},
              {"/", "filter"}};
    case View::processes:
      return {state.opened ? KeyHint{"Esc", "back"} : KeyHint{"1-4", "view"},
              state.opened ? KeyHint{"PgUp PgDn", "page"} : KeyHint{"Enter", "allocations"},
              {"s", "sort"},
              {"r", "reverse"},
              {"/", "filter"},
              {"F9", "end"},
              {"left right", "device"}};
  }
  return {{"1-4", "view"}, {"arrows", "device"}, {"/", "filter"}};
}

std::vector<KeyHint> hints_of_player(const ViewState& state) {
  return {{"1-4", "view"},   {"Space", state.paused ? "play" : "pause"},
          {"b f", "seek"},   {"n N", "mark"},
          {"P", "peak"},     {"+ -", "speed"},
          {"[ ]", "device"}, {"/", "filter"}};
}

}  // namespace

ViewState handle(ViewState state, const KeyPress& key, const Snapshot& snapshot,
                 const Screen& screen) {
  state.message.clear();
  if (state.asks_to_end) {
    answer(state, key);
  } else if (state.typing_filter && key.code != Code::click && key.code != Code::f10) {
    type_filter(state, key);
  } else if (state.help && key.code != Code::f10 && !is(key, U"q")) {
    state.help = false;  // any key closes the help
  } else if (key.code == Code::click) {
    click(state, key, snapshot, screen);
  } else if (!move(state, key, snapshot, screen) && !move_sideways(state, key, snapshot)) {
    if (state.view == View::processes) press_in_processes(state, key, snapshot);
    press_anywhere(state, key);
  }
  return state;
}

std::vector<KeyHint> hints_of(const ViewState& state) {
  if (state.asks_to_end) return {{"Enter", "send"}, {"Tab", "signal"}, {"Esc", "no"}};
  if (state.typing_filter) return {{"Enter", "keep"}, {"Esc", "clear"}};
  if (state.help) return {{"any key", "back"}};
  std::vector<KeyHint> hints = state.player ? hints_of_player(state) : hints_of_view(state);
  if (!state.player) {
    hints.push_back({"p", state.paused ? "resume" : "pause"});
    hints.push_back({"+ -", "rate"});
  }
  hints.push_back({state.view == View::cores ? "?" : "h", "help"});
  hints.push_back({"q", "quit"});
  return hints;
}

}  // namespace ttmem::tui

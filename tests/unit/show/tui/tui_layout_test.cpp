// SPDX-License-Identifier: Apache-2.0
//
// Checks properties of every screen, for random contents and sizes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "analyse/selection/select.hpp"
#include "show/tui/screen/detail_view.hpp"
#include "show/tui/screen/keys.hpp"
#include "show/tui/screen/process_list.hpp"
#include "support/tui_fixtures.hpp"
#include "text/text.hpp"

namespace ttmem::tui {
namespace {

using rc::gen::arbitrary;
using rc::gen::inRange;

model::Bytes any_bytes() {
  if (*inRange(0, 5) == 0) return std::nullopt;
  return *rc::gen::element<std::uint64_t>(0, 1, 4096, 1'499'136, 5 * fixtures::kGiB,
                                          UINT64_MAX / 4);
}

std::string any_name() {
  return *rc::gen::element<std::string>("", "python3", "名前の長いプロセス", "e\xcc\x81t\xc3\xa9",
                                        "a\x1b[31mb", "\xff\xfe", std::string(300, 'x'));
}

model::Process any_process() {
  model::Process p;
  p.pid = *inRange(1, 50);
  p.name = any_name();
  p.command = any_name();
  p.user = any_name();
  p.state = *rc::gen::element(model::State::alive, model::State::dead);
  for (KindFigures& kind : p.kinds) kind.set(&KindFigures::used_bytes, any_bytes());
  return p;
}

model::Device any_device(std::uint32_t id) {
  model::Device d = *inRange(0, 3) == 0 ? views::fixtures::unannounced(id) : fixtures::varied(id);
  d.board = any_name();
  if (*inRange(0, 2) == 0) {
    d.kinds[Kind::dram].set(&KindFigures::used_bytes, any_bytes());
    d.kinds[Kind::dram].set(&KindFigures::peak_bytes, any_bytes());
    d.l1_used_bytes = any_bytes();
    d.kinds[Kind::cb].set(&KindFigures::used_bytes, any_bytes());
    d.l1_capacity_bytes = any_bytes();
    d.l1_base = any_bytes();
    d.l1_bytes_per_core = any_bytes();
  }
  if (*inRange(0, 3) == 0) {  // gives some devices a grid of another shape
    d.grid_x = *inRange<std::uint16_t>(0, 17);
    d.grid_y = *inRange<std::uint16_t>(0, 16);
    d.cores.resize(std::size_t{d.grid_x} * d.grid_y);
  }
  d.processes.clear();
  const int processes = *inRange(0, 5);
  for (int i = 0; i < processes; ++i) d.processes.push_back(any_process());
  return d;
}

model::Snapshot any_snapshot() {
  model::Snapshot s = fixtures::machine(1);
  s.devices.clear();
  const auto devices = *inRange<std::uint32_t>(0, 36);
  for (std::uint32_t id = 0; id < devices; ++id) s.devices.push_back(any_device(id));
  if (devices == 0) {
    s.allocations.clear();
    s.programs.clear();
  }
  const int warnings = *inRange(0, 3);
  for (int i = 0; i < warnings; ++i) s.warnings.push_back(any_name());
  return s;
}

Player any_player() {
  auto tape = std::make_shared<Tape>();
  tape->name = any_name();
  tape->end_ns = *inRange<std::int64_t>(0, 1'000'000'000'000'000);
  const auto any_time = [&] { return *inRange<std::int64_t>(0, tape->end_ns + 1); };
  tape->marks = {{any_time(), any_name()}};
  tape->gaps = {{0, any_time(), 12}};
  return {tape, any_time(), *rc::gen::elementOf(std::vector<double>{1e-9, 0.5, 1e6})};
}

ViewState any_state() {
  ViewState state;
  state.view = static_cast<View>(*inRange(1, 5));
  state.help = *inRange(0, 10) == 0;
  state.paused = *arbitrary<bool>();
  state.device = *inRange<std::uint32_t>(0, 40);
  state.core_x = *inRange<std::uint16_t>(0, 20);
  state.core_y = *inRange<std::uint16_t>(0, 20);
  state.map_scroll = *inRange(0, 20);
  state.sorting = {*inRange(0U, kProcessColumns), *arbitrary<bool>()};
  state.allocation_sorting = {*inRange(0U, kAllocationColumns), *arbitrary<bool>()};
  if (*inRange(0, 3) == 0) state.opened = ProcessKey{4711};
  state.allocation_row = *inRange(0, 20);
  state.message = any_name();
  if (*inRange(0, 3) == 0) state.player = any_player();
  return state;
}

Size any_size() { return {*inRange(1, 260), *inRange(1, 80)}; }

Setup any_setup() { return {.display = {*arbitrary<bool>(), *arbitrary<bool>()}}; }

bool overlap(const Rect& a, const Rect& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

bool inside(const Rect& r, Size size) {
  return r.x >= 0 && r.y >= 0 && r.x + r.width <= size.width && r.y + r.height <= size.height;
}

// Checks that no two regions share a cell, and that all regions and click areas are on the screen.
void check_regions(const Screen& screen, Size size) {
  for (std::size_t i = 0; i < screen.regions.size(); ++i) {
    const Region& a = screen.regions[i];
    RC_ASSERT(inside(a.rect, size));
    for (std::size_t j = 0; j < i; ++j) {
      const Region& b = screen.regions[j];
      if (overlap(a.rect, b.rect)) RC_FAIL(fmt::format("{} overlaps {}", a.name, b.name));
    }
  }
  for (const Hit& hit : screen.hits) RC_ASSERT(inside(hit.rect, size));
}

// Checks that only the tab of the open view is marked.
void check_tabs(const Screen& screen, const ViewState& state) {
  for (const Hit& hit : screen.hits) {
    if (hit.click.what != Click::What::view || hit.rect.empty()) continue;
    const bool open = hit.click.value == static_cast<std::uint32_t>(state.view);
    RC_ASSERT(screen.frame.at(hit.rect.x, hit.rect.y).style.reverse == open);
  }
}

RC_GTEST_PROP(Layout, NothingOverlapsAndNothingIsOutside, ()) {
  const Size size = any_size();
  const ViewState state = any_state();
  const Screen screen = compose(any_snapshot(), state, {}, size, any_setup());
  check_regions(screen, size);
  check_tabs(screen, state);
}

RC_GTEST_PROP(Layout, EveryRowHasExactlyTheWidthOfTheScreen, ()) {
  const Size size = any_size();
  const Setup setup = any_setup();
  const Screen screen = compose(any_snapshot(), any_state(), {}, size, setup);
  for (int y = 0; y < size.height; ++y) {
    const std::string row = screen.frame.row_text(y);
    RC_ASSERT(static_cast<int>(text::display_width(row)) == size.width);
    // The row contains no control characters, although names may contain them.
    RC_ASSERT(text::printable(row, true) == row);
    if (!setup.display.unicode) RC_ASSERT(text::printable(row, false) == row);
  }
}

// Returns true if the screen shows the whole list, or if the screen states which range of the list
// it shows ("1-5 of 12").
bool shows_list_or_range(const Screen& screen, std::size_t visible, std::size_t rows) {
  const std::string text = screen.frame.text();
  return visible >= rows || text.find(fmt::format(" of {} ", rows)) != std::string::npos ||
         text.find(fmt::format(" of {}\n", rows)) != std::string::npos;
}

RC_GTEST_PROP(Layout, EveryDeviceIsShownOrTheRangeIsStated, ()) {
  const model::Snapshot snapshot = fixtures::machine(*inRange<std::uint32_t>(1, 40));
  const Size size{*inRange(80, 260), *inRange(14, 80)};
  const Screen screen = compose(snapshot, {}, {}, size, any_setup());
  const auto shown = static_cast<std::size_t>(
      std::count_if(screen.regions.begin(), screen.regions.end(),
                    [](const Region& region) { return region.name.starts_with("device "); }));
  // If the list has several columns of devices, the range counts rows and not devices.
  const auto rows = static_cast<std::size_t>(screen.list.rows);
  const bool all = shown == snapshot.devices.size();
  RC_ASSERT(all ||
            shows_list_or_range(screen, static_cast<std::size_t>(screen.list.visible), rows));
  RC_ASSERT(all || screen.list.visible < screen.list.rows);
}

RC_GTEST_PROP(Layout, EveryProcessIsShownOrTheRangeIsStated, ()) {
  model::Snapshot snapshot = fixtures::machine(1);
  const int processes = *inRange(1, 60);
  for (int i = 0; i < processes; ++i) {
    snapshot.devices[0].processes.push_back(views::fixtures::process(10'000 + i, "worker", ""));
  }
  const auto view = *rc::gen::element(View::detailed, View::processes);
  const Size size{*inRange(60, 200), *inRange(20, 70)};
  const Screen screen = compose(snapshot, {.view = view}, {}, size, any_setup());
  const std::string text = screen.frame.text();
  std::size_t shown = text.find("4711") == std::string::npos ? 0 : 1;
  for (int i = 0; i < processes; ++i) {
    shown += text.find(fmt::format("{}", 10'000 + i)) == std::string::npos ? 0 : 1;
  }
  RC_ASSERT(shows_list_or_range(screen, shown, static_cast<std::size_t>(processes) + 1));
}

RC_GTEST_PROP(Layout, EveryCoreIsShownOrTheCaptionNamesTheRange, ()) {
  const model::Snapshot snapshot = fixtures::machine(1);
  const Size size{*inRange(40, 200), *inRange(10, 70)};
  const Screen screen = compose(snapshot, {.view = View::cores}, {}, size, any_setup());
  const auto tiles = std::count_if(screen.hits.begin(), screen.hits.end(), [](const Hit& hit) {
    return hit.click.what == Click::What::core;
  });
  const bool part = screen.frame.text().find("cores x ") != std::string::npos;
  RC_ASSERT((tiles == 64) != part);
}

// Checks that the state chooses only items that exist, whatever keys were pressed.
void check_choices(const ViewState& state, const model::Snapshot& snapshot) {
  const auto there = [&](const std::optional<model::DeviceName>& name) {
    return !name || selection::find_device(snapshot, *name).has_value();
  };
  RC_ASSERT(there(state.device));
  RC_ASSERT(there(state.only_device));
  RC_ASSERT(state.interval_ms >= kShortestIntervalMs && state.interval_ms <= kLongestIntervalMs);
  RC_ASSERT(std::count(kWindowsSeconds.begin(), kWindowsSeconds.end(), state.window_seconds) == 1);
  RC_ASSERT(state.sorting.column < kProcessColumns);
  RC_ASSERT(state.allocation_sorting.column < kAllocationColumns);
  RC_ASSERT(state.allocation_row >= 0);
}

RC_GTEST_PROP(Layout, AfterAnyKeysTheScreenIsValidAndTheChoiceExists, ()) {
  const model::Snapshot snapshot = any_snapshot();
  const Size size = any_size();
  ViewState state{.view = static_cast<View>(*inRange(1, 5))};
  const int keys = *inRange(0, 12);
  for (int i = 0; i <= keys; ++i) {
    const Screen screen = compose(snapshot, state, {}, size, {});
    check_regions(screen, size);
    check_tabs(screen, state);
    check_choices(state, snapshot);
    const KeyPress key{.code = static_cast<KeyPress::Code>(*inRange(0, 21)),
                       .character = *rc::gen::element<char32_t>(U'1', U'2', U'3', U'4', U'h', U'j',
                                                                U'k', U'l', U's', U'r', U'/', U't',
                                                                U'+', U'-', U'p', U'[', U']', U'é'),
                       .x = *inRange(0, 200),
                       .y = *inRange(0, 60)};
    state = handle(std::move(state), key, snapshot, screen);
  }
}

}  // namespace
}  // namespace ttmem::tui

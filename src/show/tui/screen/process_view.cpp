// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyse/selection/select.hpp"
#include "show/tui/screen/process_list.hpp"
#include "show/tui/screen/views.hpp"
#include "show/tui/screen/widgets.hpp"
#include "text/format.hpp"

namespace ttmem::tui {
namespace {

using model::Snapshot;

// Draws a line such as "3 processes · on device 0 filter: llama_".
void draw_head(Pane& pane, const Snapshot& snapshot, const ViewState& state,
               const std::string& what) {
  std::string where = "on all devices";
  if (state.only_device) {
    const auto shown = selection::find_device(snapshot, *state.only_device);
    where = "on device " + (shown ? text::format_device(snapshot.devices[*shown])
                                  : text::format_names({*state.only_device}));
  }
  int x = pane.put(0, 0, dotted_to_fit({what, where}, pane.width(), pane.display()), {Ink::dim});
  if (!state.typing_filter && state.filter.empty()) return;
  x = pane.put(x + 2, 0, "filter: ", {.ink = Ink::title, .bold = true});
  x = pane.put(x, 0, state.filter, {.bold = true});
  if (state.typing_filter) pane.put(x, 0, "_", {.ink = Ink::title, .bold = true});
}

// Draws the visible rows of a list of `count` rows, starting below the first line of the view. A
// click on a row has the effect `what`.
void draw_list(Screen& screen, Pane& pane, Rows& table, int first, int selected, int count,
               Click::What what) {
  const auto visible = static_cast<int>(table.styles.size());
  if (visible > 0) {
    table.styles[static_cast<std::size_t>(selected - first)] = {.bold = true, .reverse = true};
  }
  Pane body = pane.part({0, 1, pane.width(), visible + 1});
  draw_rows(screen, body, table, true);
  for (int i = 0; i < visible; ++i) {
    screen.click_at({body.rect().x, body.rect().y + 1 + i, body.width(), 1}, what,
                    static_cast<std::uint32_t>(first + i));
  }
  more_sign(pane, 0, first, visible, count, "");
  screen.list = {count, visible};
}

void list_processes(Screen& screen, Pane& pane, const Snapshot& snapshot, const ViewState& state) {
  const std::vector<views::ProcessTotal> rows = process_rows(snapshot, state);
  const auto count = static_cast<int>(rows.size());
  draw_head(pane, snapshot, state, text::plural(rows.size(), "process", "processes"));
  if (rows.empty()) {
    pane.put(0, 2,
             state.filter.empty() ? "No process holds memory here."
                                  : "No process matches the filter; Esc clears it.");
    return;
  }
  const int visible = std::max(0, std::min(count, pane.height() - 2));
  const int selected = selected_row(rows, state);
  const int first = scrolled_to(selected, visible, count);
  Rows table = process_table(rows, first, visible, &state.sorting, pane.display());
  draw_list(screen, pane, table, first, selected, count, Click::What::process);
}

// Returns a title such as "4711 python train.py".
std::string title_of_opened(const Snapshot& snapshot, const ProcessKey& key) {
  for (const views::ProcessTotal& total : views::process_totals(snapshot)) {
    if (key_of(total.sum) != key) continue;
    return fmt::format("{} {}", text::format_pid(total.sum), views::command_of(total.sum));
  }
  return fmt::format("{} gone", key.pid);
}

void list_allocations(Screen& screen, Pane& pane, const Snapshot& snapshot,
                      const ViewState& state) {
  AllocationRows list = allocation_rows(snapshot, state);
  const auto count = static_cast<int>(list.rows.size());
  const bool dead = state.opened->state == model::State::dead;
  Pane inside = box(pane,
                    fmt::format("{}{}", title_of_opened(snapshot, *state.opened),
                                dead ? " (dead: not counted as in use)" : ""),
                    "Esc goes back", dead ? Style{Ink::bad} : Style{.ink = Ink::title});
  std::string what = text::plural(list.rows.size(), "live allocation", "live allocations");
  if (list.programs > 0) {
    what += fmt::format(" and {} CBs of {}", list.cbs,
                        text::plural(list.programs, "program", "programs"));
  }
  draw_head(inside, snapshot, state, what);
  const int visible = std::max(0, std::min(count, inside.height() - 2));
  const int row = std::clamp(state.allocation_row, 0, std::max(0, count - 1));
  const int first = scrolled_to(row, visible, count);
  Rows table =
      allocation_table(snapshot, list, first, visible, state.allocation_sorting, inside.display());
  draw_list(screen, inside, table, first, row, count, Click::What::allocation);
}

}  // namespace

void process_view(Screen& screen, Pane pane, const Snapshot& snapshot, const ViewState& state) {
  screen.claim("processes", pane);
  if (state.opened) {
    list_allocations(screen, pane, snapshot, state);
  } else {
    list_processes(screen, pane, snapshot, state);
  }
}

}  // namespace ttmem::tui

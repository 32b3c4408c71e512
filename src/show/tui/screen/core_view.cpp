// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "show/tui/screen/core_grid.hpp"
#include "show/tui/screen/core_panel.hpp"
#include "show/tui/screen/detail_view.hpp"
#include "show/tui/screen/glyphs.hpp"
#include "show/tui/screen/views.hpp"
#include "show/tui/screen/widgets.hpp"
#include "show/views/device_rows.hpp"
#include "text/format.hpp"

namespace ttmem::tui {
namespace {

using model::Device;
using views::DeviceRow;
using What = DeviceRow::What;

constexpr int kPanelWidth = 62;  // minimum width of a panel beside the grid
constexpr int kPanelHeight = 8;  // rows for a panel below the grid; fewer on a low screen
constexpr int kHighEnough = 17;  // minimum height of a panel beside the grid

void draw_title(Pane pane, const Device& device) {
  const views::DeviceTitle title = views::device_title(device);
  const int x = pane.put(
      0, 0, fmt::format("{}: {} {}x{}  ", title.name, title.board, device.grid_x, device.grid_y),
      {.ink = Ink::title, .bold = true});
  const views::DeviceRows rows = views::device_rows(device);
  const DeviceRow& l1 = row_of(rows, What::l1);
  std::vector<std::string> facts = {
      fmt::format("{} {} of {}", l1.name, l1.size, text::format_bytes(l1.capacity))};
  for (const What what : {What::cb, What::buffers}) {
    const DeviceRow& row = row_of(rows, what);
    facts.push_back(fmt::format("{} {}", row.name, row.size));
  }
  facts.push_back("least headroom " + row_of(rows, What::headroom).size);
  if (std::string sharing = views::sharing_text(device); !sharing.empty()) {
    facts.insert(facts.begin() + 1, std::move(sharing));
  }
  pane.put(x, 0, dotted_to_fit(facts, pane.width() - x, pane.display()), {Ink::dim});
}

// Draws a legend of the grid's colours.
void draw_legend(Screen& screen, Pane pane, const Device& device) {
  if (pane.height() < 4) return;
  screen.claim("legend", pane);
  const Display display = pane.display();
  const Glyphs& g = glyphs_of(display);
  using enum text::Tone;
  int x = legend(pane, GridPlan::kAxis, 1, {{cbs, {}}, {buffers, {}}, {small, {}}}, {Ink::dim});
  x = pane.put(x, 1, display.color ? g.full : display.unicode ? "▞" : "=", {Ink::reserved});
  pane.put(x, 1, " firmware", {Ink::dim});
  const bool wastes = device.lockstep_bytes[Kind::l1].value_or(0) > 0 ||
                      device.lockstep_bytes[Kind::l1_small].value_or(0) > 0;
  if (wastes) {
    x = pane.put(GridPlan::kAxis, 2, g.lockstep, {Ink::lockstep});
    pane.put(x, 2, " taken for buffers on other cores", {Ink::dim});
  }
  if (!display.color) return;
  constexpr std::array<std::pair<std::string_view, Ink>, 6> heats = {{{" 20%", Ink::heat1},
                                                                      {" 40%", Ink::heat2},
                                                                      {" 60%", Ink::heat3},
                                                                      {" 80%", Ink::heat4},
                                                                      {" 90%", Ink::heat5},
                                                                      {"100%", Ink::heat6}}};
  x = pane.put(GridPlan::kAxis, 3, "up to ", {Ink::dim});
  for (const auto& [text, ink] : heats) x = pane.put(x, 3, text, {Ink::on_fill, ink}) + 1;
}

void beside(Screen& screen, Pane& body, const GridPlan& plan, const model::Snapshot& snapshot,
            std::size_t index, CoreCursor cursor, const ViewState& state) {
  const Device& device = snapshot.devices[index];
  core_grid(screen, body.part({0, 0, plan.width(), plan.height()}), device, plan, cursor);
  draw_legend(screen, body.part({0, plan.height(), plan.width(), body.height() - plan.height()}),
              device);
  const int x = plan.width() + 1;
  core_panel(screen, body.part({x, 0, body.width() - x, body.height()}), snapshot, index, cursor,
             state);
}

void below(Screen& screen, Pane& body, const model::Snapshot& snapshot, std::size_t index,
           CoreCursor cursor, const ViewState& state) {
  const Device& device = snapshot.devices[index];
  // Leaves at least four rows to the grid on a low screen: two rows of tiles, the caption and the
  // axis.
  const int panel = std::min(kPanelHeight, std::max(0, body.height() - 4));
  const GridPlan plan = grid_plan(device, body.width(), body.height() - panel);
  core_grid(screen, body.part({0, 0, body.width(), plan.height()}), device, plan, cursor);
  Pane rest = body.part({0, plan.height(), body.width(), body.height() - plan.height()});
  if (rest.height() >= 5) {
    core_panel(screen, rest, snapshot, index, cursor, state);
  } else if (rest.height() > 0) {
    rest.put(0, 0, core_title(device, cursor) + "; a higher terminal shows its map", {Ink::title});
  }
}

}  // namespace

void core_view(Screen& screen, Pane pane, const model::Snapshot& snapshot, const ViewState& state) {
  const std::size_t index = selected_device(snapshot, state);
  const Device& device = snapshot.devices[index];
  draw_title(pane.part({0, 0, pane.width(), 1}), device);
  const std::size_t cores = std::size_t{device.grid_x} * device.grid_y;
  if (cores == 0 || device.cores.size() != cores) {
    pane.put(0, 2, "The process did not report the grid of this device.", {Ink::dim});
    return;
  }
  const CoreCursor cursor{std::min<int>(state.core_x, device.grid_x - 1),
                          std::min<int>(state.core_y, device.grid_y - 1)};
  Pane body = pane.part({0, 1, pane.width(), pane.height() - 1});
  const GridPlan plan = grid_plan(device, body.width() - kPanelWidth, body.height());
  const bool fits = plan.columns == device.grid_x && plan.rows == device.grid_y;
  if (fits && body.height() >= kHighEnough) {
    beside(screen, body, plan, snapshot, index, cursor, state);
  } else {
    below(screen, body, snapshot, index, cursor, state);
  }
}

}  // namespace ttmem::tui

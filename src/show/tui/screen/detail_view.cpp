// SPDX-License-Identifier: Apache-2.0
#include "show/tui/screen/detail_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyse/selection/select.hpp"
#include "show/tui/screen/device_box.hpp"
#include "show/tui/screen/process_list.hpp"
#include "show/tui/screen/widgets.hpp"
#include "show/views/device_layout.hpp"

namespace ttmem::tui {
namespace {

using model::Snapshot;
using views::kCompactBoxHeight;
using views::kNarrowestBox;
using views::kNarrowestLine;

enum class Form : std::uint8_t { full, compact, line };

struct DetailPlan {
  Form form = Form::line;
  int columns = 1;  // number of devices side by side
  int item_height = 1;
  int rows = 0;     // number of rows of boxes or lines
  int visible = 0;  // number of visible rows of boxes or lines
  [[nodiscard]] int header() const { return form == Form::line ? 1 : 0; }
  // Height of the selected device's box, which is below the lines. 0 means that there is no such
  // box.
  int selected_box = 0;
};

// The rows of every device without notes, made once per frame.
using AllRows = std::vector<views::DeviceRows>;

AllRows rows_of(const Snapshot& snapshot) {
  AllRows all;
  all.reserve(snapshot.devices.size());
  for (const model::Device& device : snapshot.devices) {
    all.push_back(views::device_rows_without_notes(device));
  }
  return all;
}

int full_height(const AllRows& all) {
  int height = 0;
  for (const views::DeviceRows& rows : all) height = std::max(height, full_box_height(rows));
  return height;
}

DetailPlan plan_of(Form form, int columns, int devices, int item_height) {
  const int rows = (devices + columns - 1) / columns;
  return {form, columns, item_height, rows, rows, 0};
}

// Returns the number of screen rows to reserve for the list of processes: one row if there is no
// process, otherwise room for up to four processes.
int least_for_processes(int processes) { return processes == 0 ? 1 : 2 + std::min(processes, 4); }

// Returns the plan with one line per device, for screens where the boxes of all devices do not fit.
// If there is room, the selected device also gets a box: a full box of `full` rows, or a compact
// box.
DetailPlan line_plan(int devices, int full, Size size, int reserve) {
  const int most = std::clamp(size.width / kNarrowestLine, 1, devices);
  const int room = size.height - reserve;
  DetailPlan plan = plan_of(Form::line, 1, devices, 1);
  for (int columns = 2; columns <= most && plan.rows > room - kCompactBoxHeight; ++columns) {
    plan = plan_of(Form::line, columns, devices, 1);
  }
  // If not even a compact box fits below all lines, a compact box may still take up to a third of
  // the room. The lines then scroll.
  if (plan.rows + full <= room) {
    plan.selected_box = full;
  } else if (plan.rows + kCompactBoxHeight <= room || room >= 3 * kCompactBoxHeight) {
    plan.selected_box = kCompactBoxHeight;
  }
  plan.visible = std::clamp(room - plan.selected_box, 1, plan.rows);
  return plan;
}

DetailPlan choose(const AllRows& all, Size size, int reserve) {
  const auto devices = static_cast<int>(all.size());
  const int most = std::clamp(size.width / kNarrowestBox, 1, devices);
  const int full = full_height(all);
  for (const auto& [form, height] :
       {std::pair(Form::full, full), std::pair(Form::compact, kCompactBoxHeight)}) {
    for (int columns = 1; columns <= most; ++columns) {
      const DetailPlan plan = plan_of(form, columns, devices, height);
      if (plan.rows * height <= size.height - reserve) return plan;
    }
  }
  // Reserves one more row for the header of the lines.
  return line_plan(devices, full, size, reserve + 1);
}

void draw_device(Pane pane, Form form, const model::Device& device, const views::DeviceRows& rows,
                 bool selected) {
  if (form == Form::full) full_box(pane, device, views::device_rows(device), selected);
  if (form == Form::compact) compact_box(pane, device, views::device_rows(device), selected);
  if (form == Form::line) device_line(pane, device, rows, selected);
}

int draw_devices(Screen& screen, Pane& pane, const Snapshot& snapshot, const AllRows& all,
                 const ViewState& state, const DetailPlan& plan) {
  const std::size_t selected = selected_device(snapshot, state);
  const auto columns = static_cast<std::size_t>(plan.columns);
  // Chooses the first visible row so that the selected device is visible.
  const int first = scrolled_to(static_cast<int>(selected / columns), plan.visible, plan.rows);
  const int gap = plan.form == Form::line ? 2 : 0;
  const int width = (pane.width() - gap * (plan.columns - 1)) / plan.columns;
  const int top = plan.header();
  for (int column = 0; column < plan.columns && top > 0; ++column) {
    device_line_header(pane.part({column * (width + gap), 0, width, 1}));
  }
  for (int row = first; row < first + plan.visible; ++row) {
    for (int column = 0; column < plan.columns; ++column) {
      const std::size_t i =
          static_cast<std::size_t>(row) * columns + static_cast<std::size_t>(column);
      if (i >= snapshot.devices.size()) break;
      Pane cell = pane.part({column * (width + gap), top + (row - first) * plan.item_height, width,
                             plan.item_height});
      const bool marked = i == selected && snapshot.devices.size() > 1;
      draw_device(cell, plan.form, snapshot.devices[i], all[i], marked);
      screen.claim(fmt::format("device {}", i), cell);
      screen.click_at(cell.rect(), Click::What::device, static_cast<std::uint32_t>(i));
    }
  }
  screen.list = {plan.rows, plan.visible};
  int y = top + plan.visible * plan.item_height;
  if (plan.selected_box > 0) {
    Pane cell = pane.part({0, y, pane.width(), plan.selected_box});
    draw_device(cell, plan.selected_box == kCompactBoxHeight ? Form::compact : Form::full,
                snapshot.devices[selected], all[selected], true);
    screen.claim("selected device", cell);
    y += plan.selected_box;
  }
  return y;
}

// Draws the list of processes. `all_known` is true if the users of every device are known. Only
// then does the text for an empty list say that no process holds memory.
void draw_processes(Screen& screen, Pane pane, const std::vector<views::ProcessTotal>& totals,
                    bool all_known) {
  if (pane.height() <= 0) return;
  screen.claim("processes", pane);
  if (totals.empty()) {
    pane.put(0, 0,
             all_known ? "No process holds memory on these devices."
                       : "No process is seen on these devices.",
             {Ink::dim});
    return;
  }
  const auto count = static_cast<int>(totals.size());
  const bool all = count + 1 <= pane.height();
  const int visible = all ? count : std::max(0, pane.height() - 2);
  Pane table = pane.part({0, 0, pane.width(), visible + 1});
  draw_rows(screen, table, process_table(totals, 0, visible, nullptr, pane.display()), false);
  if (!all) more_sign(pane, pane.height() - 1, 0, visible, count, "processes: 4 shows all");
}

}  // namespace

std::size_t selected_device(const Snapshot& snapshot, const ViewState& state) {
  if (!state.device) return 0;
  return selection::find_device(snapshot, *state.device).value_or(0);
}

void detail_view(Screen& screen, Pane pane, const Snapshot& snapshot, const ViewState& state) {
  const std::vector<views::ProcessTotal> totals = views::process_totals(snapshot);
  const int reserve = least_for_processes(static_cast<int>(totals.size()));
  const AllRows all = rows_of(snapshot);
  const DetailPlan plan = choose(all, {pane.width(), pane.height()}, reserve);
  const bool scrolls = plan.visible < plan.rows;
  Pane devices = pane.part({0, 0, pane.width(), pane.height() - (scrolls ? 1 : 0)});
  int y = draw_devices(screen, devices, snapshot, all, state, plan);
  if (scrolls) {
    Pane sign = pane.part({0, y, pane.width(), 1});
    const auto selected = static_cast<int>(selected_device(snapshot, state)) / plan.columns;
    more_sign(sign, 0, scrolled_to(selected, plan.visible, plan.rows), plan.visible, plan.rows,
              plan.columns == 1 ? "devices" : "rows of devices");
    screen.claim("more devices", sign);
    ++y;
  }
  const bool all_known =
      std::all_of(snapshot.devices.begin(), snapshot.devices.end(), model::users_known);
  draw_processes(screen, pane.part({0, y, pane.width(), pane.height() - y}), totals, all_known);
}

int detail_height(const Snapshot& snapshot, int width) {
  const auto devices = static_cast<int>(snapshot.devices.size());
  const auto processes = static_cast<int>(views::process_totals(snapshot).size());
  const bool in_full = snapshot.devices.size() <= views::kMaxInFull;
  const int height = in_full ? full_height(rows_of(snapshot)) : kCompactBoxHeight;
  const int columns = in_full ? 1 : std::clamp(width / kNarrowestBox, 1, devices);
  return (devices + columns - 1) / columns * height +
         std::max(least_for_processes(processes), processes + 1);
}

}  // namespace ttmem::tui

// SPDX-License-Identifier: Apache-2.0
#include "show/tui/screen/device_box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "show/tui/screen/glyphs.hpp"
#include "show/tui/screen/widgets.hpp"
#include "show/views/device_layout.hpp"
#include "show/views/device_rows.hpp"
#include "text/format.hpp"

namespace ttmem::tui {
namespace {

using model::Device;
using views::DeviceRow;
using views::DeviceRows;
using views::row_of;
using What = DeviceRow::What;

constexpr int kLabelX = 1;
constexpr int kBranchCells = 3;
constexpr int kLongestLabel = 12;  // including the blanks after the label
constexpr std::size_t kMarkCells = 6;
constexpr Style kHeading{.ink = Ink::title, .bold = true};

Pane device_frame(Pane& pane, const Device& device, bool selected) {
  const views::DeviceTitle title = views::device_title(device);
  const std::string left = fmt::format("{}: {}", title.name, text::join(title.facts, ", "));
  std::vector<std::string> right = title.counts;
  right.insert(right.end(), title.sensors.begin(), title.sensors.end());
  // Cells for the corners, the blanks around the titles, and the frame between the titles.
  constexpr int kEdges = 12;
  const auto room =
      static_cast<int>(pane.width()) - static_cast<int>(text::display_width(left)) - kEdges;
  while (right.size() > title.counts.size() &&
         static_cast<int>(text::display_width(text::join(right, ", "))) > room) {
    right.pop_back();
  }
  return box(pane, left, text::join(right, ", "), {selected ? Ink::title : Ink::dim});
}

// Returns the number of cells from column `x` to the frame. The last cell before the frame is not
// counted, because it stays blank.
std::size_t room_from(const Pane& pane, int x) {
  return static_cast<std::size_t>(std::max(0, pane.width() - x - 1));
}

void put_size(Pane& pane, int end, int y, const DeviceRow& row) {
  const bool unknown = row.size == text::kUnknown;
  const Ink ink = unknown                                          ? Ink::dim
                  : row.is_words() && row.tone != text::Tone::none ? ink_of(row.tone)
                                                                   : Ink::plain;
  pane.put_right(end, y, row.marked_size(), {.ink = ink, .bold = !unknown && !row.is_part()});
}

// Draws the bar of a row and its share in percent. The bar of L1 is divided into the parts of L1.
void put_bar(Pane& pane, const views::RowLayout& at, int y, const DeviceRow& row,
             const DeviceRows& rows, BarForm form = BarForm::full) {
  const Style whole{.ink = ink_of(row.tone), .bold = true};
  pane.put_right(at.share_end(), y, text::format_share(row.share()),
                 row.is_part() ? Style{Ink::dim} : whole);
  if (!row.share()) return;
  bar(pane, at.bar, y, at.cells,
      row.what == What::l1 ? views::l1_pieces(rows) : std::vector{row.piece()},
      row.is_part() ? std::nullopt : text::share_of(row.peak, row.capacity), form);
}

// Draws a row without a bar, such as headroom or anomalies.
void words_row(Pane& pane, int y, const DeviceRow& row) {
  const views::RowLayout at = views::box_layout(pane.width());
  const bool list = row.size.empty();
  const int x = list ? kLabelX + kLongestLabel : at.bar;
  pane.put(kLabelX, y, row.name, list ? Style{.ink = ink_of(row.tone), .bold = true} : kHeading);
  put_size(pane, at.size, y, row);
  pane.put(x, y, views::notes_to_fit(row.notes, room_from(pane, x), ", ", list),
           {ink_of(row.tone)});
}

void memory_row(Pane& pane, int y, const DeviceRow& row, const DeviceRows& rows) {
  const views::RowLayout at = views::box_layout(pane.width());
  if (row.is_part()) pane.put(kLabelX, y, glyphs_of(pane.display()).branch, {Ink::dim});
  pane.put(kLabelX + (row.is_part() ? kBranchCells : 0), y, row.name,
           row.is_part() ? Style{} : kHeading);
  put_size(pane, at.size, y, row);
  if (!row.is_known()) return;
  put_bar(pane, at, y, row, rows, row.is_part() ? BarForm::part : BarForm::full);
  pane.put(at.notes(), y,
           views::notes_to_fit(row.notes, room_from(pane, at.notes()), between(pane.display())),
           {Ink::dim});
}

// Draws the row of Total L1 as the last branch of the tree below L1.
void total_row(Pane& pane, int y, const DeviceRow& l1) {
  pane.put(kLabelX, y, glyphs_of(pane.display()).last_branch, {Ink::dim});
  pane.put(kLabelX + kBranchCells, y, "Total L1", {.bold = true});
  put_size(pane, views::box_layout(pane.width()).size, y, l1);
}

// Draws a row such as "DRAM  1.25 GiB / 12.0 GiB  ████░░░░  10%  peak 1.50 GiB".
void compact_row(Pane& pane, int y, const DeviceRow& row, const DeviceRows& rows) {
  const views::RowLayout at = views::compact_layout(pane.width());
  pane.put(kLabelX, y, row.name, kHeading);
  put_size(pane, at.size, y, row);
  pane.put(at.size, y, " / " + text::format_bytes(row.capacity), {Ink::dim});
  put_bar(pane, at, y, row, rows);
  pane.put(
      at.notes(), y,
      row.as_asked_for ? std::string(views::kNotPhysical) : "peak " + text::format_bytes(row.peak),
      {Ink::dim});
}

bool troubled(const DeviceRows& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const DeviceRow& row) {
    return row.is_words() && row.tone != text::Tone::none;
  });
}

}  // namespace

int full_box_height(const DeviceRows& rows) {
  return static_cast<int>(rows.size()) + 3;  // 3: two rows of the frame, and the row of Total L1
}

void full_box(Pane pane, const Device& device, const DeviceRows& rows, bool selected) {
  Pane inside = device_frame(pane, device, selected);
  int y = 0;
  for (const DeviceRow& row : rows) {
    if (row.is_words()) {
      words_row(inside, y++, row);
    } else {
      memory_row(inside, y++, row, rows);
    }
    if (row.what == What::kernels) total_row(inside, y++, row_of(rows, What::l1));
  }
}

void compact_box(Pane pane, const Device& device, const DeviceRows& rows, bool selected) {
  Pane inside = device_frame(pane, device, selected);
  compact_row(inside, 0, row_of(rows, What::dram), rows);
  compact_row(inside, 1, row_of(rows, What::l1), rows);
  std::vector<LegendEntry> parts;
  for (const DeviceRow& row : rows) {
    if (row.is_part()) parts.push_back({row.tone, row.marked_size()});
  }
  legend(inside, kLabelX, 2, parts);
  // Draws headroom, and sharing processes or the notes of circular buffers, into the lower edge,
  // because a compact box has no row for them.
  const int y = pane.height() - 1;
  const int end =
      pane.put_right(pane.width() - 2, y, fmt::format(" {} ", views::headroom_in_brief(device)),
                     {troubled(rows) ? Ink::bad : Ink::dim});
  const auto room = static_cast<std::size_t>(std::max(0, end - 8));
  if (const std::string sharing = views::sharing_text(device); !sharing.empty()) {
    pane.put(2, y, fmt::format(" {} ", text::joined_to_fit({sharing}, room)), {Ink::dim});
    return;
  }
  const DeviceRow& cb = row_of(rows, What::cb);
  const std::string notes = views::notes_to_fit(cb.notes, room);
  if (!notes.empty()) pane.put(2, y, fmt::format(" {} {} ", cb.name, notes), {Ink::dim});
}

void device_line_header(Pane pane) {
  const views::LineLayout at = views::line_layout(pane.width());
  constexpr Style style{.ink = Ink::dim, .bold = true};
  pane.put(1, 0, "DEV BOARD", style);
  pane.put(at.dram.bar, 0, "DRAM", style);
  pane.put(at.l1.bar, 0, "L1", style);
  if (at.cb_end > 0) pane.put_right(at.cb_end, 0, "CB", style);
  pane.put_right(at.headroom_end, 0, "HEADROOM", style);
}

namespace {

// Returns the board. If another chip has the same number, returns the end of the uid or of the PCI
// address instead, or the architecture if both are unknown.
std::string mark_of(const Device& device) {
  if (!device.shares_number) return views::device_title(device).board;
  const std::string identity = text::format_identity(device);
  const bool is_unique = device.uid || !device.bus_id.empty();
  const bool fits = !is_unique || identity.size() <= kMarkCells;
  return fits ? identity : identity.substr(identity.size() - kMarkCells);
}

}  // namespace

void device_line(Pane pane, const Device& device, const DeviceRows& rows, bool selected) {
  const views::LineLayout at = views::line_layout(pane.width());
  if (selected) pane.put(0, 0, glyphs_of(pane.display()).right, kHeading);
  pane.put_right(4, 0, fmt::format("{}", device.id), kHeading);
  pane.put(5, 0, mark_of(device), selected ? kHeading : Style{}, static_cast<int>(kMarkCells));
  put_bar(pane, at.dram, 0, row_of(rows, What::dram), rows, BarForm::thin);
  put_bar(pane, at.l1, 0, row_of(rows, What::l1), rows, BarForm::thin);
  if (at.cb_end > 0) pane.put_right(at.cb_end, 0, row_of(rows, What::cb).marked_size());
  pane.put_right(at.headroom_end, 0, row_of(rows, What::headroom).size,
                 {troubled(rows) ? Ink::bad : Ink::dim});
}

}  // namespace ttmem::tui

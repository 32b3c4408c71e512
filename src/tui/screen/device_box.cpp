// SPDX-License-Identifier: Apache-2.0
#include "tui/screen/device_box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "tui/screen/glyphs.hpp"
#include "tui/screen/widgets.hpp"
#include "views/core_ranges.hpp"
#include "views/device_text.hpp"
#include "views/format.hpp"

namespace ttmem::tui {
namespace {

using model::Bytes;
using model::Device;
using views::format_bytes;
using views::format_share;
using views::share_of;

constexpr int kLabelX = 1;
constexpr int kSizeEnd = 25;
constexpr int kBarX = 27;
constexpr int kShareCells = 4;

std::string model_of(const Device& device) {
  if (device.board.empty() && device.arch.empty()) return "model n/a";
  if (device.board.empty() || device.arch.empty()) return device.board + device.arch;
  return fmt::format("{} ({})", device.board, device.arch);
}

std::string title_of(const Device& device) {
  std::string title = fmt::format("Device {}: {}", device.id, model_of(device));
  if (device.grid_x != 0 && device.grid_y != 0) {
    title += fmt::format(", {}x{} cores", device.grid_x, device.grid_y);
  }
  return title;
}

std::string counts_of(const Device& device) {
  const auto living = static_cast<std::uint64_t>(
      std::count_if(device.processes.begin(), device.processes.end(),
                    [](const auto& p) { return p.state == model::State::alive; }));
  std::string text = living == 0 ? std::string("no living process")
                                 : views::plural(living, "process", "processes");
  if (device.programs) text += ", " + views::plural(*device.programs, "program", "programs");
  return text;
}

Style edge_style(bool selected) { return selected ? Style{.ink = Ink::title} : Style{Ink::dim}; }

// The columns of a full box.
struct Columns {
  int bar = 0;    // cells
  int notes = 0;  // where they begin
};

Columns columns_of(int width) {
  const int notes = width < 100 ? 30 : 46;
  const int bar = std::max(0, width - kBarX - kShareCells - 3 - notes);
  return {bar, kBarX + bar + (bar > 0 ? 1 : 0) + kShareCells + 2};
}

// The first of these that fits whole, else as much of the last as fits.
std::string notes_to_fit(const std::vector<std::vector<std::string>>& choices, int room,
                         Look look) {
  for (const auto& parts : choices) {
    std::string all = joined_to_fit(parts, 1000, look);
    if (static_cast<int>(views::display_width(all)) <= room) return all;
  }
  return joined_to_fit(choices.back(), room, look);
}

using Notes = std::vector<std::vector<std::string>>;

void figures(Pane& pane, int y, Bytes used, std::optional<double> share, bool whole,
             const Notes& notes) {
  const Columns columns = columns_of(pane.width());
  pane.put_right(kSizeEnd, y, format_bytes(used), used ? Style{.bold = whole} : Style{Ink::dim});
  const Style percent = whole ? Style{.ink = ink_of_share(share), .bold = true} : Style{Ink::dim};
  pane.put_right(columns.notes - 2, y, format_share(share), percent);
  pane.put(columns.notes, y, notes_to_fit(notes, pane.width() - columns.notes, pane.look()),
           {Ink::dim});
}

// A memory of its own.
void whole_row(Pane& pane, int y, std::string_view label, Bytes used, Bytes capacity, Bytes peak,
               std::vector<Piece> pieces) {
  const std::optional<double> share = share_of(used, capacity);
  pane.put(kLabelX, y, label, {.ink = Ink::title, .bold = true});
  const std::string of = "of " + format_bytes(capacity);
  const std::string at = "peak " + format_bytes(peak);
  figures(pane, y, used, share, true, {{of, at}, {of}, {}});
  if (!share) return;
  if (pieces.empty()) pieces = {{*share, ink_of_share(share)}};
  bar(pane, kBarX, y, columns_of(pane.width()).bar, pieces, share_of(peak, capacity));
}

// A branch of the tree below L1; `before` is what the branches above take of L1.
struct Part {
  std::string_view label;
  Bytes used;
  Ink ink;
  int shade;
  Notes notes;
};

void part_row(Pane& pane, int y, const Part& part, double before, Bytes capacity) {
  const Glyphs& g = glyphs_of(pane.look());
  const std::optional<double> share = share_of(part.used, capacity);
  pane.put(kLabelX, y, g.branch, {Ink::dim});
  pane.put(kLabelX + 3, y, part.label);
  figures(pane, y, part.used, share, false, part.notes);
  const int cells = columns_of(pane.width()).bar;
  if (!share || *share <= 0 || cells <= 0) return;
  // At its own place below the bar of L1: the parts read as steps.
  const auto cell_of = [&](double place) {
    return static_cast<int>(std::lround(std::clamp(place, 0.0, 1.0) * cells));
  };
  const int first = std::min(cells - 1, cell_of(before));
  const int end = std::max(first, cell_of(before + *share));
  const std::string_view full =
      pane.look().color ? g.part : g.shades[static_cast<std::size_t>(part.shade)];
  if (end > first) {
    pane.repeat(kBarX + first, y, end - first, full, {part.ink});
  } else {
    pane.put(kBarX + first, y, g.eighths_right[pane.look().unicode ? 1 : 4], {part.ink});
  }
}

std::vector<Part> parts_of(const Device& d) {
  std::vector<std::string> kernel_notes;
  if (d.kernels_persistent_bytes.value_or(0) > 0) {
    kernel_notes.push_back(format_bytes(d.kernels_persistent_bytes) + " persistent");
  }
  if (d.kernels_estimated_bytes.value_or(0) > 0) {
    kernel_notes.push_back(format_bytes(d.kernels_estimated_bytes) + " estimated");
  }
  const std::string resident = format_bytes(d.cb_resident_bytes);
  const std::string logical = format_bytes(d.logical(Kind::cb));
  return {
      {"L1 buffers",
       d.used(Kind::l1),
       Ink::buffers,
       0,
       {{"logical " + format_bytes(d.logical(Kind::l1))}}},
      {"L1_SMALL", d.used(Kind::l1_small), Ink::small, 1, {{}}},
      {"CBs",
       d.used(Kind::cb),
       Ink::cbs,
       2,
       {{"resident " + resident, "logical " + logical, "peak " + format_bytes(d.peak(Kind::cb))},
        {"resident " + resident, "logical " + logical},
        {"res " + resident, "log " + logical}}},
      {"Kernels", d.used(Kind::kernel), Ink::kernels, 3, {kernel_notes}}};
}

std::string tightest_cores(const Device& device) {
  CoreMask mask;
  for (std::size_t i = 0; i < std::min<std::size_t>(device.cores.size(), kMaxCores); ++i) {
    if (device.cores[i].headroom_bytes == device.headroom_bytes_per_core) {
      mask.set(static_cast<std::uint32_t>(i));
    }
  }
  if (mask.count() == device.cores.size()) return "on every core";
  return "on " + views::format_core_ranges(views::core_ranges(mask, device.grid_x));
}

bool has_trace(const Device& d) {
  return d.used(Kind::trace).value_or(0) > 0 || d.trace_capacity_bytes.value_or(0) > 0;
}

void headroom_row(Pane& pane, int y, const Device& device) {
  pane.put(kLabelX, y, "Headroom", {.ink = Ink::title, .bold = true});
  if (!device.headroom_bytes_per_core) {
    pane.put_right(kSizeEnd, y, views::kUnknown, {Ink::dim});
    return;
  }
  const std::int64_t bytes = *device.headroom_bytes_per_core;
  const bool clash = bytes < 0;
  pane.put_right(kSizeEnd, y, views::format_signed_bytes(bytes, Scale::core),
                 clash ? Style{.ink = Ink::bad, .bold = true} : Style{.bold = true});
  const std::string words =
      clash ? "clash: CBs overrun L1 buffers " : "between CBs and L1 buffers ";
  pane.put(kBarX, y, words + tightest_cores(device), clash ? Style{Ink::bad} : Style{Ink::dim});
}

std::string headroom_of(const Device& device) {
  if (!device.headroom_bytes_per_core) return "headroom n/a";
  const std::int64_t bytes = *device.headroom_bytes_per_core;
  return fmt::format("{} {} per core", bytes < 0 ? "CLASH" : "headroom",
                     views::format_signed_bytes(bytes, Scale::core));
}

bool troubled(const Device& device) {
  return device.headroom_bytes_per_core.value_or(0) < 0 ||
         !views::anomaly_notes(device.anomalies).empty();
}

// "DRAM  1.25 GiB / 12.0 GiB  ████░░░░  10%  peak 1.50 GiB"
void compact_row(Pane& pane, int y, std::string_view label, Bytes used, Bytes capacity, Bytes peak,
                 std::vector<Piece> pieces) {
  const std::optional<double> share = share_of(used, capacity);
  pane.put(1, y, label, {.ink = Ink::title, .bold = true});
  pane.put_right(15, y, format_bytes(used), used ? Style{.bold = true} : Style{Ink::dim});
  pane.put(15, y, " / " + format_bytes(capacity), {Ink::dim});
  constexpr int kBar = 29;
  const int notes = pane.width() >= 70 ? 16 : 0;
  const int cells = std::max(0, pane.width() - kBar - 6 - notes);
  if (pieces.empty() && share) pieces = {{*share, ink_of_share(share)}};
  if (share) bar(pane, kBar, y, cells, pieces, share_of(peak, capacity));
  pane.put_right(kBar + cells + 5, y, format_share(share),
                 {.ink = ink_of_share(share), .bold = true});
  if (notes > 0) pane.put(kBar + cells + 7, y, "peak " + format_bytes(peak), {Ink::dim});
}

// The parts of L1 by name, each with the colour that it has in the bar.
void legend_row(Pane& pane, int y, const Device& device) {
  const Glyphs& g = glyphs_of(pane.look());
  constexpr std::array<std::string_view, 4> names = {"L1 buf", "small", "CB", "kernels"};
  const std::vector<Part> parts = parts_of(device);
  int x = 1;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string text = fmt::format(" {} {}", names[i], format_bytes(parts[i].used));
    if (x + 1 + static_cast<int>(text.size()) > pane.width()) {
      pane.put(x, y, g.ellipsis, {Ink::dim});
      break;
    }
    x = pane.put(x, y, pane.look().color ? g.full : g.shades[i], {parts[i].ink});
    x = pane.put(x, y, text) + 2;
  }
}

}  // namespace

int full_box_height(const Device& device) {
  return 2 + 2 + 5 + 1 + (has_trace(device) ? 1 : 0) +
         (views::anomaly_notes(device.anomalies).empty() ? 0 : 1);
}

void full_box(Pane pane, const Device& d, bool selected) {
  Pane inside = box(pane, title_of(d), counts_of(d), edge_style(selected));
  int y = 0;
  whole_row(inside, y++, "DRAM", d.used(Kind::dram), d.dram_capacity_bytes, d.peak(Kind::dram), {});
  whole_row(inside, y++, "L1", d.l1_used_bytes, d.l1_capacity_bytes, d.l1_peak_bytes, l1_pieces(d));
  double before = 0;
  for (const Part& part : parts_of(d)) {
    part_row(inside, y++, part, before, d.l1_capacity_bytes);
    before += share_of(part.used, d.l1_capacity_bytes).value_or(0);
  }
  inside.put(kLabelX, y, glyphs_of(inside.look()).last_branch, {Ink::dim});
  inside.put(kLabelX + 3, y, "Total L1", {.bold = true});
  figures(inside, y++, d.l1_used_bytes, std::nullopt, true, {{}});
  inside.repeat(kSizeEnd + 1, y - 1, inside.width() - kSizeEnd - 1, " ");
  headroom_row(inside, y++, d);
  if (has_trace(d)) {
    whole_row(inside, y++, "Trace", d.used(Kind::trace), d.trace_capacity_bytes,
              d.peak(Kind::trace), {});
  }
  if (const auto notes = views::anomaly_notes(d.anomalies); !notes.empty()) {
    inside.put(kLabelX, y, "Anomalies", {.ink = Ink::warn, .bold = true});
    inside.put(kLabelX + 12, y, views::join(notes, ", "), {Ink::warn});
  }
}

void compact_box(Pane pane, const Device& d, bool selected) {
  Pane inside = box(pane, title_of(d), counts_of(d), edge_style(selected));
  compact_row(inside, 0, "DRAM", d.used(Kind::dram), d.dram_capacity_bytes, d.peak(Kind::dram), {});
  compact_row(inside, 1, "L1", d.l1_used_bytes, d.l1_capacity_bytes, d.l1_peak_bytes, l1_pieces(d));
  legend_row(inside, 2, d);
  // The lower edge has room for what did not fit.
  const int y = pane.height() - 1;
  pane.put(2, y,
           fmt::format(" CB resident {}, logical {} ", format_bytes(d.cb_resident_bytes),
                       format_bytes(d.logical(Kind::cb))),
           {Ink::dim}, pane.width() - 4);
  const std::string right = fmt::format(" {} ", headroom_of(d));
  if (pane.width() >= 76) {
    pane.put_right(pane.width() - 2, y, right, troubled(d) ? Style{Ink::bad} : Style{Ink::dim});
  }
}

namespace {

// Where the columns of a line are.
struct LineColumns {
  explicit LineColumns(int width) : bar(std::max(0, (width - 46) / 2)) {}

  int bar;  // cells
  [[nodiscard]] int dram() const { return 12; }
  [[nodiscard]] int dram_end() const { return dram() + bar + 5; }
  [[nodiscard]] int l1() const { return dram_end() + 2; }
  [[nodiscard]] int l1_end() const { return l1() + bar + 5; }
  [[nodiscard]] int cb_end() const { return l1_end() + 11; }
  [[nodiscard]] int headroom_end() const { return cb_end() + 11; }
};

void line_bar(Pane& pane, int x, int cells, std::optional<double> share,
              const std::vector<Piece>& pieces, std::optional<double> peak) {
  if (share) bar(pane, x, 0, cells, pieces, peak, Thickness::thin);
  pane.put_right(x + cells + 5, 0, format_share(share), {.ink = ink_of_share(share), .bold = true});
}

}  // namespace

void device_line_header(Pane pane) {
  const LineColumns columns(pane.width());
  constexpr Style style{.ink = Ink::dim, .bold = true};
  pane.put(1, 0, "DEV BOARD", style);
  pane.put(columns.dram(), 0, "DRAM", style);
  pane.put(columns.l1(), 0, "L1", style);
  pane.put_right(columns.cb_end(), 0, "CB", style);
  pane.put_right(columns.headroom_end(), 0, "HEADROOM", style);
}

void device_line(Pane pane, const Device& d, bool selected) {
  const LineColumns columns(pane.width());
  const Style name{.ink = selected ? Ink::title : Ink::plain, .bold = selected};
  const auto dram = share_of(d.used(Kind::dram), d.dram_capacity_bytes);
  const auto l1 = share_of(d.l1_used_bytes, d.l1_capacity_bytes);
  if (selected) pane.put(0, 0, glyphs_of(pane.look()).right, {.ink = Ink::title, .bold = true});
  pane.put_right(4, 0, fmt::format("{}", d.id), {.ink = Ink::title, .bold = true});
  pane.put(5, 0, d.board.empty() ? d.arch : d.board, name, 6);
  line_bar(pane, columns.dram(), columns.bar, dram, {{dram.value_or(0), ink_of_share(dram)}},
           share_of(d.peak(Kind::dram), d.dram_capacity_bytes));
  line_bar(pane, columns.l1(), columns.bar, l1, l1_pieces(d),
           share_of(d.l1_peak_bytes, d.l1_capacity_bytes));
  pane.put_right(columns.cb_end(), 0, format_bytes(d.used(Kind::cb)));
  const std::string headroom =
      d.headroom_bytes_per_core
          ? views::format_signed_bytes(*d.headroom_bytes_per_core, Scale::core)
          : std::string(views::kUnknown);
  pane.put_right(columns.headroom_end(), 0, headroom,
                 troubled(d) ? Style{Ink::bad} : Style{Ink::dim});
}

}  // namespace ttmem::tui

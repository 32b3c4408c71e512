// SPDX-License-Identifier: Apache-2.0
#include "show/tui/screen/core_panel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "show/tui/screen/core_map.hpp"
#include "show/tui/screen/filter.hpp"
#include "show/tui/screen/glyphs.hpp"
#include "show/tui/screen/widgets.hpp"
#include "show/views/core_text.hpp"
#include "text/format.hpp"

namespace ttmem::tui {
namespace {

using model::Device;
using text::format_bytes;

constexpr int kTallMap = 14;  // minimum number of rows for an upright bar

std::size_t index_of(const Device& device, CoreCursor cursor) {
  return static_cast<std::size_t>(cursor.y) * device.grid_x + static_cast<std::size_t>(cursor.x);
}

// The look of a range of addresses: its style in the bar, its characters on terminals without
// colour, its name, and its style in the list.
struct CoverLook {
  Style style;
  std::string_view unicode;
  std::string_view ascii;
  std::string_view name;
  Style line;
};

constexpr CoverLook part_look(Ink ink, std::size_t shade, std::string_view name) {
  return {{ink}, kUnicodeGlyphs.shades[shade], kAsciiGlyphs.shades[shade], name, {}};
}

const CoverLook& look_of(Cover cover) {
  constexpr Style clash{.ink = Ink::bad, .bold = true};
  static constexpr std::array<CoverLook, 7> looks = {{
      {{Ink::track}, "·", ".", "free", {Ink::good}},
      {{Ink::reserved}, "▞", "=", "fixed", {Ink::dim}},
      part_look(Ink::cbs, 2, "CB"),
      part_look(Ink::buffers, 0, "L1"),
      part_look(Ink::small, 1, "SMALL"),
      {{Ink::lockstep}, kUnicodeGlyphs.lockstep, kAsciiGlyphs.lockstep, "taken", {Ink::dim}},
      {clash, "X", "X", "CLASH", clash},
  }};
  return looks[static_cast<std::size_t>(cover)];
}

Style style_of(Cover cover) { return look_of(cover).style; }

std::string_view glyph_of(Cover cover, Display display) {
  const bool plain = cover == Cover::free || cover == Cover::lockstep;
  if (display.color && !plain) return glyphs_of(display).full;
  return display.unicode ? look_of(cover).unicode : look_of(cover).ascii;
}

// One line in the list of ranges.
struct PanelLine {
  Cover cover = Cover::free;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string what;
};

// Returns the owner if one process holds all ranges of the core. Otherwise returns an empty text.
std::string only_owner(const CoreMap& map) {
  for (const Span& span : map.spans) {
    if (span.process != map.spans.front().process) return {};
  }
  return map.spans.empty() ? std::string() : map.spans.front().owner;
}

std::string words_of(const Span& span, bool with_owner) {
  if (!with_owner) return span.what;
  return span.what.empty() ? span.owner : fmt::format("{} ({})", span.what, span.owner);
}

PanelLine gap_line(const CoreMap& map) {
  if (*map.free_end < *map.free_begin) {
    return {Cover::clash, *map.free_end, *map.free_begin, "CBs overrun L1 buffers"};
  }
  return {Cover::free, *map.free_begin, *map.free_end, "headroom"};
}

// Returns the lines of the list, highest address first as in the upright bar.
std::vector<PanelLine> lines_of(const CoreMap& map) {
  std::vector<PanelLine> lines;
  bool gap = !map.free_begin || !map.free_end;
  const bool with_owner = only_owner(map).empty();
  for (const Span& span : map.spans) {
    if (!gap && span.begin < std::max(*map.free_end, *map.free_begin) && span.kind == Kind::cb) {
      lines.push_back(gap_line(map));
      gap = true;
    }
    lines.push_back({cover_of(span), span.begin, span.end, words_of(span, with_owner)});
  }
  if (!gap) lines.push_back(gap_line(map));
  if (map.base) lines.push_back({Cover::reserved, 0, *map.base, "firmware, kernel code"});
  return lines;
}

bool matches(const PanelLine& line, std::string_view filter) {
  const std::string text =
      fmt::format("{} {} {}", text::format_hex(line.begin), look_of(line.cover).name, line.what);
  return contains(text, filter);
}

void draw_list(Screen& screen, Pane pane, const CoreMap& map, const ViewState& state) {
  std::vector<PanelLine> lines = lines_of(map);
  if (!state.filter.empty()) {
    std::erase_if(lines, [&](const PanelLine& line) { return !matches(line, state.filter); });
  }
  const auto rows = static_cast<int>(lines.size());
  const int room = pane.height();
  const bool all = rows <= room;
  const int visible = all ? rows : std::max(0, room - 1);
  const int first = std::clamp(state.map_scroll, 0, std::max(0, rows - visible));
  for (int i = 0; i < visible; ++i) {
    const PanelLine& line = lines[static_cast<std::size_t>(first) + static_cast<std::size_t>(i)];
    const Style style = look_of(line.cover).line;
    pane.put(0, i, glyph_of(line.cover, pane.display()), style_of(line.cover));
    pane.put_right(11, i, text::format_hex(line.begin), {Ink::dim});
    pane.put_right(22, i, format_bytes(line.end - line.begin, Scale::core),
                   style.ink == Ink::plain ? Style{.bold = true} : style);
    pane.put(24, i, look_of(line.cover).name, style);
    pane.put(24 + 6, i, line.what, style);
  }
  if (!all) more_sign(pane, room - 1, first, visible, rows, "ranges");
  screen.list = {rows, visible};
}

// Returns the addresses that get a label beside the bar, highest first.
std::vector<std::uint64_t> landmarks(const CoreMap& map) {
  std::vector<std::uint64_t> marks;
  for (const model::Bytes& mark :
       {map.end, map.free_end, map.free_begin, map.base, model::Bytes(0)}) {
    if (mark) marks.push_back(*mark);
  }
  return marks;
}

// Draws one row of the bar. The lower half of each cell shows `below`, the upper half shows
// `above`. If the terminal cannot show half blocks in colour, the caller passes two equal values.
void bar_row(Pane& pane, int x, int y, int width, Cover below, Cover above) {
  const bool solid_below = below != Cover::free;
  const bool solid_above = above != Cover::free;
  if (below == above) {
    pane.repeat(x, y, width, glyph_of(below, pane.display()), style_of(below));
  } else if (solid_below) {
    const Ink fill = solid_above ? style_of(above).ink : Ink::plain;
    pane.repeat(x, y, width, "▄", {style_of(below).ink, fill});
  } else {
    pane.repeat(x, y, width, "▀", {style_of(above).ink});
  }
}

// Returns the position of an address as a share of L1, from 0 to 1. For an address above the end of
// L1, returns 1.
double place_of(std::uint64_t address, const CoreMap& map) {
  return std::min(static_cast<double>(address) / static_cast<double>(*map.end), 1.0);
}

// Draws the upright bar: the highest address on top, address labels at the left.
void tall_bar(Pane pane, const CoreMap& map) {
  const int rows = pane.height();
  constexpr int kLabels = 9;
  const bool halves = pane.display().unicode && pane.display().color;
  const std::vector<Cover> bands = bands_of(map, halves ? rows * 2 : rows);
  if (bands.empty()) return;
  for (int y = 0; y < rows; ++y) {
    const auto low = static_cast<std::size_t>(rows - 1 - y) * (halves ? 2 : 1);
    bar_row(pane, kLabels, y, pane.width() - kLabels, bands[low], bands[low + (halves ? 1 : 0)]);
  }
  int free_from = 0;  // first row that has room for a label
  for (const std::uint64_t mark : landmarks(map)) {
    const int y = std::min(static_cast<int>((1 - place_of(mark, map)) * rows), rows - 1);
    if (y < free_from) continue;
    pane.put_right(kLabels - 1, y, text::format_hex(mark), {Ink::dim});
    free_from = y + 1;
  }
}

// Draws the horizontal bar: the lowest address at the left, address labels below the bar.
void flat_bar(Pane pane, const CoreMap& map) {
  const std::vector<Cover> bands = bands_of(map, pane.width());
  if (bands.empty()) return;
  const int rows = pane.height() - 1;
  for (int y = 0; y < rows; ++y) {
    for (std::size_t i = 0; i < bands.size(); ++i) {
      pane.repeat(static_cast<int>(i), y, 1, glyph_of(bands[i], pane.display()),
                  style_of(bands[i]));
    }
  }
  const std::string end = text::format_hex(*map.end);
  const int last = pane.put_right(pane.width(), rows, end, {Ink::dim});
  int free_from = 0;
  std::vector<std::uint64_t> marks = landmarks(map);
  std::reverse(marks.begin(), marks.end());
  for (const std::uint64_t mark : marks) {
    const std::string text = text::format_hex(mark);
    const int x = static_cast<int>(place_of(mark, map) * pane.width());
    if (x < free_from || x + static_cast<int>(text.size()) >= last) continue;
    free_from = pane.put(x, rows, text, {Ink::dim}) + 1;
  }
}

}  // namespace

std::string core_title(const Device& device, CoreCursor cursor) {
  const model::Core& core = device.cores[index_of(device, cursor)];
  return fmt::format("Core ({},{}) {}", cursor.x, cursor.y,
                     text::format_share(views::share_of_core(device, core)));
}

void core_panel(Screen& screen, Pane pane, const model::Snapshot& snapshot, std::size_t index,
                CoreCursor cursor, const ViewState& state) {
  screen.claim("core", pane);
  const Device& device = snapshot.devices[index];
  const CoreMap map =
      core_map(snapshot, index, static_cast<std::uint32_t>(index_of(device, cursor)));
  const std::string owner = only_owner(map);
  Pane inside = box(pane, core_title(device, cursor),
                    owner.empty() ? std::string() : "all of " + owner, {.ink = Ink::title});
  const model::Core& core = device.cores[index_of(device, cursor)];
  std::vector<std::string> figures = {
      "CB " + format_bytes(core.cb_bytes, Scale::core),
      "resident " + format_bytes(core.cb_resident_bytes, Scale::core),
      "L1 buffers " + format_bytes(core.l1_bytes, Scale::core)};
  if (const std::uint64_t elsewhere = views::bytes_elsewhere(core); elsewhere > 0) {
    figures.push_back(format_bytes(elsewhere, Scale::core) + " for other cores");
  }
  inside.put(1, 0, dotted_to_fit(figures, inside.width() - 1, inside.display()), {Ink::dim});
  Pane body = inside.part({1, 1, inside.width() - 2, inside.height() - 1});
  if (body.height() >= kTallMap) {
    const int bar_width = body.width() >= 70 ? 21 : 15;
    tall_bar(body.part({0, 0, bar_width, body.height()}), map);
    draw_list(screen, body.part({bar_width + 1, 0, body.width() - bar_width - 1, body.height()}),
              map, state);
    return;
  }
  const int bar_height = body.height() >= 7 ? 3 : 2;
  flat_bar(body.part({0, 0, body.width(), bar_height}), map);
  draw_list(screen, body.part({0, bar_height, body.width(), body.height() - bar_height}), map,
            state);
}

}  // namespace ttmem::tui

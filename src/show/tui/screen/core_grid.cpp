// SPDX-License-Identifier: Apache-2.0
#include "show/tui/screen/core_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

#include "show/tui/screen/glyphs.hpp"
#include "show/tui/screen/widgets.hpp"
#include "show/views/core_text.hpp"
#include "text/format.hpp"

namespace ttmem::tui {
namespace {

using model::Core;
using model::Device;

constexpr int kLeastTile = 4;
constexpr int kWidestTile = 10;

Ink heat_of(std::optional<double> share) {
  if (!share || *share <= 0) return Ink::heat0;
  if (*share <= 0.2) return Ink::heat1;
  if (*share <= 0.4) return Ink::heat2;
  if (*share <= text::kWarnAbove) return Ink::heat3;
  if (*share <= text::kBadAbove) return Ink::heat4;
  return *share <= 0.9 ? Ink::heat5 : Ink::heat6;
}

// Returns the bytes as text of at most five characters: "412K", "1.2M", "-113K".
std::string short_bytes(std::int64_t bytes) {
  const double kib = static_cast<double>(bytes) / 1024;
  if (std::abs(kib) < 9.95 && bytes % 1024 != 0) return fmt::format("{:.1f}K", kib);
  if (std::abs(kib) < 999.5) return fmt::format("{:.0f}K", kib);
  return fmt::format("{:.1f}M", kib / 1024);
}

std::string centred(const std::string& text, int width) {
  const int blanks = std::max(0, width - static_cast<int>(text.size()));
  return std::string(static_cast<std::size_t>((blanks + 1) / 2), ' ') + text +
         std::string(static_cast<std::size_t>(blanks / 2), ' ');
}

// Returns the share in percent, in brackets if the core is selected.
std::string percent_text(std::optional<double> share, int width, bool selected) {
  std::string text = text::format_share(share);
  if (static_cast<int>(text.size()) > width && text.ends_with('%')) text.pop_back();
  if (selected && static_cast<int>(text.size()) + 2 <= width) {
    text = "[" + text + "]";
  } else if (selected && text.ends_with('%') && static_cast<int>(text.size()) + 1 <= width) {
    text = "[" + text.substr(0, text.size() - 1) + "]";
  }
  return centred(text, width);
}

// Draws the L1 of a core in one row: circular buffers start at the left edge, L1 buffers end at the
// right edge.
void mini_map(Pane& tile, int y, const Device& device, const Core& core) {
  const Glyphs& g = glyphs_of(tile.display());
  const int width = tile.width();
  tile.repeat(0, y, width, g.track, {Ink::track});
  const auto cells = [&](model::Bytes bytes) {
    const double share = text::share_of(bytes, device.l1_bytes_per_core).value_or(0);
    const int rounded = static_cast<int>(std::lround(std::min(share, 1.0) * width));
    return share > 0 ? std::max(1, rounded) : 0;
  };
  const int buffers = cells(core.l1_bytes);
  const int lockstep = std::min(cells(views::bytes_elsewhere(core)), buffers);
  const int cbs = std::min(cells(core.cb_bytes), std::max(0, width - buffers));
  const bool color = tile.display().color;
  tile.repeat(0, y, cbs, color ? g.full : g.shades[2], {Ink::cbs});
  tile.repeat(width - buffers, y, buffers, color ? g.full : g.shades[0], {Ink::buffers});
  tile.repeat(width - buffers, y, lockstep, g.lockstep, {Ink::lockstep});
}

void draw_tile(Pane tile, const Device& device, const Core& core, bool selected) {
  const std::optional<double> share = views::share_of_core(device, core);
  const bool clash = core.headroom_bytes.value_or(0) < 0;
  const Ink heat = clash ? Ink::heat6 : heat_of(share);
  Style style{.ink = Ink::on_fill, .fill = heat};
  if (heat == Ink::heat0) style = {Ink::dim, Ink::plain};
  if (selected) style = {.ink = Ink::plain, .fill = Ink::plain, .bold = true, .reverse = true};
  std::string text = percent_text(share, tile.width(), selected);
  if (clash && !text.empty() && text.front() == ' ') text.front() = '!';
  tile.put(0, 0, text, style);
  if (tile.height() >= 2) mini_map(tile, 1, device, core);
  if (tile.height() < 3) return;
  const std::string headroom =
      core.headroom_bytes ? short_bytes(*core.headroom_bytes) : std::string(text::kUnknown);
  tile.put(0, 2, centred(headroom, tile.width()), clash ? Style{Ink::bad} : Style{Ink::dim});
}

std::string caption_of(const GridPlan& plan, const Device& device, int first_x, int first_y) {
  const bool all = plan.columns == device.grid_x && plan.rows == device.grid_y;
  if (!all) {
    return fmt::format("cores x {}-{} of {}, y {}-{} of {}", first_x, first_x + plan.columns - 1,
                       device.grid_x, first_y, first_y + plan.rows - 1, device.grid_y);
  }
  return plan.tile_height >= 3   ? "% of L1 in CBs and buffers, where they lie, headroom"
         : plan.tile_height == 2 ? "% of L1 in CBs and buffers, where they lie"
                                 : "% of L1 in CBs and buffers";
}

}  // namespace

GridPlan grid_plan(const Device& device, int width, int height) {
  const int x = device.grid_x;
  const int y = device.grid_y;
  const int wide = std::min((width - GridPlan::kAxis) / std::max(x, 1), kWidestTile);
  struct Shape {
    int tall;
    int gap;
    int least_width;  // minimum width of a tile for its text
  };
  constexpr std::array<Shape, 5> shapes = {
      {{3, 1, 6}, {2, 1, 5}, {3, 0, 6}, {2, 0, 5}, {1, 0, kLeastTile}}};
  for (const Shape& shape : shapes) {
    if (wide >= shape.least_width && y * (shape.tall + shape.gap) + 2 <= height) {
      return {wide, shape.tall, shape.gap, x, y};
    }
  }
  const int tile = std::clamp(wide, kLeastTile, kWidestTile);
  return {tile, 1, 0, std::clamp((width - GridPlan::kAxis) / tile, 1, std::max(x, 1)),
          std::clamp(height - 2, 1, std::max(y, 1))};
}

void core_grid(Screen& screen, Pane pane, const Device& device, const GridPlan& plan,
               CoreCursor cursor) {
  screen.claim("cores", pane);
  const int first_x = scrolled_to(cursor.x, plan.columns, device.grid_x);
  const int first_y = scrolled_to(cursor.y, plan.rows, device.grid_y);
  pane.put(0, 0, caption_of(plan, device, first_x, first_y), {Ink::dim});
  for (int column = 0; column < plan.columns; ++column) {
    const int x = first_x + column;
    const Style style = x == cursor.x ? Style{.bold = true} : Style{Ink::dim};
    pane.put(GridPlan::kAxis + column * plan.tile_width, 1,
             centred(fmt::format("{}", x), plan.tile_width - 1), style);
  }
  for (int row = 0; row < plan.rows; ++row) {
    const int y = first_y + row;
    const int top = 2 + row * (plan.tile_height + plan.gap);
    pane.put_right(GridPlan::kAxis - 1, top, fmt::format("{}", y),
                   y == cursor.y ? Style{.bold = true} : Style{Ink::dim});
    for (int column = 0; column < plan.columns; ++column) {
      const int x = first_x + column;
      const auto index = static_cast<std::size_t>(y) * device.grid_x + static_cast<std::size_t>(x);
      if (index >= device.cores.size()) continue;
      Pane tile = pane.part(
          {GridPlan::kAxis + column * plan.tile_width, top, plan.tile_width - 1, plan.tile_height});
      draw_tile(tile, device, device.cores[index], x == cursor.x && y == cursor.y);
      screen.click_at(tile.rect(), Click::What::core,
                      static_cast<std::uint32_t>(x) | (static_cast<std::uint32_t>(y) << 16));
    }
  }
}

}  // namespace ttmem::tui

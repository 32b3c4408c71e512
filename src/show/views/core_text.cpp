// SPDX-License-Identifier: Apache-2.0
#include "show/views/core_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "text/core_ranges.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

namespace ttmem::views {
namespace {

using model::Core;
using model::Device;

constexpr std::size_t kIndent = 2;
constexpr std::size_t kMaxLines = 5;  // maximum number of lines in the list below the map

text::Color heat_of(std::optional<double> share) {
  if (!share || *share == 0) return text::Color::dim;
  const text::Tone tone = text::tone_of_share(share);
  if (tone == text::Tone::good) return text::Color::on_green;
  return tone == text::Tone::warn ? text::Color::on_yellow : text::Color::on_red;
}

// Returns the share in percent as a text of four cells. The first cell is a shade if the terminal
// has Unicode but no colour, otherwise a blank.
std::string cell_of(std::optional<double> share, const text::TextOptions& options) {
  if (!share) return fmt::format("{:>4}", text::kUnknown);
  constexpr std::array<std::string_view, 5> shades = {" ", "░", "▒", "▓", "█"};
  const auto level = static_cast<std::size_t>(std::min(*share, 0.99) * 5);
  const bool shaded = options.unicode && !options.color;
  std::string percent = text::format_share(share);
  percent.pop_back();  // removes the percent sign, because the caption names the unit
  return fmt::format("{}{:>3}", shaded ? shades[level] : " ", percent);
}

bool any_elsewhere(const Device& device) {
  return std::any_of(device.cores.begin(), device.cores.end(),
                     [](const Core& core) { return bytes_elsewhere(core) > 0; });
}

std::string map_of(const Device& device, const text::TextOptions& options) {
  constexpr std::string_view caption =
      "Cores: percent of each core's L1 that CBs and L1 buffers take";
  std::string text = text::Line(options).pad_to(kIndent).add(caption, text::Color::dim).finish();
  if (any_elsewhere(device)) {
    constexpr std::string_view legend = "/ a part of it is taken for buffers on other cores";
    text += text::Line(options).pad_to(kIndent).add(legend, text::Color::dim).finish();
  }
  text::Line header(options);
  header.pad_to(kIndent).add("  y\\x", text::Color::dim);
  for (std::uint32_t x = 0; x < device.grid_x; ++x) {
    header.add(fmt::format("{:>5}", x), text::Color::dim);
  }
  text += header.finish();
  for (std::size_t row = 0; row * device.grid_x < device.cores.size(); ++row) {
    text::Line line(options);
    line.pad_to(kIndent).add(fmt::format("{:>4} ", row), text::Color::dim);
    for (std::size_t x = 0; x < device.grid_x; ++x) {
      const std::size_t index = row * device.grid_x + x;
      if (index >= device.cores.size()) break;
      const Core& core = device.cores[index];
      const std::optional<double> share = share_of_core(device, core);
      line.add(bytes_elsewhere(core) > 0 ? "/" : " ").add(cell_of(share, options), heat_of(share));
    }
    text += line.finish();
  }
  return text;
}

// Cores with equal figures.
struct CoreGroup {
  Core figures;
  CoreMask cores;
};

bool alike(const Core& a, const Core& b) {
  return a.headroom_bytes == b.headroom_bytes && a.cb_bytes == b.cb_bytes &&
         a.cb_resident_bytes == b.cb_resident_bytes && a.l1_bytes == b.l1_bytes &&
         a.l1_data_bytes == b.l1_data_bytes;
}

std::vector<CoreGroup> groups_by_headroom(const Device& device) {
  std::vector<CoreGroup> groups;
  for (const Core& core : device.cores) {
    const std::uint32_t index = std::uint32_t{core.y} * device.grid_x + core.x;
    if (index >= kMaxCores) continue;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const CoreGroup& known) { return alike(known.figures, core); });
    if (group == groups.end()) group = groups.insert(groups.end(), {core, {}});
    group->cores.set(index);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const CoreGroup& a, const CoreGroup& b) {
    constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
    return a.figures.headroom_bytes.value_or(last) < b.figures.headroom_bytes.value_or(last);
  });
  return groups;
}

std::string tightest(const Device& device, const text::TextOptions& options) {
  using enum text::Column::Align;
  const bool elsewhere = any_elsewhere(device);
  std::vector<text::Column> columns = {{"HEADROOM"}, {"CB"}, {"RESIDENT", right, 2}, {"L1 BUF"}};
  if (elsewhere) columns.push_back({"ELSEWHERE", right, 1});
  columns.push_back({"CORES"});
  columns.push_back({"WHERE, THE TIGHTEST FIRST", left, 0, text::Column::Cut::end});
  text::Table table(columns);
  const std::vector<CoreGroup> groups = groups_by_headroom(device);
  for (std::size_t i = 0; i < std::min(groups.size(), kMaxLines); ++i) {
    const Core& core = groups[i].figures;
    const bool clash = core.headroom_bytes.value_or(0) < 0;
    const text::Color color = clash ? text::Color::red : text::Color::plain;
    std::vector<text::TableCell> row = {
        {text::format_signed_bytes(core.headroom_bytes, options.units, Scale::core), color},
        {text::format_bytes(core.cb_bytes, options.units, Scale::core), color},
        {text::format_bytes(core.cb_resident_bytes, options.units, Scale::core), color},
        {text::format_bytes(core.l1_bytes, options.units, Scale::core), color}};
    if (elsewhere)
      row.push_back({text::format_bytes(bytes_elsewhere(core), options.units, Scale::core), color});
    row.push_back({fmt::format("{}", groups[i].cores.count()), color});
    row.push_back({text::format_core_ranges(text::core_ranges(groups[i].cores, device.grid_x),
                                            !options.shorten) +
                       (clash ? " clash" : ""),
                   color});
    table.add_row(std::move(row));
  }
  return table.render(kIndent, options);
}

}  // namespace

std::optional<double> share_of_core(const Device& device, const Core& core) {
  const std::uint64_t cores = std::uint64_t{device.grid_x} * device.grid_y;
  if (!core.cb_bytes || !core.l1_bytes || !device.l1_capacity_bytes || cores == 0) {
    return std::nullopt;
  }
  return text::share_of(*core.cb_bytes + *core.l1_bytes, *device.l1_capacity_bytes / cores);
}

std::uint64_t bytes_elsewhere(const Core& core) {
  if (!core.l1_bytes || !core.l1_data_bytes) return 0;
  return *core.l1_bytes - std::min(*core.l1_bytes, *core.l1_data_bytes);
}

std::string core_text(const Device& device, const text::TextOptions& options) {
  if (device.cores.empty() || device.grid_x == 0 || device.grid_y == 0) {
    return text::wrapped("Cores: n/a, the process did not report the grid of this device.", kIndent,
                         text::Color::dim, options);
  }
  return map_of(device, options) + tightest(device, options);
}

}  // namespace ttmem::views

// SPDX-License-Identifier: Apache-2.0
#include "show/views/brief_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "read/model/shared_chip.hpp"
#include "show/views/device_rows.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

namespace ttmem::views {
namespace {

using model::Device;
using What = DeviceRow::What;

std::string or_unknown(const std::string& text) {
  return text.empty() ? std::string(text::kUnknown) : text;
}

// Returns the number of living processes, followed by the number of dead processes if there are
// any: "2", "2 +1 dead". Says if the sums of the device may count addresses several times.
std::string processes_of(const Device& device) {
  const std::uint64_t living = model::living_processes(device);
  const std::uint64_t dead = device.processes.size() - living;
  if (!users_known(device) && dead == 0) return std::string(text::kUnknown);
  std::string text = fmt::format("{}", living);
  if (model::may_overlap(device)) text += ", sums may overlap";
  return dead == 0 ? text : fmt::format("{} +{} dead", text, dead);
}

std::vector<text::TableCell> cells_of(const Device& device, text::Units units) {
  const DeviceRows rows = device_rows_without_notes(device, units);
  const DeviceRow& dram = row_of(rows, What::dram);
  const DeviceRow& l1 = row_of(rows, What::l1);
  const DeviceRow& headroom = row_of(rows, What::headroom);
  return {{text::format_device(device)},
          {device.uid ? text::format_hex(*device.uid) : std::string(text::kUnknown)},
          {or_unknown(device.board.empty() ? device.arch : device.board)},
          {dram.marked_size()},
          {text::format_bytes(dram.capacity, units)},
          {text::format_share(dram.share()), text::color_of(dram.tone)},
          {l1.marked_size()},
          {text::format_bytes(l1.capacity, units)},
          {text::format_share(l1.share()), text::color_of(l1.tone)},
          {row_of(rows, What::cb).marked_size()},
          {row_of(rows, What::kernels).marked_size()},
          {headroom.size,
           headroom.tone == text::Tone::none ? text::Color::plain : text::color_of(headroom.tone)},
          {processes_of(device)}};
}

}  // namespace

std::string brief_text(const model::Snapshot& snapshot, const text::TextOptions& options) {
  using enum text::Column::Align;
  text::Table table({{"DEV"},
                     {"UID", left, 7},
                     {"BOARD", left, 4},
                     {"DRAM"},
                     {"OF", right, 5},
                     {"%"},
                     {"L1"},
                     {"OF", right, 6},
                     {"%"},
                     {"CB", right, 2},
                     {"KERNELS", right, 8},
                     {"HEADROOM", right, 1},
                     {"PROCESSES", left, 3}});
  for (const Device& device : snapshot.devices) table.add_row(cells_of(device, options.units));
  return table.render(0, options);
}

}  // namespace ttmem::views

// SPDX-License-Identifier: Apache-2.0
#include "show/exports/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "read/recording/file/chips.hpp"

namespace ttmem::exports {

using recording::RecordedDevice;

namespace {

// A viewer's list of devices has an entry for every number up to the highest number in use. The
// list is therefore indexed by device number only if all numbers are below this maximum.
constexpr std::uint32_t kMaxPlaces = 1024;

// Combines the facts of all devices that are this chip.
ExportedChip describe(const recording::Tables& tables, const recording::RecordedChip& found) {
  const RecordedDevice& first = tables.device(found.rows.front());
  ExportedChip chip{.number = first.number, .devices = found.rows};
  for (const recording::RowId row : found.rows) {
    const RecordedDevice& device = tables.device(row);
    chip.number = std::min(chip.number, device.number);
    if (chip.uid == 0) chip.uid = device.uid;
    if (chip.arch.empty()) chip.arch = device.arch;
    if (chip.board.empty()) chip.board = device.board;
  }
  return chip;
}

}  // namespace

std::string_view name_of(Memory memory) {
  constexpr std::array<std::string_view, kMemories> names = {"DRAM", "L1", "trace", "host memory"};
  return names[static_cast<std::size_t>(memory)];
}

std::string ExportedChip::name() const { return fmt::format("device {}", number); }

Selection::Selection(const recording::Tables& tables, const std::vector<Kind>& kinds,
                     const Wanted& wanted) {
  for (const Kind kind : kAllKinds) {
    kinds_[kind] = kinds.empty() || std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  }
  for (const recording::RecordedChip& found : recording::find_chips(tables).chips) {
    chips_.push_back(describe(tables, found));
  }
  if (wanted) std::erase_if(chips_, [&](const ExportedChip& chip) { return !wanted(chip); });
  chip_of_.assign(tables.devices.size(), kNone);
  for (std::size_t i = 0; i < chips_.size(); ++i) {
    for (const recording::RowId device : chips_[i].devices) {
      chip_of_[static_cast<std::size_t>(device - 1)] = i;
    }
  }
}

std::vector<std::size_t> Selection::places() const {
  std::set<std::uint32_t> numbers;
  for (const ExportedChip& chip : chips_) numbers.insert(chip.number);
  const bool usable =
      numbers.size() == chips_.size() && (numbers.empty() || *numbers.rbegin() < kMaxPlaces);
  std::vector<std::size_t> places(chips_.size());
  for (std::size_t i = 0; i < chips_.size(); ++i) places[i] = usable ? chips_[i].number : i;
  return places;
}

}  // namespace ttmem::exports

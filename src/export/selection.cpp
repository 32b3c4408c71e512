// SPDX-License-Identifier: Apache-2.0
#include "export/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace ttmem::exporter {

using recording::Device;

namespace {

// A chip is found again by its uid; one whose uid nobody tells, by its number.
bool is_of(const Chip& chip, const Device& device) {
  return chip.uid == device.uid && (chip.uid != 0 || chip.number == device.number);
}

}  // namespace

std::string_view name_of(Memory memory) {
  constexpr std::array<std::string_view, kMemories> names = {"DRAM", "L1", "trace", "host memory"};
  return names[static_cast<std::size_t>(memory)];
}

std::string Chip::name() const { return fmt::format("device {}", number); }

Selection::Selection(const recording::Tables& tables, const std::vector<Kind>& kinds,
                     const Wanted& wanted) {
  for (const Kind kind : kAllKinds) {
    kinds_[kind] = kinds.empty() || std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  }
  for (const Device& device : tables.devices) {
    const auto at = std::find_if(chips_.begin(), chips_.end(),
                                 [&](const Chip& chip) { return is_of(chip, device); });
    if (at != chips_.end()) {
      at->devices.push_back(device.id);
      continue;
    }
    chips_.push_back({device.number, device.uid, device.arch, device.board, {device.id}});
  }
  if (wanted) std::erase_if(chips_, [&](const Chip& chip) { return !wanted(chip); });
  std::sort(chips_.begin(), chips_.end(), [](const Chip& a, const Chip& b) {
    return std::pair(a.number, a.uid) < std::pair(b.number, b.uid);
  });
  chip_of_.assign(tables.devices.size(), kNone);
  for (std::size_t i = 0; i < chips_.size(); ++i) {
    for (const recording::RowId device : chips_[i].devices) {
      chip_of_[static_cast<std::size_t>(device - 1)] = i;
    }
  }
}

}  // namespace ttmem::exporter

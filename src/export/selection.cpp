// SPDX-License-Identifier: Apache-2.0
#include "export/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace ttmem::exporter {

using recording::Device;

namespace {

// A list with a place for each number must not become a long one.
constexpr std::uint32_t kMostPlaces = 1024;

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

std::vector<std::size_t> Selection::places() const {
  std::set<std::uint32_t> numbers;
  for (const Chip& chip : chips_) numbers.insert(chip.number);
  const bool usable =
      numbers.size() == chips_.size() && (numbers.empty() || *numbers.rbegin() < kMostPlaces);
  std::vector<std::size_t> places(chips_.size());
  for (std::size_t i = 0; i < chips_.size(); ++i) places[i] = usable ? chips_[i].number : i;
  return places;
}

}  // namespace ttmem::exporter

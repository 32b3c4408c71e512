// SPDX-License-Identifier: Apache-2.0
#include "read/recording/file/chips.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "read/recording/file/openings.hpp"

namespace ttmem::recording {
namespace {

using Identity = std::tuple<std::uint64_t, std::uint32_t, std::string>;  // uid, number, arch

bool names_no_chip(const RecordedDevice& device) { return device.uid == 0 && device.arch.empty(); }

Identity identity_of(const RecordedDevice& device) {
  return device.uid != 0 ? Identity(device.uid, 0, "") : Identity(0, device.number, device.arch);
}

// Returns the only chip with that number; nullopt if there is none or several.
std::optional<Identity> only_chip(const Tables& tables, std::uint32_t number) {
  std::optional<Identity> only;
  for (const RecordedDevice& device : tables.devices) {
    if (device.number != number || names_no_chip(device)) continue;
    if (only && *only != identity_of(device)) return std::nullopt;
    only = identity_of(device);
  }
  return only;
}

RecordedChip chip_of(const Tables& tables, const std::vector<RowId>& rows) {
  RecordedChip chip;
  chip.rows = rows;
  for (const RowId row : rows) {
    chip.grid_x = std::max(chip.grid_x, std::uint32_t{tables.device(row).grid_x});
    chip.grid_y = std::max(chip.grid_y, std::uint32_t{tables.device(row).grid_y});
  }
  return chip;
}

// Sets Chips::is_at_end for the openings of a chip.
void mark_at_end(const Tables& tables, const RecordedChip& chip, Chips& chips) {
  constexpr Time kNever = std::numeric_limits<Time>::max();
  const auto end_of = [&](RowId row) { return tables.device(row).end_ns.value_or(kNever); };
  const auto is_last = [&](RowId row) { return chips.is_last[static_cast<std::size_t>(row - 1)]; };
  Time latest = std::numeric_limits<Time>::min();
  for (const RowId row : chip.rows) {
    if (is_last(row)) latest = std::max(latest, end_of(row));
  }
  for (const RowId row : chip.rows) {
    chips.is_at_end[static_cast<std::size_t>(row - 1)] = is_last(row) && end_of(row) == latest;
  }
}

}  // namespace

std::uint32_t RecordedChip::cores() const {
  const std::uint32_t cores = grid_x * grid_y;
  return cores == 0 || cores > kMaxCores ? kMaxCores : cores;
}

std::uint32_t core_on_chip(const RecordedChip& chip, const RecordedDevice& device,
                           std::uint32_t core) {
  if (device.grid_x == 0 || device.grid_x == chip.grid_x) return core;
  return std::min(core / device.grid_x * chip.grid_x + core % device.grid_x, kMaxCores - 1);
}

CoreMask cores_on_chip(const RecordedChip& chip, const RecordedDevice& device,
                       const CoreMask& cores) {
  if (device.grid_x == 0 || device.grid_x == chip.grid_x) return cores;
  CoreMask moved;
  cores.for_each([&](std::uint32_t core) { moved.set(core_on_chip(chip, device, core)); });
  return moved;
}

Chips find_chips(const Tables& tables) {
  std::map<Identity, std::vector<RowId>> rows;
  for (const RecordedDevice& device : tables.devices) {
    const auto only = names_no_chip(device) ? only_chip(tables, device.number) : std::nullopt;
    rows[only.value_or(identity_of(device))].push_back(device.id);
  }
  Chips result;
  for (auto& [identity, of_chip] : rows) result.chips.push_back(chip_of(tables, of_chip));
  const auto key = [&](const RecordedChip& chip) {
    const RecordedDevice& first = tables.device(chip.rows.front());
    return std::tuple(first.number, first.uid, chip.rows.front());
  };
  std::sort(result.chips.begin(), result.chips.end(),
            [&](const RecordedChip& a, const RecordedChip& b) { return key(a) < key(b); });
  result.of_row.resize(tables.devices.size());
  for (std::uint32_t i = 0; i < result.chips.size(); ++i) {
    for (const RowId row : result.chips[i].rows) {
      result.of_row[static_cast<std::size_t>(row - 1)] = i;
    }
  }
  result.is_last = last_openings(tables);
  result.is_at_end.resize(tables.devices.size());
  for (const RecordedChip& chip : result.chips) mark_at_end(tables, chip, result);
  for (const std::vector<RowId>& set : tables.device_sets) {
    std::vector<std::uint32_t>& chips = result.of_set.emplace_back();
    for (const RowId row : set) chips.push_back(result.of(row));
    std::sort(chips.begin(), chips.end());
    chips.erase(std::unique(chips.begin(), chips.end()), chips.end());
  }
  return result;
}

}  // namespace ttmem::recording

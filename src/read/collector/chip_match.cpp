// SPDX-License-Identifier: Apache-2.0
#include "read/collector/chip_match.hpp"

#include <algorithm>

namespace ttmem::collector {
namespace {

using model::State;

// Returns true if `uid` may be UMD's uid of a chip of this board. UMD's uid is the serial number of
// the board. For linked Blackholes it is the serial number shifted left, with the chip's place on
// the board in the low bits.
bool is_of_board(std::uint64_t uid, const driver::Chip& chip) {
  constexpr unsigned place_bits = 5;
  if (!chip.serial) return false;
  const std::uint64_t place_mask = (std::uint64_t{1} << place_bits) - 1;
  return uid == *chip.serial || (uid & ~place_mask) == *chip.serial << place_bits;
}

}  // namespace

ChipMatch::ChipMatch(const Evidence& evidence) : evidence_(evidence) {}

bool ChipMatch::fits(std::uint32_t chip, const std::string& arch) const {
  const std::string& own = evidence_.driver.chips[chip].arch;
  return own.empty() || arch.empty() || own == arch;
}

ChipMatch::Chip ChipMatch::by_uid(std::uint64_t uid, const std::string& arch) const {
  if (uid == 0) return std::nullopt;
  const auto only = [&](auto is_it) -> Chip {
    Chip found;
    for (std::uint32_t i = 0; i < evidence_.driver.chips.size(); ++i) {
      if (!is_it(evidence_.driver.chips[i]) || !fits(i, arch)) continue;
      if (found) return std::nullopt;  // two chips fit, so the match is ambiguous
      found = i;
    }
    return found;
  };
  const Chip same = only([&](const driver::Chip& chip) { return chip.asic_id == uid; });
  return same ? same : only([&](const driver::Chip& chip) { return is_of_board(uid, chip); });
}

std::vector<std::uint32_t> ChipMatch::open_in(std::int32_t pid) const {
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < evidence_.driver.chips.size(); ++i) {
    const std::vector<std::int32_t>& holders = evidence_.driver.chips[i].holders;
    if (std::binary_search(holders.begin(), holders.end(), pid)) open.push_back(i);
  }
  return open;
}

ChipMatch::Chip ChipMatch::by_number(std::uint32_t number, std::uint64_t uid,
                                     const std::string& arch, bool alive) const {
  for (std::uint32_t i = 0; i < evidence_.driver.chips.size(); ++i) {
    const driver::Chip& chip = evidence_.driver.chips[i];
    // If `uid` and the chip's uid are known, they differ, because by_uid() found no match.
    const bool another = uid != 0 && chip.asic_id;
    const bool open_elsewhere = alive && chip.holders_known;
    if (chip.number == number && fits(i, arch) && !another && !open_elsewhere) return i;
  }
  return std::nullopt;
}

std::vector<ChipMatch::Chip> ChipMatch::of(const SegmentEvidence& segment,
                                           std::span<const std::uint64_t> uids) const {
  const auto& devices = segment.image.devices;
  std::vector<Chip> chips(devices.size());
  if (evidence_.driver.chips.empty()) return chips;
  const bool alive = segment.state == State::alive;
  for (std::size_t i = 0; i < devices.size(); ++i) chips[i] = by_uid(uids[i], devices[i].arch);
  // If one uid of a process matches, the process knows the uids of all its chips. Its other devices
  // then have no PCIe link, so their numbers are not compared with the driver's chips.
  if (std::any_of(chips.begin(), chips.end(), [](const Chip& chip) { return chip.has_value(); })) {
    return chips;
  }
  const std::int32_t pid = segment.host_pid.value_or(segment.foreign_pid ? 0 : segment.image.pid);
  const std::vector<std::uint32_t> open =
      alive && pid != 0 ? open_in(pid) : std::vector<std::uint32_t>();
  // True if the process belongs to this user and has no chip open. /proc shows the open chips of
  // this user's processes even if the driver lists no holders.
  const bool opened_none = alive && open.empty() && segment.user == evidence_.user;
  for (std::size_t i = 0; i < devices.size() && !opened_none; ++i) {
    const std::uint32_t number = devices[i].id;
    if (open.empty()) {
      chips[i] = by_number(number, uids[i], devices[i].arch, alive);
    } else if (number < open.size() && fits(open[number], devices[i].arch)) {
      chips[i] = open[number];
    }
  }
  return chips;
}

ChipMatch::Chip ChipMatch::of(const RegionEvidence& region) const {
  if (const Chip same = by_uid(region.uid, "")) return same;
  bool alive = false;
  for (const RowEvidence& row : region.rows) {
    if (row.state != State::alive) continue;
    alive = true;
    const std::vector<std::uint32_t> open = open_in(row.row.pid);
    if (region.device_id < open.size()) return open[region.device_id];
  }
  return by_number(region.device_id, region.uid, "", alive);
}

}  // namespace ttmem::collector

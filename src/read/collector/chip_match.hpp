// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "read/collector/evidence.hpp"

namespace ttmem::collector {

// Finds the kernel driver's chip for each device that a process reports. Uses no I/O and no clock.
// `evidence` must outlive the ChipMatch.
//
// 1. The uid decides. Processes report UMD's uid, which is the uid of the chip, the serial number
//    of the board, or that serial number combined with the chip's place on the board. The driver
//    reports the uid of the chip and the serial number of the board.
// 2. If no uid matches, the chips that the process has open are numbered from 0 in the driver's
//    order. Device N of the process is chip N of these chips. UMD numbers the chips with a PCIe
//    link in this order, before the chips that are reached through other chips.
// 3. If the process has ended, or its open chips are unknown, device N is the driver's chip N.
class ChipMatch {
 public:
  // Index into the driver's chips; nullopt if the device is none of these chips.
  using Chip = std::optional<std::uint32_t>;

  explicit ChipMatch(const Evidence& evidence);

  // Returns the chip of each device of a segment. `uids` has the reported uid of each device; 0
  // means unknown.
  [[nodiscard]] std::vector<Chip> of(const SegmentEvidence& segment,
                                     std::span<const std::uint64_t> uids) const;
  [[nodiscard]] Chip of(const RegionEvidence& region) const;

 private:
  [[nodiscard]] Chip by_uid(std::uint64_t uid, const std::string& arch) const;
  [[nodiscard]] std::vector<std::uint32_t> open_in(std::int32_t pid) const;
  [[nodiscard]] Chip by_number(std::uint32_t number, std::uint64_t uid, const std::string& arch,
                               bool alive) const;
  [[nodiscard]] bool fits(std::uint32_t chip, const std::string& arch) const;

  const Evidence& evidence_;
};

}  // namespace ttmem::collector

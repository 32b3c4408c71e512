// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "read/collector/evidence.hpp"

namespace ttmem::collector {

// Which chips of the kernel driver the devices of processes are. No I/O, no clock. `evidence` must
// outlive it.
//
// 1. A chip's own number tells. UMD takes the chip's, or the board's, or one made of the board's
// and
//    the chip's place on it; the driver has the chip's and the board's.
// 2. Else a process's device N is the Nth of the chips that it has open, in the driver's order: so
//    UMD counts the chips with a PCIe link, before those that are reached through others.
// 3. Of a process that has ended, or whose open chips nobody tells, the number alone must do.
class ChipMatch {
 public:
  using Chip =
      std::optional<std::uint32_t>;  // index into the driver's chips; none: not one of them

  explicit ChipMatch(const Evidence& evidence);

  // Of each device of a segment. `uids` are the chips' own numbers, as far as processes tell them;
  // 0: unknown.
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

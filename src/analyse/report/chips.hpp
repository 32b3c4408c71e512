// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/core_mask.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::report {

using recording::RowId;
using recording::Tables;

// A chip, and the devices of the recording that are it: one for each time that a process opened it.
struct RecordedChip {
  std::vector<RowId> rows;
  // The largest that a process sees; processes may see different ones. 0: unknown.
  std::uint32_t grid_x = 0;
  std::uint32_t grid_y = 0;

  [[nodiscard]] std::uint32_t cores() const;
};

// The number that a core of a device has on its chip.
[[nodiscard]] std::uint32_t core_on_chip(const RecordedChip& chip,
                                         const recording::RecordedDevice& device,
                                         std::uint32_t core);
[[nodiscard]] CoreMask cores_on_chip(const RecordedChip& chip,
                                     const recording::RecordedDevice& device,
                                     const CoreMask& cores);

struct Chips {
  std::vector<RecordedChip> chips;    // by number, then uid
  std::vector<std::uint32_t> of_row;  // [device - 1]
  // The last time that a process had the device open; a device that was left open is one too.
  std::vector<bool> is_last;  // [device - 1]
  // Of those, the ones that ended last on their chip, at one moment: they had it open at its end.
  std::vector<bool> is_at_end;  // [device - 1]
  // By set: the chips that a buffer on that set lies on, each once.
  std::vector<std::vector<std::uint32_t>> of_set;  // [set - 1]

  [[nodiscard]] std::uint32_t of(RowId device) const {
    return of_row[static_cast<std::size_t>(device - 1)];
  }
};

// Devices with the same uid are one chip. Without a uid, those with the same number and
// architecture; a process that gives only the number means the only chip that has it.
[[nodiscard]] Chips find_chips(const Tables& tables);

}  // namespace ttmem::report

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/core_mask.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::recording {

// A chip, with one row of the table `devices` for each time that a process opened the chip.
struct RecordedChip {
  std::vector<RowId> rows;
  // The largest grid that a process sees; processes may see different grids. 0: unknown.
  std::uint32_t grid_x = 0;
  std::uint32_t grid_y = 0;

  [[nodiscard]] std::uint32_t cores() const;
};

// Convert the number of a core, or a set of cores, from the grid of a device to the grid of its
// chip.
[[nodiscard]] std::uint32_t core_on_chip(const RecordedChip& chip, const RecordedDevice& device,
                                         std::uint32_t core);
[[nodiscard]] CoreMask cores_on_chip(const RecordedChip& chip, const RecordedDevice& device,
                                     const CoreMask& cores);

struct Chips {
  std::vector<RecordedChip> chips;    // sorted by number, then uid
  std::vector<std::uint32_t> of_row;  // index into chips, at [device - 1]
  // True if the process did not open the chip again after this opening.
  std::vector<bool> is_last;  // [device - 1]
  // True if `is_last` is true and no opening with `is_last` ended later on that chip. Several
  // openings may have ended at the same time.
  std::vector<bool> is_at_end;  // [device - 1]
  // The chips on which a buffer with this device set lies. Each chip is listed once.
  std::vector<std::vector<std::uint32_t>> of_set;  // [set - 1]

  [[nodiscard]] std::uint32_t of(RowId device) const {
    return of_row[static_cast<std::size_t>(device - 1)];
  }
};

// Finds the chips of a recording. Devices with the same uid are one chip. Without a uid, devices
// with the same number and architecture are one chip. A device of which only the number is known
// belongs to the only chip with that number.
[[nodiscard]] Chips find_chips(const Tables& tables);

}  // namespace ttmem::recording

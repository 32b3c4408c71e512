// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analyse/fit/fit.hpp"
#include "base/result.hpp"
#include "read/placement/board.hpp"
#include "read/placement/memory_map.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::fit {

// The properties of the board that replace the properties of a recorded device. Devices that were
// opened in the same way share one target.
struct Target {
  recording::RecordedDevice recorded;         // properties that the recorded devices have in common
  const placement::ChipSpec* chip = nullptr;  // chip of the recorded devices; null: unknown
  placement::Grid grid;                       // grid of the board
  placement::MemoryMap map;                   // memory map of the board
  bool estimate = false;                      // as CarryOptions::estimate

  [[nodiscard]] std::uint64_t banks(Kind kind) const {
    return is_in_dram(kind) ? map.dram_channels : std::uint64_t{grid.x} * grid.y;
  }
};

struct Targets {
  std::vector<Target> targets;
  std::vector<std::uint32_t> of_device;  // index into `targets` by [device - 1]
};

// Returns an error if the board cannot be opened with the sizes of a device.
[[nodiscard]] Result<Targets> find_targets(const recording::Tables& tables,
                                           const placement::Board& board,
                                           const CarryOptions& options);

// Returns `device` after replacing its properties by the properties of a device of the board.
[[nodiscard]] recording::RecordedDevice on_board(recording::RecordedDevice device,
                                                 const placement::Board& board,
                                                 const Target& target);

}  // namespace ttmem::fit

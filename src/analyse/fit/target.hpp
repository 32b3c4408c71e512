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

// A recorded device, and what stands for it on the other board. Devices that were opened alike
// share one.
struct Target {
  recording::Device recorded;             // what all of them say of themselves
  const placement::Chip* chip = nullptr;  // of the recorded device; null: not one that is known
  placement::Grid grid;                   // of the board
  placement::MemoryMap map;               // of the board

  [[nodiscard]] std::uint64_t banks(Kind kind) const {
    return is_in_dram(kind) ? map.dram_channels : std::uint64_t{grid.x} * grid.y;
  }
};

struct Targets {
  std::vector<Target> targets;
  std::vector<std::uint32_t> of_device;  // [device - 1]
};

// An error when the board cannot be opened with the sizes of a device.
[[nodiscard]] Result<Targets> find_targets(const recording::Tables& tables,
                                           const placement::Board& board, const Options& options);

// The device as the board would say it of itself.
[[nodiscard]] recording::Device on_board(recording::Device device, const placement::Board& board,
                                         const Target& target);

}  // namespace ttmem::fit

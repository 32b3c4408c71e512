// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "read/model/snapshot.hpp"

namespace ttmem::model {

// Returns the number of living processes that hold memory of the device.
[[nodiscard]] inline std::uint64_t holding_processes(const Device& device) {
  return static_cast<std::uint64_t>(
      std::count_if(device.processes.begin(), device.processes.end(), [](const Process& process) {
        return process.state == State::alive && held_bytes(process) > 0;
      }));
}

// Returns true if several processes hold memory of the device. Each process has an allocator of its
// own, so two processes may use the same addresses. The sums of the device then count these
// addresses several times.
[[nodiscard]] inline bool may_overlap(const Device& device) {
  return holding_processes(device) > 1;
}

}  // namespace ttmem::model

// SPDX-License-Identifier: Apache-2.0
//
// This test process as readers see it. The process is tracked from the start, and its segment is in
// a directory of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "read/model/snapshot.hpp"

namespace ttmem::tracked_process {

// Returns what the collector finds now.
[[nodiscard]] model::Snapshot snapshot();

// Returns one device of the snapshot; fails the test if there is no such device.
[[nodiscard]] model::Device device(std::uint32_t chip);

// Returns the live buffers and kernels on `chip`.
[[nodiscard]] std::vector<model::Allocation> allocations(std::uint32_t chip);

}  // namespace ttmem::tracked_process

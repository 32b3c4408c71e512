// SPDX-License-Identifier: Apache-2.0
//
// Reads the segment of this test process as other processes read it. The process is tracked, with a
// directory of its own for its segment.
#pragma once

#include <cstdint>
#include <vector>

#include "read/model/snapshot.hpp"

namespace ttmem::tracked_process {

// Returns the snapshot that the collector makes now.
[[nodiscard]] model::Snapshot snapshot();

// Returns one device of the snapshot; fails the test if there is no such device.
[[nodiscard]] model::Device device(std::uint32_t chip);

// Returns the live buffers and kernels on `chip`.
[[nodiscard]] std::vector<model::Allocation> allocations(std::uint32_t chip);

}  // namespace ttmem::tracked_process

// SPDX-License-Identifier: Apache-2.0
//
// This test process as readers see it: tracking is on from the start, in a directory of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "read/model/snapshot.hpp"

namespace ttmem::tracked_process {

// What the collector finds now.
[[nodiscard]] model::Snapshot snapshot();

// One device of it; fails the test when there is none.
[[nodiscard]] model::Device device(std::uint32_t chip);

// The live buffers and kernels on `chip`.
[[nodiscard]] std::vector<model::Allocation> allocations(std::uint32_t chip);

}  // namespace ttmem::tracked_process

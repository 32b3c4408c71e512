// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/snapshot.hpp"
#include "views/text.hpp"

namespace ttmem::views {

struct SnapshotTextOptions {
  bool per_core = false;  // with the map of each device's cores
  bool warnings = false;  // at the end; for screens on which stderr would be overwritten
};

// What `ttmem` prints: devices, their sum when there are several, processes, and what the words
// mean. One line with advice when there is no device.
//
// The first line of a device starts with "Device N:"; below it, indented, stand "DRAM:", "L1:",
// "CB:" and "Kernels:", each followed by one blank and a size. Other programs search for these
// words. Which rows there are and what they say: device_rows.hpp. The parts of L1 are drawn as
// steps below its bar, because they add up to it.
[[nodiscard]] std::string snapshot_text(const model::Snapshot& snapshot,
                                        const SnapshotTextOptions& what,
                                        const TextOptions& options);

}  // namespace ttmem::views

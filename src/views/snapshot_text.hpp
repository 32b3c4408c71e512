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
// mean. One line with advice when there is no device. The lines of a device: device_text.hpp.
[[nodiscard]] std::string snapshot_text(const model::Snapshot& snapshot,
                                        const SnapshotTextOptions& what,
                                        const TextOptions& options);

}  // namespace ttmem::views

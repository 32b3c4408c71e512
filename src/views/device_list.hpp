// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/snapshot.hpp"
#include "views/text.hpp"

namespace ttmem::views {

// What `ttmem --list` prints: a line for each device with what tells it from others. One line with
// advice when there is no device.
[[nodiscard]] std::string device_list_text(const model::Snapshot& snapshot,
                                           const TextOptions& options);

// The advice when no process uses a device.
[[nodiscard]] std::string no_device_text(const TextOptions& options);

}  // namespace ttmem::views

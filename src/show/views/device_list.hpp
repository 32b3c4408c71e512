// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "read/model/snapshot.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// What `ttmem --list` prints: a line for each device with what tells it from others. One line with
// advice when there is no device.
[[nodiscard]] std::string device_list_text(const model::Snapshot& snapshot,
                                           const text::TextOptions& options);

// When there is no device: that no process uses one, with advice, or that nothing could be read.
[[nodiscard]] std::string no_device_text(const model::Snapshot& snapshot,
                                         const text::TextOptions& options);

// What could not be read, so that sums are "at least"; empty when everything was.
[[nodiscard]] std::string not_complete_text(const model::Snapshot& snapshot,
                                            const text::TextOptions& options);

}  // namespace ttmem::views

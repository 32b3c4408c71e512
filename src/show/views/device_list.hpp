// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "read/model/snapshot.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// Returns the output of `ttmem --list`: one line per device that identifies the device. If there is
// no device, returns no_device_text().
[[nodiscard]] std::string device_list_text(const model::Snapshot& snapshot,
                                           const text::TextOptions& options);

// Returns the text for a snapshot without devices. If nothing could be read, the text says so.
// Otherwise the text says that no process uses a device, and what to do next.
[[nodiscard]] std::string no_device_text(const model::Snapshot& snapshot,
                                         const text::TextOptions& options);

// Returns a text that names the sources that could not be read. Sums are then lower bounds. Returns
// an empty text if all sources were read.
[[nodiscard]] std::string not_complete_text(const model::Snapshot& snapshot,
                                            const text::TextOptions& options);

}  // namespace ttmem::views

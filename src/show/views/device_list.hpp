// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "read/model/snapshot.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// Returns the output of `ttmem --list`: one line per device with its identity, or one line with
// advice if there is no device.
[[nodiscard]] std::string device_list_text(const model::Snapshot& snapshot,
                                           const text::TextOptions& options);

// Returns the text for a snapshot without devices. The text says either that no process uses a
// device, with the next step, or that nothing could be read.
[[nodiscard]] std::string no_device_text(const model::Snapshot& snapshot,
                                         const text::TextOptions& options);

// Returns which sources could not be read, so that sums are "at least"; empty if all were read.
[[nodiscard]] std::string not_complete_text(const model::Snapshot& snapshot,
                                            const text::TextOptions& options);

}  // namespace ttmem::views

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "read/model/snapshot.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// What `ttmem --brief` prints: one line a device under headers. Only headers when there is no
// device.
[[nodiscard]] std::string brief_text(const model::Snapshot& snapshot,
                                     const text::TextOptions& options);

}  // namespace ttmem::views

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "read/model/snapshot.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// Returns the output of `ttmem --brief`: headers, then one line per device. Without a device,
// returns only the headers.
[[nodiscard]] std::string brief_text(const model::Snapshot& snapshot,
                                     const text::TextOptions& options);

}  // namespace ttmem::views

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "read/model/snapshot.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// Returns the part of the core's L1 that circular buffers and L1 buffers take; nullopt if a figure
// is unknown.
[[nodiscard]] std::optional<double> share_of_core(const model::Device& device,
                                                  const model::Core& core);

// Returns the bytes that L1 buffers take on this core although their data is on other cores
// (lockstep); 0 if unknown.
[[nodiscard]] std::uint64_t bytes_elsewhere(const model::Core& core);

// Returns the cores of a device as a map. A cell shows in percent how much of the core's L1 is
// taken by circular buffers and L1 buffers; a mark says that a part is taken for data on other
// cores. Below the map are the cores with the least headroom; cores with equal figures share a
// line. 14 columns of cores fit into 80 columns of text.
[[nodiscard]] std::string core_text(const model::Device& device, const text::TextOptions& options);

}  // namespace ttmem::views

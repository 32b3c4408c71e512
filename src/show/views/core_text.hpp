// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "read/model/snapshot.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// Returns the share of the core's L1 that circular buffers and L1 buffers take, or nullopt if a
// figure is unknown.
[[nodiscard]] std::optional<double> share_of_core(const model::Device& device,
                                                  const model::Core& core);

// Returns the bytes on this core that L1 buffers take only because of lockstep: the data of these
// buffers is on other cores. Returns 0 if this is unknown.
[[nodiscard]] std::uint64_t bytes_elsewhere(const model::Core& core);

// Returns the cores of a device as a map. A cell shows in percent how much of the core's L1 is
// taken by circular buffers and L1 buffers. A mark before the cell means that a part is taken by L1
// buffers whose data is on other cores. Below the map is a list of the cores with the least
// headroom; cores with equal figures share a line. A map of 14 columns of cores fits into 80
// columns of text.
[[nodiscard]] std::string core_text(const model::Device& device, const text::TextOptions& options);

}  // namespace ttmem::views

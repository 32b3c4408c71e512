// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "read/model/snapshot.hpp"
#include "text/text.hpp"

namespace ttmem::views {

// How much of its L1 the CBs and L1 buffers of a core take; unknown when one figure is.
[[nodiscard]] std::optional<double> share_of_core(const model::Device& device,
                                                  const model::Core& core);

// What L1 buffers take on this core for bytes that lie on other cores (lockstep); 0 when unknown.
[[nodiscard]] std::uint64_t bytes_elsewhere(const model::Core& core);

// The cores of a device as a map: in each cell the share of that core's L1 which CBs and L1
// buffers take, in percent, and a mark when a part of it is for bytes on other cores; below it the
// cores with the least headroom, alike ones in one line. 14 columns of cores fit into 80 columns of
// text.
[[nodiscard]] std::string core_text(const model::Device& device, const text::TextOptions& options);

}  // namespace ttmem::views

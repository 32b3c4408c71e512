// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "read/imports/graph.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::imports {

// Returns one device that stands for all devices of the graph. Buffers and CBs number devices
// differently, so their figures cannot be combined by device. Without a report, only its grid is
// known: the smallest grid that contains all named cores. Fails if no device has so many cores.
[[nodiscard]] Result<recording::RecordedDevice> device_of(const Graph& graph);

}  // namespace ttmem::imports

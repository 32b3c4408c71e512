// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "read/imports/graph.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::imports {

// Returns one device that stands for all devices of the graph, because a graph numbers devices
// differently for buffers and for CBs. Without a report, only the grid of the device is known: the
// smallest grid that contains all named cores. Fails if no real device has so many cores.
[[nodiscard]] Result<recording::RecordedDevice> device_of(const Graph& graph);

}  // namespace ttmem::imports

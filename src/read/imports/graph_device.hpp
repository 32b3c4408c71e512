// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "read/imports/graph.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::imports {

// The one device that stands for all of the graph: its ids of devices differ between buffers and
// CBs, so nothing can be joined by them. Without a report only its grid is known, and that is the
// smallest which has all cores that are named. Fails when no device has so many.
[[nodiscard]] Result<recording::RecordedDevice> device_of(const Graph& graph);

}  // namespace ttmem::imports

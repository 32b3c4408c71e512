// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "read/imports/graph.hpp"
#include "read/imports/import.hpp"
#include "read/recording/file/rows.hpp"
#include "read/recording/file/writer.hpp"

namespace ttmem::imports {

// Writes the events of the graph. `device` is the result of device_of(), and already has a row.
[[nodiscard]] Imported write_graph(const Graph& graph, const recording::RecordedDevice& device,
                                   recording::Writer& writer);

}  // namespace ttmem::imports

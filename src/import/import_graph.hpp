// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "import/graph.hpp"
#include "import/import.hpp"
#include "recording/file/rows.hpp"
#include "recording/file/writer.hpp"

namespace ttmem::importing {

// Writes the events of the graph; `device` (device_of()) is a row of it already.
[[nodiscard]] Imported write_graph(const Graph& graph, const recording::Device& device,
                                   recording::Writer& writer);

}  // namespace ttmem::importing

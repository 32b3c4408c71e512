// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <istream>
#include <string>

#include "base/result.hpp"
#include "read/imports/graph.hpp"

namespace ttmem::imports {

// Reads a graph: a bare array of nodes, or a report with one in `graph`. Numbers may be spelled as
// text. `name` is the name of the file in messages. Takes memory for the Graph and for one node as
// JSON, which is bounded.
//
// Fails, naming the node and the reason, when it is no JSON, no graph, or a node lacks what its
// type needs, and when counters do not ascend. Node types that it does not know are no failure.
[[nodiscard]] Result<Graph> read_graph(std::istream& input, const std::string& name);

}  // namespace ttmem::imports

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <istream>
#include <string>

#include "base/result.hpp"
#include "read/imports/graph.hpp"

namespace ttmem::imports {

// Reads a graph. The input is an array of nodes, or a report whose field `graph` is this array.
// Numbers may be texts. `name` is the name of the file in messages. Besides the Graph, only the
// JSON of one node is in memory, and its size is limited.
//
// Fails if the file is not JSON or not a graph, if a node lacks a parameter that its type needs, or
// if counters do not ascend. The message names the node and the reason. Nodes of an unknown type
// are not an error.
[[nodiscard]] Result<Graph> read_graph(std::istream& input, const std::string& name);

}  // namespace ttmem::imports

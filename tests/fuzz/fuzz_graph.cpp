// SPDX-License-Identifier: Apache-2.0
//
// Imports a hostile graph of ttnn.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "read/imports/graph_device.hpp"
#include "read/imports/graph_file.hpp"
#include "read/imports/upstream_peaks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ttmem::imports;
  std::istringstream input(std::string(reinterpret_cast<const char*>(data), size));
  const auto graph = read_graph(input, "input");
  if (!graph) return 0;
  (void)upstream_peaks(graph->nodes);
  (void)device_of(*graph);
  return 0;
}

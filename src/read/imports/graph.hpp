// SPDX-License-Identifier: Apache-2.0
// A capture of a ttnn graph (ttnn.graph.end_graph_capture), as plain values.
// docs/guides/recording.md describes the import.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/kinds.hpp"
#include "read/imports/core_range_set.hpp"

namespace ttmem::imports {

enum class NodeType : std::uint8_t {
  function_start,
  function_end,
  buffer,  // stands for one buffer; its allocations and frees refer to this node
  buffer_allocate,
  buffer_deallocate,
  circular_buffer_allocate,
  dataflow_buffer_allocate,
  scratchpad_allocate,
  // Frees all CBs of the last program, before the next program begins.
  circular_buffer_deallocate_all,
  tensor,
  error,
  other,  // capture_start, capture_end, and types of later versions
};

// A node of the graph. Only the fields that belong to the type of the node are set. Indices refer
// to the lists of Graph.
struct Node {
  NodeType type = NodeType::other;
  Kind kind = Kind::dram;     // kind of a buffer
  bool is_view = false;       // a CB or dataflow buffer on an L1 buffer
  std::uint32_t text = 0;     // name of a function, tensor or error: index in texts
  std::uint32_t cores = 0;    // cores of a CB: index in core_sets
  std::uint64_t counter = 0;  // position in the order of events
  std::uint64_t bytes = 0;    // size in all banks for a buffer, size on one core for a CB
  std::uint64_t address = 0;
  std::optional<std::uint64_t> bytes_per_bank;  // only for a buffer; nullopt in older graphs
  std::uint64_t page_bytes = 0;                 // only for a buffer; 0: unknown
  std::optional<bool> is_sharded;               // only for a buffer
  std::optional<std::uint64_t> connection;   // counter of the first node that this node refers to
  std::optional<std::uint64_t> duration_ns;  // only for the end of a function
  std::int64_t device_id = 0;                // only for a CB; buffers number devices differently
};

[[nodiscard]] inline bool is_cb(const Node& node) {
  return node.type == NodeType::circular_buffer_allocate ||
         node.type == NodeType::dataflow_buffer_allocate ||
         node.type == NodeType::scratchpad_allocate;
}
// Returns true for a CB without an address. In a capture without dispatch, no CB has an address.
[[nodiscard]] inline bool is_unplaced_cb(const Node& node) {
  return is_cb(node) && !node.is_view && node.address == 0;
}

// The properties of a device in a report; zero or empty means unknown.
struct GraphDevice {
  std::string arch;
  std::uint16_t grid_x = 0;
  std::uint16_t grid_y = 0;
  std::uint32_t l1_bytes_per_core = 0;
  std::uint32_t l1_base = 0;
  std::uint32_t l1_bank_bytes = 0;  // part of L1 that is left for buffers
  std::uint32_t dram_channels = 0;
  std::uint64_t dram_bytes_per_channel = 0;
};

struct Graph {
  std::vector<Node> nodes;  // counters ascend
  std::vector<std::string> texts{""};
  std::vector<std::vector<CoreRange>> core_sets{{}};
  std::vector<GraphDevice> devices;  // empty if the file is a bare array of nodes
  std::uint64_t captured_unix_ns = 0;

  [[nodiscard]] const std::string& text(const Node& node) const { return texts[node.text]; }
};

}  // namespace ttmem::imports

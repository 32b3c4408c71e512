// SPDX-License-Identifier: Apache-2.0
#include "read/imports/upstream_peaks.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ttmem::imports {
namespace {

// A sum and its maximum so far.
struct Level {
  std::uint64_t now = 0;
  std::uint64_t peak = 0;

  void set(std::uint64_t value) {
    now = value;
    peak = std::max(peak, value);
  }
};

struct Levels {
  Level cb, l1, dataflow_buffer, scratchpad, total;

  void apply(const Node& node) {
    switch (node.type) {
      case NodeType::circular_buffer_allocate:
        if (!node.is_view) cb.set(cb.now + node.bytes);
        break;
      case NodeType::dataflow_buffer_allocate:
        if (!node.is_view) dataflow_buffer.set(dataflow_buffer.now + node.bytes);
        break;
      case NodeType::scratchpad_allocate:
        scratchpad.set(scratchpad.now + node.bytes);
        break;
      case NodeType::circular_buffer_deallocate_all:
        cb.now = dataflow_buffer.now = scratchpad.now = 0;
        break;
      case NodeType::buffer_allocate:
        if (!is_in_dram(node.kind)) l1.set(l1.now + node.bytes_per_bank.value_or(0));
        break;
      case NodeType::buffer_deallocate:
        if (!is_in_dram(node.kind)) l1.now -= std::min(l1.now, node.bytes_per_bank.value_or(0));
        break;
      default:
        return;
    }
    total.set(cb.now + l1.now + dataflow_buffer.now + scratchpad.now);
  }
};

bool is_buffer_event(const Node& node) {
  return node.type == NodeType::buffer_allocate || node.type == NodeType::buffer_deallocate;
}

}  // namespace

UpstreamPeaks upstream_peaks(std::span<const Node> nodes) {
  Levels levels;
  bool has_sizes = true;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].counter != i) return {};
    levels.apply(nodes[i]);
    has_sizes &= !is_buffer_event(nodes[i]) || is_in_dram(nodes[i].kind) ||
                 nodes[i].bytes_per_bank.has_value();
  }
  UpstreamPeaks peaks;
  if (has_sizes) peaks.l1 = levels.l1.peak;
  if (!shows_programs(nodes)) return peaks;
  peaks.cb = levels.cb.peak;
  peaks.dataflow_buffer = levels.dataflow_buffer.peak;
  peaks.scratchpad = levels.scratchpad.peak;
  if (has_sizes) peaks.total = levels.total.peak;
  return peaks;
}

bool shows_programs(std::span<const Node> nodes) {
  bool ran = false;
  for (const Node& node : nodes) {
    if (is_cb(node)) return true;
    ran |= node.type == NodeType::circular_buffer_deallocate_all;
  }
  return !ran;
}

std::string to_json(const UpstreamPeaks& peaks) {
  const auto value = [](const std::optional<std::uint64_t>& figure) {
    return figure ? nlohmann::ordered_json(*figure) : nlohmann::ordered_json();
  };
  const nlohmann::ordered_json json = {{"peak_cb", value(peaks.cb)},
                                       {"peak_l1", value(peaks.l1)},
                                       {"peak_total", value(peaks.total)},
                                       {"peak_dataflow_buffer", value(peaks.dataflow_buffer)},
                                       {"peak_scratchpad", value(peaks.scratchpad)}};
  return json.dump();
}

}  // namespace ttmem::imports

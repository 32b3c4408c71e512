// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "read/imports/graph.hpp"

namespace ttmem::imports {

// The figures of ttnn's own ttnn.graph.extract_resource_usage_per_core: bytes on one core, as if
// all cores had everything, hence an upper bound.
//
//   circular_buffer_allocate        cb += size, unless globally_allocated
//   dataflow_buffer_allocate        dataflow_buffer += size, unless borrows_memory
//   scratchpad_allocate             scratchpad += size
//   circular_buffer_deallocate_all  these three become 0
//   buffer_allocate, _deallocate    l1 += or -= max_size_per_bank, unless in DRAM
//
// Each peak is the most that its sum reached; peak_total, of the four together. There a free of a
// buffer from before the capture takes l1 below zero, and unsigned figures to 2^64; here to zero.
//
// Unknown, and none: all when counters are not consecutive, where the original throws; peak_l1 and
// peak_total when a buffer in L1 has no max_size_per_bank; all but peak_l1 when the graph does not
// show the CBs of its programs (shows_programs()).
struct UpstreamPeaks {
  std::optional<std::uint64_t> cb;
  std::optional<std::uint64_t> l1;
  std::optional<std::uint64_t> dataflow_buffer;
  std::optional<std::uint64_t> scratchpad;
  std::optional<std::uint64_t> total;
};

[[nodiscard]] UpstreamPeaks upstream_peaks(std::span<const Node> nodes);

// False when programs ran and none shows a CB: they came from the program cache, and ttnn reports
// CBs only when it lays them out.
[[nodiscard]] bool shows_programs(std::span<const Node> nodes);

// As JSON, {"peak_cb": 1024, ...}; null where unknown.
[[nodiscard]] std::string to_json(const UpstreamPeaks& peaks);

}  // namespace ttmem::imports

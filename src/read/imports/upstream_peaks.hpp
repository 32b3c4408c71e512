// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "read/imports/graph.hpp"

namespace ttmem::imports {

// The figures of ttnn's own ttnn.graph.extract_resource_usage_per_core: bytes on one core. These
// figures are upper bounds, because they assume that every core holds every buffer and CB.
//
//   circular_buffer_allocate        cb += size, unless globally_allocated
//   dataflow_buffer_allocate        dataflow_buffer += size, unless borrows_memory
//   scratchpad_allocate             scratchpad += size
//   circular_buffer_deallocate_all  these three become 0
//   buffer_allocate, _deallocate    l1 += or -= max_size_per_bank, unless in DRAM
//
// Each peak is the maximum of one of these sums. `total` is the maximum of all four sums added up.
// A buffer that was allocated before the capture may be freed: l1 then stays at zero. In ttnn, the
// unsigned l1 then wraps around to nearly 2^64.
//
// A figure is nullopt if it is unknown. All are unknown if counters are not consecutive; ttnn
// throws in this case. `l1` and `total` are unknown if a buffer in L1 has no max_size_per_bank. All
// but `l1` are unknown if the graph does not show the CBs of its programs (shows_programs()).
struct UpstreamPeaks {
  std::optional<std::uint64_t> cb;
  std::optional<std::uint64_t> l1;
  std::optional<std::uint64_t> dataflow_buffer;
  std::optional<std::uint64_t> scratchpad;
  std::optional<std::uint64_t> total;
};

[[nodiscard]] UpstreamPeaks upstream_peaks(std::span<const Node> nodes);

// Returns false if programs ran but the graph shows no CB. The programs then came from the program
// cache: ttnn reports the CBs of a program only when it lays out the program.
[[nodiscard]] bool shows_programs(std::span<const Node> nodes);

// Returns the peaks as JSON, {"peak_cb": 1024, ...}; unknown values are null.
[[nodiscard]] std::string to_json(const UpstreamPeaks& peaks);

}  // namespace ttmem::imports

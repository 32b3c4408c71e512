// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tt-metalium/core_coord.hpp>
#include <utility>
#include <vector>

#include "impl/dataflow_buffer/dataflow_buffer.hpp"

namespace tt::tt_metal::experimental::dfb::detail {

// A declared dataflow buffer. It has an address after the layout of its program was computed.
struct DataflowBufferImpl {
  std::uint32_t id = 0;
  CoreRangeSet core_ranges;
  DataflowBufferConfig config;
  std::uint32_t borrowed_addr_ = 0;
  // Number of the dataflow buffer whose bytes this dataflow buffer shares, if any.
  std::optional<std::uint32_t> alias_primary_id;
  std::vector<std::uint32_t> alias_secondary_ids;
  // The key is a core. The second number of each value is the address, which is the same on all
  // cores. Empty while the dataflow buffer has no address.
  std::map<CoreCoord, std::pair<std::size_t, std::uint32_t>> core_lookup_;

  bool borrows_memory() const { return config.borrows_memory; }
  void set_borrowed_memory_base_addr(std::uint32_t address) { borrowed_addr_ = address; }
  std::uint32_t total_size() const { return config.entry_size * config.num_entries; }
  std::uint32_t uniform_alloc_addr() const { return core_lookup_.begin()->second.second; }
};

}  // namespace tt::tt_metal::experimental::dfb::detail

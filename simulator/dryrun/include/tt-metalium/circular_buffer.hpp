// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <tt-metalium/circular_buffer_config.hpp>
#include <tt-metalium/core_coord.hpp>
#include <unordered_set>

namespace tt::tt_metal {

class CircularBufferImpl;

// A read-only view of one circular buffer of a program. It is valid while the program lives.
class CircularBuffer {
 public:
  explicit CircularBuffer(const CircularBufferImpl* impl) : impl_(impl) {}
  CBHandle id() const;
  const CoreRangeSet& core_ranges() const;
  std::size_t size() const;
  bool globally_allocated() const;
  const std::unordered_set<std::uint8_t>& buffer_indices() const;
  std::uint32_t page_size(std::uint32_t buffer_index) const;
  std::uint32_t num_pages(std::uint32_t buffer_index) const;
  DataFormat data_format(std::uint32_t buffer_index) const;

 private:
  const CircularBufferImpl* impl_;
};

}  // namespace tt::tt_metal

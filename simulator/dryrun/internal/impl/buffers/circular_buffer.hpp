// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <tt-metalium/circular_buffer.hpp>
#include <tt-metalium/circular_buffer_config.hpp>
#include <tt-metalium/core_coord.hpp>

namespace tt::tt_metal::experimental {
class GlobalCircularBuffer;
}  // namespace tt::tt_metal::experimental

namespace tt::tt_metal {

// A declared circular buffer. It has an address after the layout of its program was computed.
class CircularBufferImpl {
 public:
  // Throws if a slot has no data format, no page size, or too many pages. Throws if exactly one of
  // `global` and a remote index is given. `global` may be null.
  CircularBufferImpl(const CoreRangeSet& core_ranges, const CircularBufferConfig& config,
                     const experimental::GlobalCircularBuffer* global = nullptr);

  CBHandle id() const { return reinterpret_cast<CBHandle>(this); }
  const CoreRangeSet& core_ranges() const { return core_ranges_; }
  const CircularBufferConfig& config() const { return config_; }
  CircularBufferConfig& config() { return config_; }

  std::uint32_t size() const { return config_.total_size(); }
  bool globally_allocated() const { return config_.globally_allocated_address().has_value(); }
  // Returns the address of a globally allocated circular buffer. The address was read from the L1
  // buffer when the circular buffer was created or last updated.
  std::uint64_t global_address() const { return global_address_; }
  void assign_global_address();
  // Returns true if the circular buffer lies in the memory of a GlobalCircularBuffer. The circular
  // buffer is then also globally allocated.
  bool is_global_circular_buffer() const { return in_global_circular_buffer_; }
  void set_global_circular_buffer(const experimental::GlobalCircularBuffer& global);
  // Throws if the program has no layout yet.
  std::uint32_t address() const;
  void set_address(std::uint64_t address) { address_ = address; }

  // These functions throw if the slot does not belong to this circular buffer.
  std::uint32_t page_size(std::uint32_t buffer_index) const;
  std::uint32_t num_pages(std::uint32_t buffer_index) const;
  DataFormat data_format(std::uint32_t buffer_index) const;

 private:
  CoreRangeSet core_ranges_;
  CircularBufferConfig config_;
  std::uint64_t global_address_ = 0;
  bool in_global_circular_buffer_ = false;
  std::optional<std::uint64_t> address_;
};

}  // namespace tt::tt_metal

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/hal_types.hpp>
#include <unordered_set>
#include <vector>

namespace tt::tt_metal {

// The statistics of one bank. All banks of a buffer type have the same statistics.
struct Statistics {
  std::size_t total_allocatable_size_bytes = 0;
  std::size_t total_allocated_bytes = 0;
  std::size_t total_free_bytes = 0;
  std::size_t largest_free_block_bytes = 0;
};

class Buffer;
enum class BufferType;
class AllocatorImpl;

// Reads the memory banks of one device or of one mesh. Valid while the device or mesh is open. All
// functions may be called from any thread.
class Allocator {
 public:
  explicit Allocator(AllocatorImpl* impl) : impl_(impl) {}

  std::unordered_set<Buffer*> get_allocated_buffers() const;
  std::uint32_t get_num_banks(const BufferType& buffer_type) const;
  DeviceAddr get_bank_size(const BufferType& buffer_type) const;
  // Returns the address of the first buffer (DRAM) or circular buffer (L1).
  DeviceAddr get_base_allocator_addr(const HalMemType& mem_type) const;
  std::uint32_t get_alignment(BufferType buffer_type) const;
  std::size_t get_worker_l1_size() const;
  Statistics get_statistics(const BufferType& buffer_type) const;

 private:
  AllocatorImpl* impl_;
};

namespace detail {

// Returns the bytes that a buffer takes in each of its banks if its pages are distributed round
// robin over the banks.
DeviceAddr calculate_bank_size_spread(DeviceAddr size_bytes, DeviceAddr page_size_bytes,
                                      std::uint32_t num_banks, std::uint32_t alignment_bytes);

}  // namespace detail

}  // namespace tt::tt_metal

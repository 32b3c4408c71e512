// SPDX-License-Identifier: Apache-2.0
#include "bank_bytes.hpp"

namespace ttmem::tt_metal {

namespace tm = ::tt::tt_metal;

std::uint64_t BankBytes::of(const tm::Buffer& buffer, std::uint64_t generation) {
  // A result is not cached for a buffer of a sub-device, because the sub-device's allocator may be
  // removed while the chip is open, and another allocator may then get its address.
  if (buffer.buffer_layout() != tm::TensorMemoryLayout::INTERLEAVED ||
      buffer.sub_device_id().has_value()) {
    return buffer.aligned_size_per_bank();
  }
  const std::uint64_t size = buffer.size();
  const std::uint64_t page_size = buffer.page_size();
  const tm::BufferType type = buffer.buffer_type();
  const tm::Allocator* const allocator = buffer.allocator();
  // Fibonacci hashing gives different entries to nearby sizes.
  const std::uint64_t mixed =
      (size + page_size + static_cast<std::uint64_t>(type)) * 0x9E3779B97F4A7C15U;
  Entry& entry = entries_[mixed >> (64 - kBits)];
  if (entry.generation != generation || entry.size != size || entry.page_size != page_size ||
      entry.type != type || entry.allocator != allocator) {
    entry = {allocator, size, page_size, type, generation, buffer.aligned_size_per_bank()};
  }
  return entry.bytes;
}

}  // namespace ttmem::tt_metal

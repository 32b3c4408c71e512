// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/buffer.hpp>

namespace ttmem::tt_metal {

// What a buffer takes of each bank, as the runtime computes it, from pages, alignments and the
// number of banks. That is the same for all interleaved buffers of a size on an allocator, and a
// model has the same sizes over and over: they are kept. Not thread-safe.
class BankBytes {
 public:
  // Buffer::aligned_size_per_bank(). `generation`: that of OpenChips; another one has other
  // allocators.
  std::uint64_t of(const ::tt::tt_metal::Buffer& buffer, std::uint64_t generation);

 private:
  struct Entry {
    const ::tt::tt_metal::Allocator* allocator = nullptr;
    std::uint64_t size = 0, page_size = 0;
    ::tt::tt_metal::BufferType type{};
    std::uint64_t generation = 0;  // 0: empty
    std::uint64_t bytes = 0;
  };
  static constexpr unsigned kBits = 6;

  std::array<Entry, 1U << kBits> entries_;  // by a hash; a new one takes the place of the old one
};

}  // namespace ttmem::tt_metal

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/buffer.hpp>

namespace ttmem::tt_metal {

// A cache of the bytes that a buffer takes in each bank. The runtime computes these bytes from
// pages, alignments and the number of banks. Interleaved buffers with the same size, page size and
// type on one allocator have the same result, and a model uses the same sizes many times. Not
// thread-safe.
class BankBytes {
 public:
  // Returns Buffer::aligned_size_per_bank(). `generation` is the present generation of OpenChips.
  // Results of an earlier generation are not used, because its allocators may be gone.
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

  std::array<Entry, 1U << kBits> entries_;  // by hash; a new entry replaces the old one
};

}  // namespace ttmem::tt_metal

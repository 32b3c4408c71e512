// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/kinds.hpp"
#include "base/result.hpp"
#include "read/placement/board.hpp"

namespace ttmem::placement {

// Addresses [begin, end) of every bank.
struct Region {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] std::uint64_t bytes() const { return end - begin; }
  friend bool operator==(const Region&, const Region&) = default;
};

// What a program says when it opens a device; 0 is the default.
struct OpenSizes {
  std::uint64_t l1_small_size = 0;
  std::uint64_t trace_region_size = 0;  // over all channels
  std::uint64_t worker_l1_size = 0;
};

// A channel reserves whole pages of the largest trace buffer page.
inline constexpr std::uint64_t kMaxTracePageBytes = 8192;

// What each channel reserves for a trace region. `channels` is not 0.
[[nodiscard]] std::uint64_t trace_bytes_per_channel(std::uint64_t trace_region_bytes,
                                                    std::uint64_t channels);

// How the memory of a chip is divided. Derived once, when the chip is opened:
//
//   L1    | reserved | l1 ............................ | l1_small |
//         0          l1_base                                      l1_bytes
//   DRAM  | reserved | dram .......................... | trace    |
//         0          dram_base                                    channel
struct MemoryMap {
  std::uint32_t l1_alignment = 0;
  std::uint32_t dram_alignment = 0;
  std::uint64_t l1_base = 0;
  std::uint64_t l1_bytes = 0;
  std::uint64_t l1_small_bytes = 0;
  std::uint32_t dram_channels = 0;
  std::uint64_t dram_base = 0;
  std::uint64_t dram_bytes_per_channel = 0;
  std::uint64_t trace_region_bytes = 0;  // as asked for, over all channels

  // An error when the sizes do not fit into the board's memory.
  [[nodiscard]] static Result<MemoryMap> make(const Board& board, const OpenSizes& sizes);

  // For the L1 that a sub-device has for itself. It has no other memory.
  [[nodiscard]] MemoryMap of_sub_device(std::uint64_t local_l1_bytes) const;

  // Where buffers of one of kBankKinds lie; empty when there is no such region.
  [[nodiscard]] Region region(Kind kind) const;
  // To what the pages of such a buffer are rounded up.
  [[nodiscard]] std::uint32_t page_alignment(Kind kind) const;
  // To what the allocator rounds up what a buffer takes in a bank. L1 is allocated in steps of the
  // DRAM alignment too, so that data can move between both.
  [[nodiscard]] std::uint32_t step() const { return dram_alignment; }
};

}  // namespace ttmem::placement

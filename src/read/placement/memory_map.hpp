// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/kinds.hpp"
#include "base/result.hpp"
#include "read/placement/board.hpp"

namespace ttmem::placement {

// The addresses [begin, end) of a kind of memory, the same in every bank.
struct MemoryRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] std::uint64_t bytes() const { return end - begin; }
  friend bool operator==(const MemoryRange&, const MemoryRange&) = default;
};

// The sizes that a program asks for when it opens a device; 0 means the default.
struct OpenSizes {
  std::uint64_t l1_small_size = 0;
  std::uint64_t trace_region_size = 0;  // over all channels
  std::uint64_t worker_l1_size = 0;
};

// The largest page of a trace buffer. A channel reserves a multiple of this size.
inline constexpr std::uint64_t kMaxTracePageBytes = 8192;

// Returns the bytes that each channel reserves for a trace region. `channels` must not be 0.
[[nodiscard]] std::uint64_t trace_bytes_per_channel(std::uint64_t trace_region_bytes,
                                                    std::uint64_t channels);

// The regions into which a chip's memory is divided, computed once when the chip is opened:
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
  std::uint64_t trace_region_bytes = 0;  // the size asked for, over all channels

  // Returns an error if the sizes do not fit into the board's memory.
  [[nodiscard]] static Result<MemoryMap> make(const Board& board, const OpenSizes& sizes);

  // Returns the map of a sub-device that has `local_l1_bytes` of L1 and no other memory.
  [[nodiscard]] MemoryMap of_sub_device(std::uint64_t local_l1_bytes) const;

  // Returns the region for buffers of `kind`, one of kBankKinds; empty if there is no such region.
  [[nodiscard]] MemoryRange region(Kind kind) const;
  // Returns the alignment to which the pages of a buffer of `kind` are rounded up.
  [[nodiscard]] std::uint32_t page_alignment(Kind kind) const;
  // Returns the alignment to which the allocator rounds up a buffer's bytes in a bank. L1 too is
  // allocated in steps of the DRAM alignment, so that data can move between L1 and DRAM.
  [[nodiscard]] std::uint32_t step() const { return dram_alignment; }
};

}  // namespace ttmem::placement

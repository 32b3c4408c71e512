// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem::placement {

// What a buffer takes in each of its banks: its pages, each rounded up to the alignment, go round
// robin over the banks. 0 when there are no banks or no pages.
//
// Example, 10 pages of 100 bytes over 4 banks, alignment 32: 3 pages of 128 bytes, 384.
[[nodiscard]] std::uint64_t bytes_per_bank(std::uint64_t bytes, std::uint64_t page_bytes,
                                           std::uint64_t banks, std::uint32_t alignment);

// The page size of a trace, between 1 and 8 KiB: the one that wastes least when every bank gets
// equally many pages; a larger one when it still gives every bank two.
[[nodiscard]] std::uint64_t trace_page_bytes(std::uint64_t bytes, std::uint64_t banks);

}  // namespace ttmem::placement

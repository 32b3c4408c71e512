// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem::placement {

// Returns the bytes that a buffer takes in each of its banks. Its pages, each rounded up to the
// alignment, go round robin over the banks. Returns 0 if there are no banks or no pages.
// Example: 10 pages of 100 bytes over 4 banks, alignment 32, take 3 pages of 128 bytes: 384.
[[nodiscard]] std::uint64_t bytes_per_bank(std::uint64_t bytes, std::uint64_t page_bytes,
                                           std::uint64_t banks, std::uint32_t alignment);

// Returns the page size of a trace: 1, 2, 4 or 8 KiB. Prefers the size that wastes least if every
// bank gets equally many pages, but takes a larger size if every bank still gets two pages.
[[nodiscard]] std::uint64_t trace_page_bytes(std::uint64_t bytes, std::uint64_t banks);

}  // namespace ttmem::placement

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ttmem::placement {

// Returns the bytes that a buffer takes in each of its banks. Its pages, each rounded up to the
// alignment, go round robin over the banks. Returns 0 if there are no banks or no pages.
// Example: 10 pages of 100 bytes over 4 banks, alignment 32, take 3 pages of 128 bytes: 384.
[[nodiscard]] std::uint64_t bytes_per_bank(std::uint64_t bytes, std::uint64_t page_bytes,
                                           std::uint64_t banks, std::uint32_t alignment);

// Returns the page size of a trace: 1, 2, 4 or 8 KiB. A larger size replaces a smaller size in two
// cases: if every bank gets at least two full pages of the larger size, or if the larger size does
// not waste more bytes. The waste is the space that is left when every bank gets equally many
// pages.
[[nodiscard]] std::uint64_t trace_page_bytes(std::uint64_t bytes, std::uint64_t banks);

}  // namespace ttmem::placement

// SPDX-License-Identifier: Apache-2.0
#include "read/placement/bytes_per_bank.hpp"

#include "read/placement/align.hpp"

namespace ttmem::placement {

std::uint64_t bytes_per_bank(std::uint64_t bytes, std::uint64_t page_bytes, std::uint64_t banks,
                             std::uint32_t alignment) {
  if (bytes == 0 || page_bytes == 0 || banks == 0) return 0;
  return divide_up(bytes / page_bytes, banks) * align_up(page_bytes, alignment);
}

std::uint64_t trace_page_bytes(std::uint64_t bytes, std::uint64_t banks) {
  std::uint64_t best = 0;
  std::uint64_t least_waste = ~std::uint64_t{0};
  for (std::uint64_t page = 1024; page <= 8192; page *= 2) {
    const std::uint64_t waste = align_up(bytes, banks * page) - bytes;
    if (waste <= least_waste || bytes / (banks * page) >= 2) {
      least_waste = waste;
      best = page;
    }
  }
  return best;
}

}  // namespace ttmem::placement

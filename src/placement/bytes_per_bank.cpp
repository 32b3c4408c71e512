// SPDX-License-Identifier: Apache-2.0
#include "placement/bytes_per_bank.hpp"

#include "placement/align.hpp"

namespace ttmem::placement {

std::uint64_t bytes_per_bank(std::uint64_t bytes, std::uint64_t page_bytes, std::uint64_t banks,
                             std::uint32_t alignment) {
  if (bytes == 0 || page_bytes == 0 || banks == 0) return 0;
  return divide_up(bytes / page_bytes, banks) * align_up(page_bytes, alignment);
}

}  // namespace ttmem::placement

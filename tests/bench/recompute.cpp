// SPDX-License-Identifier: Apache-2.0
#include "recompute.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace ttmem::bench {

std::uint64_t recompute(const std::vector<Layout>& programs) {
  using Region = std::pair<std::uint64_t, std::uint64_t>;
  std::unordered_map<std::uint32_t, std::vector<Region>> by_core;
  for (const Layout& layout : programs) {
    for (const ttmem_cb& cb : layout) {
      for (std::uint32_t y = cb.cores->y0; y <= cb.cores->y1; ++y) {
        for (std::uint32_t x = cb.cores->x0; x <= cb.cores->x1; ++x) {
          by_core[y << 16 | x].emplace_back(cb.address, cb.address + cb.bytes);
        }
      }
    }
  }
  std::uint64_t total = 0;
  for (auto& [core, regions] : by_core) {
    std::sort(regions.begin(), regions.end());
    std::uint64_t end = 0;
    for (const auto& [from, to] : regions) {
      if (to <= end) continue;
      total += to - std::max(from, end);
      end = to;
    }
  }
  return total;
}

}  // namespace ttmem::bench

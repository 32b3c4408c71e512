// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ttmem {

// Formats ascending ids as "0-3,6".
[[nodiscard]] inline std::string format_ids(const std::vector<std::uint32_t>& ids) {
  std::string text;
  for (std::size_t i = 0; i < ids.size();) {
    std::size_t last = i;
    while (last + 1 < ids.size() && ids[last + 1] == ids[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(ids[i]);
    if (last != i) text += "-" + std::to_string(ids[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace ttmem

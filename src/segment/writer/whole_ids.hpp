// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "segment/layout/layout.hpp"

namespace ttmem::segment {

// Returns as many ids from the beginning of `ids` as fit whole into `bytes`. `ids` has the format
// of $TTMEM_RUN.
[[nodiscard]] inline std::string_view whole_ids(std::string_view ids, std::size_t bytes) noexcept {
  if (ids.size() <= bytes) return ids;
  const std::size_t end = ids.rfind(kRunSeparator, bytes);
  return ids.substr(0, end == std::string_view::npos ? 0 : end);
}

}  // namespace ttmem::segment

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tt::tt_metal::dryrun {

// Zero stays zero. `alignment` need not be a power of two.
constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t divisor) {
  return (value + divisor - 1) / divisor;
}

}  // namespace tt::tt_metal::dryrun

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "base/core_mask.hpp"

namespace ttmem::collector {

// Splits all cores of `masks` into classes, such that each mask has either all cores of a class or
// none of them. A property of one core then holds for its whole class. Workloads use only a few
// core sets, so there are far fewer classes than cores, and never more than kMaxCores.
[[nodiscard]] inline std::vector<CoreMask> partition_cores(std::span<const CoreMask> masks) {
  std::vector<CoreMask> classes;
  CoreMask covered;
  const CoreMask* last = nullptr;
  for (const CoreMask& mask : masks) {
    if (last != nullptr && *last == mask) continue;
    last = &mask;
    const std::size_t count = classes.size();
    for (std::size_t i = 0; i < count; ++i) {
      const CoreMask outside = classes[i] - mask;
      const CoreMask inside = classes[i] & mask;
      if (inside.empty() || outside.empty()) continue;
      classes[i] = inside;
      classes.push_back(outside);
    }
    if (const CoreMask fresh = mask - covered; !fresh.empty()) classes.push_back(fresh);
    covered |= mask;
  }
  return classes;
}

}  // namespace ttmem::collector

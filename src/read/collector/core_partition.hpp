// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "base/core_mask.hpp"

namespace ttmem::collector {

// Splits all cores of `masks` into classes. Each mask contains either all cores of a class or no
// core of the class, so code can look at one core for the whole class. There are at most kMaxCores
// classes. Real workloads use few core sets and have far fewer classes.
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

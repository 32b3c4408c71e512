// SPDX-License-Identifier: Apache-2.0
// Cores in the types of the C interface.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <tt-metalium/core_coord.hpp>
#include <vector>

#include "ttmem/ttmem.h"

namespace ttmem::tt_metal {

ttmem_core_range core_range(const ::tt::tt_metal::CoreRange& range);

// An immutable CoreRangeSet. It needs no heap memory for one or two ranges, which is the usual
// case. This matters because a program has many circular buffers.
class CoreRanges {
 public:
  CoreRanges() = default;
  explicit CoreRanges(const ::tt::tt_metal::CoreRangeSet& cores);

  // Returns the ranges. They are valid until this object is moved or destroyed.
  [[nodiscard]] std::span<const ttmem_core_range> ranges() const {
    return many_.empty() ? std::span(few_.data(), count_) : std::span(many_);
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] bool intersects(const CoreRanges& other) const;

  // Compare the ranges and their order.
  friend bool operator==(const CoreRanges& a, const CoreRanges& b);
  friend bool operator==(const CoreRanges& a, const ::tt::tt_metal::CoreRangeSet& b);

 private:
  std::size_t count_ = 0;
  std::array<ttmem_core_range, 2> few_{};
  std::vector<ttmem_core_range> many_;  // empty if all ranges are in few_
};

}  // namespace ttmem::tt_metal

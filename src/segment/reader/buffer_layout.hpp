// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "base/buffer_layout.hpp"
#include "base/core_mask.hpp"
#include "base/kinds.hpp"
#include "segment/layout/layout.hpp"

namespace ttmem::segment {

// Decodes the layout of a buffer. `role`, `flags` and `cores` come from the buffer's slot, or from
// its event and the details of the event.
[[nodiscard]] inline BufferLayout buffer_layout(Kind kind, std::uint8_t role, std::uint8_t flags,
                                                const CoreMask& cores) {
  BufferLayout layout;
  if (kind == Kind::kernel) return layout;
  if ((role & kInterleaved) != 0) layout.spread = BufferLayout::Spread::interleaved;
  if ((role & kSharded) != 0) layout.spread = BufferLayout::Spread::sharded;
  if ((role & kBottomUp) != 0) layout.direction = BufferLayout::Direction::bottom_up;
  if ((role & kTopDown) != 0) layout.direction = BufferLayout::Direction::top_down;
  if ((role & kHasPages) != 0 && (flags & kNoCores) != 0) {
    const auto pages = std::bit_cast<Pages>(cores);
    layout.page_bytes = pages.page_bytes;
    layout.shard_banks = pages.shard_banks;
  }
  return layout;
}

}  // namespace ttmem::segment

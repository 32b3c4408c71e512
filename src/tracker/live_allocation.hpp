// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/probe_table.hpp"
#include "segment/segment_writer.hpp"

namespace ttmem::tracker {

// What an allocation leaves behind, without which it cannot be taken away again: it is in the
// figures and, if it got one, in a slot.
struct Receipt {
  std::uint64_t used_bytes = 0;
  std::uint64_t logical_bytes = 0;
  std::uint32_t slot = segment::kNoSlot;
  std::uint8_t kind = 0;      // index into segment::DeviceRecord::kinds
  std::uint8_t role : 2 = 0;  // of a kernel
  bool is_unsized : 1 = false;
  bool is_estimate : 1 = false;
};

// A live buffer, kernel or CB without an address.
struct LiveAllocation : Receipt {
  // Of a CB without an address: each wants its own free. Of anything else 1. 0: an empty place.
  std::uint16_t reports = 0;
  std::uint64_t id = 0;

  using Key = std::uint64_t;
  [[nodiscard]] Key key() const noexcept { return id; }
  [[nodiscard]] bool is_empty() const noexcept { return reports == 0; }
  void make_empty() noexcept { reports = 0; }
  [[nodiscard]] static LiveAllocation of(Key id) noexcept {
    LiveAllocation live;
    live.reports = 1;
    live.id = id;
    return live;
  }
  [[nodiscard]] static std::uint64_t number_of(Key id) noexcept { return id; }
};
static_assert(sizeof(LiveAllocation) == 32, "two in a cache line");

using LiveTable = ProbeTable<LiveAllocation>;

}  // namespace ttmem::tracker

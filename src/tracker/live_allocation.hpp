// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/probe_table.hpp"
#include "tracker/receipt.hpp"

namespace ttmem::tracker {

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

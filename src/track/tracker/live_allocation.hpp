// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/probe_table.hpp"
#include "track/tracker/receipt.hpp"

namespace ttmem::tracker {

// A live buffer, kernel or CB without an address, to be found by its id.
struct LiveAllocation : Receipt {
  // For a CB without an address, how many frees it needs. For anything else 1. 0: an empty entry.
  std::uint16_t reports = 0;

  using Key = std::uint64_t;
  [[nodiscard]] Key key() const noexcept { return id; }
  [[nodiscard]] bool is_empty() const noexcept { return reports == 0; }
  void make_empty() noexcept { reports = 0; }
  // Field by field: a whole object would be built elsewhere and copied, which stalls (4 ns).
  void begin(Key its_id) noexcept {
    id = its_id;
    used_bytes = 0;
    logical_bytes = 0;
    slot = segment::kNoSlot;
    kind = Kind::dram;
    role = 0;
    is_unsized = false;
    is_estimate = false;
    reports = 1;
  }
  [[nodiscard]] static std::uint64_t number_of(Key id) noexcept { return id; }
};
static_assert(sizeof(LiveAllocation) == 32, "two in a cache line");

using LiveTable = ProbeTable<LiveAllocation>;

// A live buffer that lies on several devices. Buffers with the same id have no device in common, so
// the id and any of its devices tell it.
struct MeshAllocation : Receipt {
  segment::DeviceMask devices;  // empty: an empty entry

  struct Key {
    std::uint64_t id = 0;
    segment::DeviceMask devices;
    friend bool operator==(const Key&, const Key&) = default;
  };
  [[nodiscard]] Key key() const noexcept { return {id, devices}; }
  [[nodiscard]] bool is_empty() const noexcept { return devices.empty(); }
  void make_empty() noexcept { devices = {}; }
  void begin(const Key& its_key) noexcept {
    static_cast<Receipt&>(*this) = Receipt{};
    id = its_key.id;
    devices = its_key.devices;
  }
  [[nodiscard]] static std::uint64_t number_of(const Key& key) noexcept { return key.id; }
  [[nodiscard]] bool is_on(std::uint64_t its_id, const segment::DeviceMask& any) const noexcept {
    return id == its_id && !(devices & any).empty();
  }
};

using MeshTable = ProbeTable<MeshAllocation>;

}  // namespace ttmem::tracker

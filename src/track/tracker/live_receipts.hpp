// SPDX-License-Identifier: Apache-2.0
//
// The receipts that IdTracker keeps, in tables that find them by id.
#pragma once

#include <cstdint>

#include "base/probe_table.hpp"
#include "track/tracker/receipt.hpp"

namespace ttmem::tracker {

// The receipt of a live buffer, a live kernel or a live CB without an address, on one device.
struct LiveReceipt : Receipt {
  // Number of frees that remove the allocation: for a CB without an address, one for each report;
  // for a buffer or a kernel, 1. 0 marks an empty entry of the table.
  std::uint16_t reports = 0;

  using Key = std::uint64_t;
  [[nodiscard]] Key key() const noexcept { return id; }
  [[nodiscard]] bool is_empty() const noexcept { return reports == 0; }
  void make_empty() noexcept { reports = 0; }
  // Assigns field by field. If a whole object were assigned, the compiler would build it elsewhere
  // and copy it, which stalls (4 ns).
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
static_assert(sizeof(LiveReceipt) == 32, "two in a cache line");

using LiveReceipts = ProbeTable<LiveReceipt>;

// The receipt of a live buffer that lies on several devices. Buffers with the same id have no
// device in common, so the id and one of the devices identify the buffer.
struct MeshReceipt : Receipt {
  segment::DeviceMask devices;  // empty if this entry of the table is empty

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
  // Returns true if the id of this buffer is `its_id`, and the buffer lies on any of the devices
  // `any`.
  [[nodiscard]] bool is_on(std::uint64_t its_id, const segment::DeviceMask& any) const noexcept {
    return id == its_id && !(devices & any).empty();
  }
};

using MeshReceipts = ProbeTable<MeshReceipt>;

}  // namespace ttmem::tracker

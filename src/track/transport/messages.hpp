// SPDX-License-Identifier: Apache-2.0
//
// Wire messages made from the records of a segment, for changes and for the resend of what is live.
// Each function fills all 144 bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "segment/layout/layout.hpp"
#include "track/wire/message.hpp"

namespace ttmem::transport {

struct Sender {
  std::int32_t pid = 0;
  std::uint64_t monotonic_to_unix_ns = 0;  // added to a time of the segment
  std::uint64_t copy = 0;  // a number for this copy of the library, of the process's several
};

// ALLOC, KERNEL_LOAD or, for a CB without an address, CB_ALLOC. The last has no details, like that
// of an original client: by this a server distinguishes it from a CB of a program. `long_label` is
// the text of a slot with kLongLabel; a message has room for 32 bytes of it.
void write_allocation(wire::Message& to, const Sender& sender, const segment::DeviceRecord& device,
                      const segment::AllocationSlot& slot,
                      std::string_view long_label = {}) noexcept;

// FREE, KERNEL_UNLOAD or CB_FREE of that slot. As in the original protocol, it has no size.
void write_free(wire::Message& to, const Sender& sender, const segment::DeviceRecord& device,
                const segment::AllocationSlot& slot, std::uint64_t unix_ns) noexcept;

// CB `index` of a program; null for the one message of a program that has none.
void write_cb_alloc(wire::Message& to, const Sender& sender, const segment::DeviceRecord& device,
                    const segment::ProgramSlot& program, const segment::CbRecord* cb,
                    std::uint32_t index) noexcept;
void write_cb_free(wire::Message& to, const Sender& sender, const segment::DeviceRecord& device,
                   const segment::ProgramSlot& program, const segment::CbRecord* cb,
                   std::uint32_t index, std::uint64_t unix_ns) noexcept;

// DEVICE_INFO_RESPONSE about the connection: `report` is none of opened and closed.
void write_notice(wire::Message& to, const Sender& sender, wire::ClientNotice report,
                  std::uint64_t unix_ns) noexcept;

// Which kinds the process reports of a device, as bits of ttmem_reports(): part of its message.
[[nodiscard]] std::uint32_t reports_of(const segment::DeviceRecord& device) noexcept;

// DEVICE_INFO_RESPONSE: the device was opened or closed, as its state says.
// The resend makes good `events_resent` of the `events_dropped`.
void write_device(wire::Message& to, const Sender& sender, const segment::DeviceRecord& device,
                  std::uint64_t events_dropped, std::uint64_t events_resent,
                  std::uint64_t unix_ns) noexcept;

}  // namespace ttmem::transport

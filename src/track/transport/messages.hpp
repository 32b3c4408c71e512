// SPDX-License-Identifier: Apache-2.0
//
// Makes wire messages from the records of a segment, for changes and for the resend of all live
// objects. Each function fills all 144 bytes of a message.
#pragma once

#include <cstdint>
#include <string_view>

#include "segment/layout/layout.hpp"
#include "track/wire/message.hpp"

namespace ttmem::transport {

struct Sender {
  std::int32_t pid = 0;
  std::uint64_t monotonic_to_unix_ns = 0;  // Unix time minus the time of the segment
  std::uint64_t copy = 0;  // identifies this copy of libttmem; a process can have several
};

// Writes ALLOC, KERNEL_LOAD or, for a CB without an address, CB_ALLOC. This CB_ALLOC has no
// details, like a CB_ALLOC of an original client, so that a server can distinguish a CB without an
// address from a CB of a program. `long_label` is the label of a slot with kLongLabel, and is
// shortened to 32 bytes.
void write_allocation(wire::Message& to, const Sender& sender, const segment::DeviceRecord& device,
                      const segment::AllocationSlot& slot,
                      std::string_view long_label = {}) noexcept;

// Writes FREE, KERNEL_UNLOAD or CB_FREE of `slot`. As in the original protocol, a free has no size.
void write_free(wire::Message& to, const Sender& sender, const segment::DeviceRecord& device,
                const segment::AllocationSlot& slot, std::uint64_t unix_ns) noexcept;

// Write the CB_ALLOC or the CB_FREE of CB `index` of a program. `cb` is null for the single message
// of a program without CBs.
void write_cb_alloc(wire::Message& to, const Sender& sender, const segment::DeviceRecord& device,
                    const segment::ProgramSlot& program, const segment::CbRecord* cb,
                    std::uint32_t index) noexcept;
void write_cb_free(wire::Message& to, const Sender& sender, const segment::DeviceRecord& device,
                   const segment::ProgramSlot& program, const segment::CbRecord* cb,
                   std::uint32_t index, std::uint64_t unix_ns) noexcept;

// Writes a DEVICE_INFO_RESPONSE about the connection. `report` is any notice except opened and
// closed.
void write_notice(wire::Message& to, const Sender& sender, wire::ClientNotice report,
                  std::uint64_t unix_ns) noexcept;

// Returns the kinds that the process reports on the device, as bits of ttmem_set_reported().
[[nodiscard]] std::uint32_t reports_of(const segment::DeviceRecord& device) noexcept;

// Writes a DEVICE_INFO_RESPONSE that says that the device was opened or closed, depending on its
// state. `events_resent` is the number of dropped events that the resend repairs.
void write_device(wire::Message& to, const Sender& sender, const segment::DeviceRecord& device,
                  std::uint64_t events_dropped, std::uint64_t events_resent,
                  std::uint64_t unix_ns) noexcept;

}  // namespace ttmem::transport

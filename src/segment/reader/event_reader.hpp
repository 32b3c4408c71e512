// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "segment/layout/layout.hpp"
#include "segment/reader/byte_source.hpp"

namespace ttmem::segment {

// One detail record after an event: an AllocationDetails, a CbRecord, 8 ids of programs, or a piece
// of a text.
using EventDetails = std::array<std::byte, sizeof(EventRecord)>;

struct Events {
  std::vector<EventRecord> events;    // in the order of their numbers
  std::vector<EventDetails> details;  // details of all events, one event after the other
  // Number of records (events and details) that were invalid, or overwritten before they were read.
  std::uint64_t lost = 0;
  // Number of the last record that was read or lost: `after_number` of the next call.
  std::uint64_t newest = 0;
  bool has_details = false;  // true if the segment contains details
};

// Returns the number of detail records that follow an event in a segment with details.
[[nodiscard]] std::uint32_t details_after(const EventRecord& event);

// Returns the events after number `after_number` (0 means from the beginning). If the writer has
// overwritten some of these events, they are lost, and `lost` counts their records. In a segment
// with details, all events that are still unread are then lost too, because nothing shows in which
// record an event begins.
//
// Example without details: the ring holds 1024 events, the newest event is 5000, and the reader
// asks for the events after 3000. Events 3978 to 5000 are returned. 977 events are lost: 3001 to
// 3976 are overwritten, and the writer may be overwriting 3977.
//
// Reads at most `most` records, but always enough for one event; call again with Events::newest as
// `after_number` to get the next records. Fails in the same cases as read_segment(). Safe from any
// thread.
[[nodiscard]] Result<Events> read_events(const ByteSource& source, std::uint64_t after_number,
                                         std::uint32_t most = 1 << 20);

}  // namespace ttmem::segment

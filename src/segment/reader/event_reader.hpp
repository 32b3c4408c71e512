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

// A record of details after an event: an AllocationDetails, a CbRecord, 8 ids of programs, or a
// piece of a text.
using EventDetails = std::array<std::byte, sizeof(EventRecord)>;

struct Events {
  std::vector<EventRecord> events;    // by number
  std::vector<EventDetails> details;  // of all of them, one after the other
  std::uint64_t lost = 0;    // overwritten before they were read, or invalid; records, not events
  std::uint64_t newest = 0;  // number of the last record, for the next call
  bool has_details = false;  // whether the segment writes any
};

// How many records of details follow an event in a segment that writes them.
[[nodiscard]] std::uint32_t details_after(const EventRecord& event);

// The events after number `after_number` (0: from the beginning). A reader that calls too seldom
// loses the oldest; `lost` says how many. Where events have details, it loses all that it has not
// read: nothing marks where an event begins.
//
// Example: the ring holds 1024 events, the newest is 5000, and the reader asks for those after
// 3000. 977 events are lost, the last of them because it may be about to be overwritten, and 3978
// to 5000 are returned.
//
// Returns about `most` records at most; a call with `newest` gets the next. Fails as read_segment()
// does. Safe from any thread.
[[nodiscard]] Result<Events> read_events(const ByteSource& source, std::uint64_t after_number,
                                         std::uint32_t most = 1 << 20);

}  // namespace ttmem::segment

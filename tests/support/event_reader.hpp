// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "segment/layout/layout.hpp"
#include "segment/reader/byte_source.hpp"

namespace ttmem::segment {

struct Events {
  std::vector<EventRecord> events;  // by number
  std::uint64_t lost = 0;           // overwritten before they were read, or invalid
  std::uint64_t newest = 0;         // number of the last event, for the next call
};

// The events after number `after_number` (0: from the beginning). A reader that calls too seldom
// loses the oldest; `lost` says how many.
//
// Example: the ring holds 1024 events, the newest is 5000, and the reader asks for those after
// 3000. 976 events are lost, and 3977 to 5000 are returned.
//
// Fails as read_segment() does. Safe from any thread.
[[nodiscard]] Result<Events> read_events(const ByteSource& source, std::uint64_t after_number);

}  // namespace ttmem::segment

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
  std::uint64_t lost = 0;           // overwritten before they could be read, or nonsense
  std::uint64_t newest = 0;         // the last of all these: ask on from here
};

// What happened after event `after_number` (0: from the beginning). A reader that asks too seldom
// loses the oldest, and is told how many.
//
// Example: the ring holds 1024, the newest is 5000, we ask after 3000: 976 are lost, then follow
// the events 3977 to 5000.
//
// Fails as read_segment() does. Safe from any thread.
[[nodiscard]] Result<Events> read_events(const ByteSource& source, std::uint64_t after_number);

}  // namespace ttmem::segment

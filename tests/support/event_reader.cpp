// SPDX-License-Identifier: Apache-2.0
#include "support/event_reader.hpp"

#include <algorithm>

#include "segment/reader/segment_map.hpp"
#include "segment/reader/stable_copy.hpp"

namespace ttmem::segment {
namespace {

bool plausible(const EventRecord& event) {
  switch (static_cast<EventType>(event.type)) {
    case EventType::alloc:
    case EventType::free:
    case EventType::set_alloc:
    case EventType::set_free:
      return event.kind < kKinds;
    default:
      return event.type != 0 && event.type <= static_cast<std::uint8_t>(EventType::mark);
  }
}

class Ring {
 public:
  Ring(const ByteSource& source, const SegmentMap& map)
      : source_(source),
        array_(map.events),
        capacity_(std::min(map.header.event_capacity, map.events.capacity())) {}

  [[nodiscard]] std::uint32_t capacity() const { return capacity_; }

  // The records [first, first + count) of the ring, all in one chunk. False when cut short.
  bool load(std::uint32_t first, std::uint32_t count) {
    first_ = first;
    return copy_.load(source_, array_.offset_of(first), count * sizeof(EventRecord));
  }

  // Event `number`, whose record is loaded. It was complete before the header named it. False when
  // a newer event has overwritten it, or is doing so.
  [[nodiscard]] bool get(std::uint64_t number, EventRecord& event) const {
    const std::size_t at = (slot_of(number) - first_) * sizeof(EventRecord);
    return copy_.numbered(at, number, event) && plausible(event);
  }

  [[nodiscard]] std::uint32_t slot_of(std::uint64_t number) const {
    return static_cast<std::uint32_t>((number - 1) % capacity_);
  }

  // How many events from `number` on are adjacent in one chunk.
  [[nodiscard]] std::uint32_t piece(std::uint64_t number, std::uint64_t newest) const {
    const std::uint32_t slot = slot_of(number);
    const std::uint32_t in_chunk = array_.records_per_chunk() - slot % array_.records_per_chunk();
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>({in_chunk, capacity_ - slot, newest - number + 1}));
  }

 private:
  const ByteSource& source_;
  const RecordPlaces& array_;
  std::uint32_t capacity_;
  std::uint32_t first_ = 0;
  StableCopy copy_;
};

}  // namespace

Result<Events> read_events(const ByteSource& source, std::uint64_t after_number) {
  const Result<SegmentMap> map = map_segment(source);
  if (!map) return map.error();
  Events result;
  result.newest = after_number;
  const std::uint64_t newest = map->header.events;
  if (newest <= after_number) return result;
  Ring ring(source, *map);
  const std::uint64_t present = std::min<std::uint64_t>(ring.capacity(), newest - after_number);
  result.lost = newest - after_number - present;
  result.newest = newest - present;
  while (result.newest < newest) {
    const std::uint32_t count = ring.piece(result.newest + 1, newest);
    if (!ring.load(ring.slot_of(result.newest + 1), count)) {
      return Error{"it became shorter while its events were read; try again"};
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      EventRecord event;
      if (ring.get(++result.newest, event)) {
        result.events.push_back(event);
      } else {
        ++result.lost;
      }
    }
  }
  return result;
}

}  // namespace ttmem::segment

// SPDX-License-Identifier: Apache-2.0
#include "segment/reader/event_reader.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

#include "segment/reader/segment_map.hpp"

namespace ttmem::segment {
namespace {

constexpr std::uint64_t kIdsPerRecord = sizeof(EventRecord) / sizeof(std::uint64_t);

bool plausible(const EventRecord& event) {
  switch (static_cast<EventType>(event.type)) {
    case EventType::alloc:
    case EventType::set_alloc:
      return event.kind < kKinds &&
             (static_cast<Kind>(event.kind) != Kind::kernel || event.role <= 2);
    case EventType::free:
    case EventType::set_free:
      return event.kind < kKinds;
    case EventType::footprint:
      return event.bytes > 0 && event.bytes <= kMaxCbsPerProgram;
    case EventType::trace_replay:
      return event.id > 0 && event.id <= kMaxEventDetails * kIdsPerRecord;
    case EventType::failure:
      return event.bytes <= sizeof(FailureRecord::text);
    default:
      return event.type != 0 && event.type <= static_cast<std::uint8_t>(EventType::failure);
  }
}

// Copies records of the ring, and finds out afterwards which of the copies are whole.
//
// Record r is overwritten by record r + capacity_. The writer stores `events` before it begins the
// next event, and one event has at most `margin_` records. So the copy of record r is whole if
// `events`, read after the copy was made, is still below r + capacity_ - margin_.
class Ring {
 public:
  Ring(const ByteSource& source, const SegmentMap& map)
      : source_(source),
        array_(map.events),
        capacity_(std::min(map.header.event_capacity, map.events.capacity())),
        has_details_(map.header.layout_version >= 4 && map.header.event_details == 1),
        margin_(has_details_ ? 1 + kMaxEventDetails : 1) {}

  [[nodiscard]] bool has_details() const { return has_details_; }
  // Returns true if the ring has more records than one event may need.
  [[nodiscard]] bool is_usable() const { return capacity_ > margin_; }

  // Returns the number of the oldest record that the writer has certainly not begun to overwrite
  // while `events` is `newest`.
  [[nodiscard]] std::uint64_t oldest(std::uint64_t newest) const {
    const std::uint64_t kept = capacity_ - margin_;
    return newest < kept ? 1 : newest - kept + 1;
  }

  // Copies the records `first` to `last`, both included. Returns false if the file is truncated.
  bool copy(std::uint64_t first, std::uint64_t last) {
    records_.resize(static_cast<std::size_t>(last - first + 1));
    std::size_t done = 0;
    while (done < records_.size()) {
      const auto at = static_cast<std::uint32_t>((first + done - 1) % capacity_);
      const std::uint32_t in_chunk = array_.records_per_chunk() - at % array_.records_per_chunk();
      const auto count =
          std::min<std::size_t>({in_chunk, std::size_t{capacity_} - at, records_.size() - done});
      const auto piece = std::as_writable_bytes(std::span(records_).subspan(done, count));
      if (source_.read_at(array_.offset_of(at), piece) != piece.size()) return false;
      done += count;
    }
    // Makes every later read begin after the copy has ended.
    std::atomic_thread_fence(std::memory_order_acquire);
    return true;
  }

  [[nodiscard]] std::span<const EventRecord> records() const { return records_; }

 private:
  const ByteSource& source_;
  const RecordPlaces& array_;
  std::uint32_t capacity_;
  bool has_details_;
  std::uint32_t margin_;
  std::vector<EventRecord> records_;
};

EventDetails as_details(const EventRecord& record) {
  EventDetails details;
  std::memcpy(details.data(), &record, sizeof record);
  return details;
}

// Adds the records to the result as events without details. The first record has the number
// `first`. Counts invalid records and records with a number below `oldest` as lost.
void take_plain(std::span<const EventRecord> records, std::uint64_t first, std::uint64_t oldest,
                Events& result) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    const bool whole =
        first + i >= oldest && records[i].number == first + i && plausible(records[i]);
    whole ? result.events.push_back(records[i]) : static_cast<void>(++result.lost);
  }
  result.newest = first + records.size() - 1;
}

// Adds the records to the result as events with details. Returns false if a record is invalid, or
// if `records` contains no complete event. If details of the last event are missing, leaves the
// event for the next call.
bool take_detailed(std::span<const EventRecord> records, std::uint64_t first, Events& result) {
  for (std::size_t i = 0; i < records.size();) {
    const EventRecord& event = records[i];
    if (event.number != first + i || !plausible(event)) return false;
    const std::size_t next = i + 1 + details_after(event);
    if (next > records.size()) return i > 0;
    result.events.push_back(event);
    for (std::size_t d = i + 1; d < next; ++d) result.details.push_back(as_details(records[d]));
    result.newest = first + next - 1;
    i = next;
  }
  return true;
}

}  // namespace

std::uint32_t details_after(const EventRecord& event) {
  switch (static_cast<EventType>(event.type)) {
    case EventType::alloc:
    case EventType::set_alloc:
      return 1;
    case EventType::footprint:
      return static_cast<std::uint32_t>(event.bytes);
    case EventType::trace_replay:
      return static_cast<std::uint32_t>((event.id + kIdsPerRecord - 1) / kIdsPerRecord);
    case EventType::failure:
      return static_cast<std::uint32_t>((event.bytes + sizeof(EventRecord) - 1) /
                                        sizeof(EventRecord));
    default:
      return 0;
  }
}

Result<Events> read_events(const ByteSource& source, std::uint64_t after_number,
                           std::uint32_t most) {
  const Result<SegmentMap> map = map_segment(source);
  if (!map) return map.error();
  Ring ring(source, *map);
  Events result;
  result.has_details = ring.has_details();
  result.newest = after_number;
  std::uint64_t newest = map->header.events;
  if (newest <= after_number) return result;
  // Returns no events, and counts all unread records as lost.
  const auto give_up = [&] {
    result.events.clear();
    result.details.clear();
    result.lost = newest - after_number;
    result.newest = newest;
    return result;
  };
  if (!ring.is_usable()) return give_up();
  const std::uint64_t oldest = ring.oldest(newest);
  if (ring.has_details() && after_number + 1 < oldest) return give_up();
  const std::uint64_t first = std::max(after_number + 1, oldest);
  result.lost = first - after_number - 1;
  most = std::max(most, kMaxEventDetails + 1);  // room for one event with all its details
  const std::uint64_t last = newest - first < most ? newest : first + most - 1;
  if (!ring.copy(first, last) || !read_value(source, offsetof(Header, events), newest)) {
    return Error{"it became shorter while its events were read; try again"};
  }
  const std::uint64_t still_oldest = ring.oldest(newest);
  if (!ring.has_details()) {
    take_plain(ring.records(), first, still_oldest, result);
  } else if (first < still_oldest || !take_detailed(ring.records(), first, result)) {
    return give_up();
  }
  return result;
}

}  // namespace ttmem::segment

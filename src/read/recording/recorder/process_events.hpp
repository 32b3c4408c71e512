// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>

#include "read/recording/file/rows.hpp"
#include "segment/reader/byte_source.hpp"
#include "segment/reader/event_reader.hpp"
#include "segment/reader/segment_image.hpp"

namespace ttmem::recording {

// An image of a process, taken at the begin of the recording or after lost events. The events
// before the image are unknown.
struct Bridge {
  segment::SegmentImage image;  // its lists are sorted by age, the oldest first
  bool is_gap = false;          // true after lost events
  Time time_ns = 0;             // time of the image
  std::uint64_t lost_events = 0;
};

// The history of a process as a sequence of steps with increasing times. A bridge replaces events
// that the ring has lost: one step announces the bridge, and one step follows for each allocation
// and program that is live in its image.
//
// Not thread-safe; `source` must outlive this object.
class ProcessEvents {
 public:
  // Exactly one of the four pointers `event`, `bridge`, `allocation` and `program` is set.
  struct Step {
    Time time_ns = 0;
    const segment::EventRecord* event = nullptr;
    // Details of the event; empty if the segment has none.
    std::span<const segment::EventDetails> details{};
    const Bridge* bridge = nullptr;
    const segment::LiveAllocation* allocation = nullptr;
    const segment::LiveProgram* program = nullptr;
  };

  // `began_ns` is when the recording began, on the monotonic clock.
  ProcessEvents(const segment::ByteSource& source, std::uint64_t began_ns)
      : source_(source), began_ns_(began_ns) {}
  // Sets the begin of the process, which is the earliest time of all steps. For a process older
  // than the recording, the first step is a bridge, because the events before the recording are
  // unknown.
  void set_begin(Time begin) { begin_ = begin; }

  // Reads new events. Stops when the maximum number of events is in memory; the rest stays in the
  // ring. All events after the first call are read, or counted as lost.
  void drain();

  // Returns the next step, or nullopt if there is none. The step is valid until advance().
  [[nodiscard]] std::optional<Step> next() const;
  void advance();

  // Converts a time of the segment. Returns at least the time of the previous step, so that steps
  // keep the order of events.
  [[nodiscard]] Time time_of(std::uint64_t when_ns) const;
  [[nodiscard]] Time last() const { return last_; }

  // Returns true if the events have details, so slots need not be read.
  [[nodiscard]] bool has_details() const { return has_details_; }
  [[nodiscard]] std::uint64_t seen() const { return seen_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  // Computes lost(). `all` is the number of events that the process has written.
  void count_lost(std::uint64_t all);

 private:
  // The result of one read: events, then an optional bridge and the live objects of the bridge's
  // image.
  struct Batch {
    segment::Events events;
    std::optional<Bridge> bridge{};
    std::size_t position = 0;      // index of the next step
    std::size_t next_details = 0;  // index of the details of the next event
    [[nodiscard]] std::size_t size() const;
  };

  void take_image(Batch& batch, bool is_gap);
  [[nodiscard]] Step event_step(const Batch& batch) const;
  [[nodiscard]] Step bridge_step(const Bridge& bridge, std::size_t index) const;

  const segment::ByteSource& source_;
  std::uint64_t began_ns_;
  Time begin_ = 0;
  // Time of the last step of an event or a live object.
  Time last_ = std::numeric_limits<Time>::min();
  bool was_read_ = false;
  bool has_details_ = false;
  std::uint64_t read_up_to_ = 0;  // number of the newest ring record that was read
  std::deque<Batch> batches_;
  std::size_t waiting_ = 0;   // events in the batches
  std::uint64_t before_ = 0;  // events before the recording
  std::uint64_t seen_ = 0;    // events that were read
  std::uint64_t lost_ = 0;
};

}  // namespace ttmem::recording

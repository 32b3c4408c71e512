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

// What is live in a process, where its events are not known: before the recording, and after some
// were lost.
struct Bridge {
  segment::SegmentImage image;  // its lists are by age, the oldest first
  bool is_gap = false;          // after lost events
  Time time_ns = 0;             // of the image
  std::uint64_t lost_events = 0;
};

// What a process did, one step after the other, with times in the order of its steps. What its ring
// has lost is bridged: a step tells that, and one more each allocation and program that is live
// then.
//
// Not thread-safe; `source` must outlive it.
class ProcessEvents {
 public:
  // One of the pointers is set.
  struct Step {
    Time time_ns = 0;
    const segment::EventRecord* event = nullptr;
    std::span<const segment::EventDetails> details{};  // of the event; empty: the segment has none
    const Bridge* bridge = nullptr;
    const segment::LiveAllocation* allocation = nullptr;
    const segment::LiveProgram* program = nullptr;
  };

  // `began_ns` is when the recording began, on the monotonic clock.
  ProcessEvents(const segment::ByteSource& source, std::uint64_t began_ns)
      : source_(source), began_ns_(began_ns) {}
  // When the process began: nothing of it is before. Before the recording: what it did until it is
  // first read is not told, only what it then holds.
  void set_begin(Time begin) { begin_ = begin; }

  // Reads what is new. Once it holds as much as it may, the rest stays in the ring.
  void drain();

  // None: all was taken. Valid until advance().
  [[nodiscard]] std::optional<Step> next() const;
  void advance();

  // At least that of the step before, so that the order of a process is that of its events.
  [[nodiscard]] Time time_of(std::uint64_t when_ns) const;
  [[nodiscard]] Time last() const { return last_; }

  // True if the events of the segment say all there is to say.
  [[nodiscard]] bool has_details() const { return has_details_; }
  [[nodiscard]] std::uint64_t seen() const { return seen_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  // When its process has written so many, and no more will come.
  void count_lost(std::uint64_t all);

 private:
  // What was read at once: events, then a bridge and what is live in it.
  struct Batch {
    segment::Events events;
    std::optional<Bridge> bridge{};
    std::size_t position = 0;      // of the next step
    std::size_t next_details = 0;  // of the next event
    [[nodiscard]] std::size_t size() const;
  };

  void take_image(Batch& batch, bool is_gap);
  [[nodiscard]] Step event_step(const Batch& batch) const;
  [[nodiscard]] Step bridge_step(const Bridge& bridge, std::size_t index) const;

  const segment::ByteSource& source_;
  std::uint64_t began_ns_;
  Time begin_ = 0;
  Time last_ = std::numeric_limits<Time>::min();  // of the steps that were taken
  bool was_read_ = false;
  bool has_details_ = false;
  std::uint64_t read_up_to_ = 0;  // number of a record
  std::deque<Batch> batches_;
  std::size_t waiting_ = 0;   // events in the batches
  std::uint64_t before_ = 0;  // events before the recording
  std::uint64_t seen_ = 0;    // events that were read
  std::uint64_t lost_ = 0;
};

}  // namespace ttmem::recording
